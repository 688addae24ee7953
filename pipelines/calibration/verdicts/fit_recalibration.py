"""Fit of the correction of linkage probabilities.

stated probabilities, verdicts -> fit_recalibration -> intercept and slope of the log odds
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import minimize

from pipelines.clusters.recalibration import logit

_SHIFT: Final = 2.0
"""Standard deviation of the shift of the mean log odds before any verdict: a log may have ten times the odds stated."""

_SLOPE: Final = 0.5
"""Standard deviation of the slope, whose mean is 1: without verdicts a stated probability stays as it is."""

_LEAST_SLOPE: Final = 0.05


def fit_recalibration(probability: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return intercept and slope of a line of log odds, the maximum of likelihood times prior.

    A line (Platt 1999) has two parameters, which a hundred verdicts determine. Isotonic regression needs about a
    thousand (Niculescu-Mizil and Caruana 2005, https://doi.org/10.1145/1102351.1102430).

    Args:
        probability: (N,) stated probabilities.
        right: (N,) whether the pairs are paraphrases.
    """
    stated = logit(probability)
    center = float(stated.mean()) if len(stated) else 0.0
    signs = np.where(right, 1.0, -1.0)

    def loss(line: np.ndarray) -> float:
        log_odds = center + line[0] + line[1] * (stated - center)
        misfit = np.logaddexp(0, -signs * log_odds).sum()
        return float(misfit + (line[0] / _SHIFT) ** 2 / 2 + ((line[1] - 1) / _SLOPE) ** 2 / 2)

    best = minimize(loss, np.array([0.0, 1.0]), bounds=[(None, None), (_LEAST_SLOPE, None)], method="L-BFGS-B")
    shift, slope = map(float, best.x)
    return center + shift - slope * center, slope
