"""Evidence that may be looked at after every observation: e-processes and their bounds.

counts so far -> excess_evidence -> alarm; counts so far -> share_evidence -> share_bound, clean_reviews_missing;
values in [0, 1] so far -> mean_evidence -> mean_bound

An e-process is at most 1 in expectation at any stopping time if its hypothesis holds, so that it reaches 1 / error with
a chance of at most ``error`` ever (Ville 1939; Ramdas et al. 2023, https://doi.org/10.1214/23-STS894).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import betaincc, betaln

MULTIPLES: Final = (1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Shares of wrong ones that `excess_evidence` bets on, in multiples of the promised share."""

ALARM: Final = 100.0
"""Evidence that raises the alarm: a kept promise raises it with a chance of at most 1 %, however long it is watched."""

PRIOR: Final = (500.0, 1.0)
"""Beta prior of `share_evidence`: it expects one wrong one of 500 and suits shares around 99 %."""


BETS: Final = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Shares of its wealth that `mean_evidence` bets on a larger mean: small ones see small differences late."""


def excess_evidence(wrong: npt.ArrayLike, sample: npt.ArrayLike, share: float) -> npt.NDArray[np.float64]:
    """Return the evidence that more than ``share`` are wrong: the mean likelihood ratio over `MULTIPLES`.

    Args:
        wrong: (…) numbers of wrong ones so far.
        sample: (…) numbers of observations so far.
        share: promised maximum, in (0, 1).
    """
    bets = share * np.array(MULTIPLES)
    bets = bets[bets < 1] if (bets < 1).any() else np.array([(1 + share) / 2])
    failures = np.asarray(wrong, float)[..., None]
    successes = np.asarray(sample, float)[..., None] - failures
    logs = failures * np.log(bets / share) + successes * (np.log1p(-bets) - np.log1p(-share))
    evidence: npt.NDArray[np.float64] = np.exp(np.minimum(logs, 700)).mean(-1)  # exp(710) is infinite
    return evidence


def share_evidence(right: int, wrong: int, share: float) -> float:
    """Return the evidence that more than ``share`` are right, by a Beta `PRIOR` cut to (share, 1].

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        share: to show, in (0, 1).
    """
    return float(np.exp(min(_log_share_evidence(right, wrong, share), 700.0)))  # exp(710) is infinite


def _log_share_evidence(right: int, wrong: int, share: float) -> float:
    """Return the logarithm of `share_evidence`, which is finite where the evidence itself rounds to 0."""
    first, second = PRIOR
    with np.errstate(divide="ignore"):
        inside = np.log(betaincc(right + first, wrong + second, share)) + betaln(right + first, wrong + second)
        before = np.log(betaincc(first, second, share)) + betaln(first, second)
    return float(inside - before - right * np.log(share) - wrong * np.log1p(-share))


def share_bound(right: int, wrong: int, error: float) -> float:
    """Return the largest share that is supported by the evidence; it holds at any time but for a chance of ``error``.

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        error: chance that the true share is ever below the bound.
    """
    if right == 0:
        return 0.0
    lowest, highest = 1e-12, min(right / (right + wrong), 1 - 1e-12)
    if share_evidence(right, wrong, lowest) < 1 / error:
        return 0.0
    least = -np.log(error)  # compared as logarithms, as evidence that rounds to 0 has none
    return float(brentq(lambda share: _log_share_evidence(right, wrong, share) - least, lowest, highest, xtol=1e-15))


def reviews_needed(share: float, wrong: int, error: float) -> int:
    """Return the number of reviews, ``wrong`` of them negative, from which on `share_evidence` reaches 1 / error.

    Args:
        share: to show, in (0, 1).
        wrong: number of reviews that found a fault.
        error: chance of a false claim.
    """
    right = 1
    while share_evidence(right, wrong, share) < 1 / error:
        right *= 2
    lower = right // 2
    while right - lower > 1:
        middle = (lower + right) // 2
        if share_evidence(middle, wrong, share) < 1 / error:
            lower = middle
        else:
            right = middle
    return right + wrong


def clean_reviews_missing(right: int, wrong: int, share: float, error: float) -> int:
    """Return the number of further reviews, none of them negative, until ``share`` is supported; 0 if it is.

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        share: to show, in (0, 1).
        error: chance of a false claim.
    """
    return max(reviews_needed(share, wrong, error) - right - wrong, 0)


def mean_evidence(values: npt.ArrayLike, mean: float) -> float:
    """Return the evidence that the mean of what is sampled exceeds ``mean``: the mean wealth of `BETS` on it.

    Source: Waudby-Smith and Ramdas (2024), https://doi.org/10.1093/jrsssb/qkad009, section 4, with constant bets.

    Args:
        values: (n,) observations so far, in [0, 1].
        mean: to show, in (0, 1].
    """
    gains = np.asarray(values, float)[:, None] / mean - 1
    logs = np.log1p(np.array(BETS) * gains).sum(0)
    return float(np.exp(np.minimum(logs, 700)).mean())


def mean_bound(values: npt.ArrayLike, error: float) -> float:
    """Return the largest mean that values in [0, 1] support; it holds at any time but for a chance of ``error``.

    Args:
        values: (n,) observations so far.
        error: chance that the true mean is ever below the bound.
    """
    lowest, highest = 1e-9, 1.0
    if len(np.asarray(values)) == 0 or mean_evidence(values, lowest) < 1 / error:
        return 0.0
    if mean_evidence(values, highest) >= 1 / error:  # impossible but for rounding: a value never exceeds 1
        return 1.0
    return float(brentq(lambda mean: np.log(mean_evidence(values, mean) * error), lowest, highest, xtol=1e-12))
