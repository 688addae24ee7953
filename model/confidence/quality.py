"""Quality of probabilities: separation, error and calibration.

probabilities, right or wrong -> quality -> Quality
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from schemas.arrays import Bools, Float64s

BINS: Final = 15
"""Bins of equal width of the calibration error, as in Guo et al. 2017, section 2."""


class Quality(NamedTuple):
    """Quality of probabilities.

    Attributes:
        auc: probability that a right one has a higher probability than a wrong one; ties count one half.
        brier: mean squared difference of probability and outcome.
        calibration_error: expected difference of mean probability and share of right ones in `BINS` bins.
    """

    auc: float
    brier: float
    calibration_error: float


def quality(probabilities: Float64s, right: Bools, weights: Float64s | None = None) -> Quality:
    """Return the quality of probabilities by outcomes.

    Args:
        probabilities: (n,).
        right: (n,) outcomes, of which at least one is right and one is wrong.
        weights: (n,) of the outcomes, above 0; None: 1 each.
    """
    weight = np.ones(len(right)) if weights is None else weights
    order = np.flatnonzero(~right)[np.argsort(probabilities[~right], kind="stable")]
    passed = np.concatenate([[0.0], np.cumsum(weight[order])])
    wrong = probabilities[order]
    below, upto = (passed[np.searchsorted(wrong, probabilities[right], side=side)] for side in ("left", "right"))
    auc = float(np.average(below + upto, weights=weight[right]) / 2 / passed[-1])
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=(probabilities - right) * weight, minlength=BINS)
    brier = float(np.average((probabilities - right) ** 2, weights=weight))
    return Quality(auc, brier, float(np.abs(gaps).sum() / weight.sum()))
