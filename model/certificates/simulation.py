"""Certificates of simulated traffic whose true share of wrong answers is known.

curve of wrong shares -> simulate -> share of draws whose true wrong share exceeds alpha, with and without the tests

Requests are ranked by their score from 0, the best, to 1; a curve has the chance of a wrong answer at each rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from model.certificates.procedure import ORDER_SHARE, certify, further_try
from model.certificates.settings import Promise
from schemas.arrays import Bools, Float64s, Int64s

Curve = Callable[[Float64s, float], Float64s]
"""Ranks in [0, 1] and alpha to the chance of a wrong answer at each."""

_GRID: Final = 20_000
"""Ranks at which a curve is summed: shares of wrong answers are within 1e-9 of those by two million."""

_CLUSTER: Final = 8
"""Wordings of one question that are right or wrong together, where a certificate takes requests as independent."""

_TRIES: Final = 5
"""Certifications of a growing sample, the first of half of its requests, the last of all."""

CURVES: Final[Mapping[str, Curve]] = {
    "at the boundary": lambda rank, alpha: np.full_like(rank, alpha * 1.000001),
    "rising slowly": lambda rank, alpha: np.minimum(alpha * (0.2 + 6 * rank**2), 1),
    "half without an answer": lambda rank, alpha: np.where(rank < 0.3, 0.3 * alpha, 0.9),
    "best answers worst": lambda rank, alpha: np.where(rank < 0.1, 1.5 * alpha, np.minimum(6 * alpha * rank, 1)),
}


class Simulated(NamedTuple):
    """Draws of one curve by one method.

    Attributes:
        traffic: name of the curve.
        method: of choosing the threshold.
        draws: number of simulated samples.
        certified: share of the draws with a threshold.
        answered: mean share of the traffic that is answered.
        broken: share of the draws whose true wrong share exceeds alpha.
        allowed: maximum of ``broken``: delta and twice its standard error.
        kept: ``broken`` is at most that.
    """

    traffic: str
    method: str
    draws: int
    certified: float
    answered: float
    broken: float
    allowed: float
    kept: bool


def simulate(promise: Promise, *, requests: int, draws: int, seed: int) -> Iterator[Simulated]:
    """Yield certificates and naive thresholds of each curve, certificates of whole clusters, and of several tries.

    Args:
        promise: to test.
        requests: number of judged requests of a draw.
        draws: number of draws of a curve.
        seed: of the draws.
    """
    for name, curve in CURVES.items():
        rng = np.random.default_rng(seed)
        thresholds = np.array([_thresholds(rng, curve, promise, requests) for _ in range(draws)])
        yield _summary(name, "certificate", thresholds[:, 0], curve, promise)
        yield _summary(name, "naive threshold", thresholds[:, 1], curve, promise)
    rng, curve = np.random.default_rng(seed), CURVES["rising slowly"]
    clustered = [_thresholds(rng, curve, promise, requests, repeats=_CLUSTER)[0] for _ in range(draws)]
    yield _summary(f"rising slowly, {_CLUSTER} wordings at once", "certificate", np.array(clustered), curve, promise)
    curve, traffic = CURVES["at the boundary"], f"at the boundary, {_TRIES} tries as the sample grows"
    for method, next_try in (("certificate", lambda before: before), ("certificate, delta halved", further_try)):
        rng = np.random.default_rng(seed)
        first_shown = [_first_shown(rng, curve, promise, requests, next_try) for _ in range(draws)]
        yield _summary(traffic, method, np.array(first_shown), curve, promise)


def true_risk(curve: Curve, rank: Float64s, alpha: float) -> Float64s:
    """Return the share of wrong answers among all requests up to each rank; 0 at rank 0."""
    grid = (np.arange(_GRID) + 0.5) / _GRID
    reached = np.concatenate([[0.0], curve(grid, alpha).cumsum() / _GRID])
    wrong = np.interp(rank, np.linspace(0, 1, _GRID + 1), reached)
    risk: Float64s = np.divide(wrong, rank, out=np.zeros_like(wrong), where=rank > 0)
    return risk


def naive_rank(rank: Float64s, wrong: Bools, alpha: float) -> float:
    """Return the lowest threshold at which the sample's own share of wrong answers is at most alpha, as a rank.

    Args:
        rank: (n,) ascending.
        wrong: (n,) the answer is wrong.
        alpha: promised share.
    """
    below = np.flatnonzero(wrong.cumsum() <= alpha * np.arange(1, len(rank) + 1))
    return float(rank[below[-1]]) if len(below) else 0.0


def _thresholds(
    rng: np.random.Generator, curve: Curve, promise: Promise, requests: int, repeats: int = 1
) -> tuple[float, float]:
    """Return the rank of the certificate's threshold and of the naive one; 0 where nothing is answered."""
    rank = np.sort(rng.random(requests // repeats))
    wrong = rng.random(len(rank)) < curve(rank, promise.alpha)
    rank, wrong = np.repeat(rank, repeats), np.repeat(wrong, repeats)
    places = np.argsort(rng.permutation(len(rank)))
    return _certified_rank(rank, wrong, places, promise), naive_rank(rank, wrong, promise.alpha)


def _first_shown(
    rng: np.random.Generator, curve: Curve, promise: Promise, requests: int, next_try: Callable[[Promise], Promise]
) -> float:
    """Return the rank of the first certificate of a sample that grows until it has one; 0 if it never has one."""
    rank, hashes = rng.random((2, requests))
    wrong = rng.random(requests) < curve(rank, promise.alpha)
    for size in np.linspace(requests / 2, requests, _TRIES).astype(int):
        places = np.argsort(np.argsort(hashes[:size]))
        if certified := _certified_rank(rank[:size], wrong[:size], places, promise):
            return certified
        promise = next_try(promise)
    return 0.0


def _certified_rank(rank: Float64s, wrong: Bools, places: Int64s, promise: Promise) -> float:
    """Return the rank of the certificate's threshold, 0 without one; the first places order the thresholds."""
    chosen = certify(1 - rank, wrong, places < math.floor(ORDER_SHARE * len(rank)), promise).chosen
    return 1 - chosen.threshold if chosen else 0.0


def _summary(traffic: str, method: str, rank: Float64s, curve: Curve, promise: Promise) -> Simulated:
    broken = float((true_risk(curve, rank, promise.alpha) > promise.alpha).mean())
    allowed = promise.delta + 2 * math.sqrt(promise.delta * (1 - promise.delta) / len(rank))
    certified, answered = float((rank > 0).mean()), float(rank.mean())
    return Simulated(traffic, method, len(rank), certified, answered, broken, allowed, broken <= allowed)
