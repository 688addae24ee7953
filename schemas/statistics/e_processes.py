"""Evidence that may be looked at after every observation: e-processes and their bounds.

counts so far -> excess_evidence -> alarm; counts so far -> share_evidence -> share_bound,
reviews_needed, clean_reviews_missing; values in [0, 1] so far -> mean_evidence -> mean_bound

With the size of a population the observations are drawn from it in a random order, each at most once; without one they
are independent. Of a population that was seen as a whole the bounds are the true share and mean.

An e-process is at most 1 in expectation at any stopping time if its hypothesis holds, so that it reaches 1 / error with
a chance of at most ``error`` ever (Ville 1939; Ramdas et al. 2023, https://doi.org/10.1214/23-STS894).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import betaincc, betaln, gammaln

from schemas.arrays import Float64s

MULTIPLES: Final = (1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Shares of wrong ones that `excess_evidence` bets on, in multiples of the promised share."""

ALARM: Final = 100.0
"""Evidence that raises the alarm: a kept promise raises it with a chance of at most 1 %, however long it is watched."""

PRIOR: Final = (500.0, 1.0)
"""Beta prior of `share_evidence`: it expects one wrong one of 500 and suits shares around 99 %."""


_LARGEST_LOG: Final = 700.0
"""Maximum logarithm of evidence: exp(710) is infinite."""

LARGE: Final = 50_000
"""Population from which on draws count as independent: of as many, a review sees a small part, which matters little."""

BETS: Final = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Shares of its wealth that `mean_evidence` bets on a larger mean: small ones see small differences late."""


def excess_evidence(wrong: npt.ArrayLike, sample: npt.ArrayLike, share: float) -> Float64s:
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
    evidence: Float64s = np.exp(np.minimum(logs, _LARGEST_LOG)).mean(-1)
    return evidence


def share_evidence(right: int, wrong: int, share: float, population: int | None = None) -> float:
    """Return the evidence that more than ``share`` are right, or at least ``share`` of a population.

    The evidence is the mean likelihood ratio by a Beta `PRIOR` cut to (share, 1], of a population by the beta-binomial
    distribution that belongs to it: the ratio of prior and posterior of Waudby-Smith and Ramdas (2020,
    https://arxiv.org/abs/2006.04347, section 2), cut so that it is one-sided. Fewer right ones than the largest number
    that is denied make it smaller in expectation, so it holds against them too.

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        share: to show, in (0, 1).
        population: number of all, if they are drawn without repetition.
    """
    size = _counted(population)
    if size is None:
        return float(np.exp(min(_log_share_evidence(right, wrong, share), _LARGEST_LOG)))
    denied = _least_right(share, size) - 1
    return float(np.exp(min(_log_evidence_by_number(right, wrong, size, denied)[0], _LARGEST_LOG)))


def _counted(population: int | None) -> int | None:
    """Return the size of a population whose end a review can come near to; None counts as endless."""
    return population if population is not None and population <= LARGE else None


def _least_right(share: float, population: int) -> int:
    """Return the least number of right ones of which the share is reached."""
    return math.ceil(share * population - 1e-9)  # .07 * 100 is 7.000000000000001


def _log_evidence_by_number(right: int, wrong: int, population: int, least: int) -> Float64s:
    """Return the logarithms of the evidence that more than ``least``, ``least + 1``, … ``population - 1`` are right.

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        population: number of all.
        least: smallest number that is denied, from 0.
    """
    numbers = np.arange(least, population + 1)
    others = population - numbers
    first, second = PRIOR
    prior = gammaln(numbers + first) - gammaln(numbers + 1) + gammaln(others + second) - gammaln(others + 1)
    too_few, too_many = numbers < right, others < wrong
    left = np.where(too_few, 0, numbers - right), np.where(too_many, 0, others - wrong)
    likelihood = gammaln(numbers + 1) - gammaln(left[0] + 1) + gammaln(others + 1) - gammaln(left[1] + 1)
    likelihood[too_few | too_many] = -np.inf
    evidence: Float64s = np.full(len(numbers) - 1, -np.inf)
    evidence[too_few[:-1]] = np.inf
    possible = ~(too_few | too_many)[:-1]
    ratio = _log_sums_from(prior + likelihood)[1:] - _log_sums_from(prior)[1:]
    evidence[possible] = ratio[possible] - likelihood[:-1][possible]
    return evidence


def _log_sums_from(logs: Float64s) -> Float64s:
    """Return the logarithm of the sum of each value and all after it, of values given by logarithms."""
    sums: Float64s = np.logaddexp.accumulate(logs[::-1])[::-1]
    return sums


def _log_share_evidence(right: int, wrong: int, share: float) -> float:
    """Return the logarithm of `share_evidence`, which is finite where the evidence itself rounds to 0."""
    first, second = PRIOR
    with np.errstate(divide="ignore"):
        inside = np.log(betaincc(right + first, wrong + second, share)) + betaln(right + first, wrong + second)
        before = np.log(betaincc(first, second, share)) + betaln(first, second)
    return float(inside - before - right * np.log(share) - wrong * np.log1p(-share))


def share_bound(right: int, wrong: int, error: float, population: int | None = None) -> float:
    """Return the largest share that is supported by the evidence; it holds at any time but for a chance of ``error``.

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        error: chance that the true share is ever below the bound.
        population: number of all, if they are drawn without repetition.
    """
    if right == 0:
        return 0.0
    least = -np.log(error)  # compared as logarithms, as evidence that rounds to 0 has none
    if (size := _counted(population)) is not None:
        undenied = np.flatnonzero(_log_evidence_by_number(right, wrong, size, right) < least)
        return (right + int(undenied[0])) / size if len(undenied) else 1.0
    lowest, highest = 1e-12, min(right / (right + wrong), 1 - 1e-12)
    if share_evidence(right, wrong, lowest) < 1 / error:
        return 0.0
    from scipy.optimize import brentq  # imported where it is used: it is a tenth of the start of `qpr serve`

    return float(brentq(lambda share: _log_share_evidence(right, wrong, share) - least, lowest, highest, xtol=1e-15))


def reviews_needed(share: float, wrong: int, error: float, population: int | None = None) -> int | None:
    """Return the number of reviews, ``wrong`` of them negative, from which on `share_evidence` reaches 1 / error.

    None: the wrong ones that were found make the share of the population smaller.

    Args:
        share: to show, in (0, 1).
        wrong: number of reviews that found a fault.
        error: chance of a false claim.
        population: number of all, if they are drawn without repetition.
    """
    size = _counted(population)
    if size is None:
        right = 1
        while share_evidence(right, wrong, share) < 1 / error:
            right *= 2
    elif size - wrong < _least_right(share, size):
        return None
    else:
        right = _least_right(share, size)  # as many are certain
    lower = 0
    while right - lower > 1:
        middle = (lower + right) // 2
        if share_evidence(middle, wrong, share, population) < 1 / error:
            lower = middle
        else:
            right = middle
    return right + wrong


def clean_reviews_missing(
    right: int, wrong: int, share: float, error: float, population: int | None = None
) -> int | None:
    """Return the number of further reviews, none of them negative, until ``share`` is supported; 0 if it is.

    None: the wrong ones that were found make the share of the population smaller.

    Args:
        right: number of right ones so far.
        wrong: number of wrong ones so far.
        share: to show, in (0, 1).
        error: chance of a false claim.
        population: number of all, if they are drawn without repetition.
    """
    needed = reviews_needed(share, wrong, error, population)
    return None if needed is None else max(needed - right - wrong, 0)


def mean_evidence(values: npt.ArrayLike, mean: float, population: int | None = None) -> float:
    """Return the evidence that the mean of what is sampled exceeds ``mean``: the mean wealth of `BETS` on it.

    Of a population each value is compared with the mean that the values before it leave to the others, if the mean of
    all is ``mean``. Source: Waudby-Smith and Ramdas (2024), https://doi.org/10.1093/jrsssb/qkad009, sections 4 and 5,
    with constant bets.

    Args:
        values: (n,) observations so far, in [0, 1].
        mean: to show, in (0, 1].
        population: number of all, if they are drawn without repetition.
    """
    seen = np.asarray(values, float)
    expected = np.full(len(seen), mean)
    if population is not None:
        before = np.concatenate([[0.0], seen.cumsum()])
        if before[-1] > mean * population:
            return float("inf")
        expected = (mean * population - before[:-1]) / (population - np.arange(len(seen)))
    gains = np.divide(seen, expected, out=np.zeros(len(seen)), where=expected > 0)[:, None] - 1
    logs = np.log1p(np.array(BETS) * gains).sum(0)
    return float(np.exp(np.minimum(logs, _LARGEST_LOG)).mean())


def mean_bound(values: npt.ArrayLike, error: float, population: int | None = None) -> float:
    """Return the largest mean that values in [0, 1] support; it holds at any time but for a chance of ``error``.

    Args:
        values: (n,) observations so far.
        error: chance that the true mean is ever below the bound.
        population: number of all, if they are drawn without repetition.
    """
    lowest, highest = 1e-9, 1.0
    if len(np.asarray(values)) == 0 or mean_evidence(values, lowest, population) < 1 / error:
        return 0.0
    from scipy.optimize import brentq

    return float(
        brentq(lambda mean: _log(mean_evidence(values, mean, population) * error), lowest, highest, xtol=1e-12)
    )


def _log(value: float) -> float:
    """Return a finite logarithm, so that a root can be searched for."""
    return min(math.log(value), _LARGEST_LOG) if value > 0 else -_LARGEST_LOG
