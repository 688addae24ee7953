"""Intervals of means over queries, whose values depend on each other within a cluster.

values of queries, clusters of queries -> interval -> Interval
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from schemas.arrays import Float64s, Int64s

DRAWS: Final = 4_000
"""Draws of the bootstrap: the percentiles of few clusters are far out, .1 % at five of them."""

_FEWER_DRAWS: Final = 1_000
_MANY: Final = 5_000
"""Clusters of which `_FEWER_DRAWS` are enough: their percentiles are those of 2.5 and 97.5 %."""

_DRAWN: Final = 100_000
"""Clusters that are drawn at a time, in less than 5 MB."""


class Interval(NamedTuple):
    """Mean of values of queries, such as differences of reciprocal ranks, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, metrics: Mapping[str, float], name: str) -> Interval | None:
        """Return the difference that metrics have under a name, if they have it."""
        return cls(*(metrics[key] for key in cls.names(name))) if name in metrics else None

    @staticmethod
    def names(name: str) -> tuple[str, str, str]:
        """Return the names of its metrics."""
        return name, f"{name}_low", f"{name}_high"


def interval(values: Float64s, clusters: Int64s) -> Interval:
    """Return the mean and its 95 % interval, by a bootstrap that draws whole clusters.

    The questions of a cluster find each other, so their ranks depend on each other. Percentiles of the bootstrap give
    an interval that is too short for few clusters: its spread is that of a sample, without the factor n / (n - 1), and
    normal in place of Student's t. So the percentiles are those that a normal distribution has at the limits by both
    (Hesterberg 2015, https://doi.org/10.1080/00031305.2015.1089789, expanded percentile interval).

    Args:
        values: (n,) of at least one query: metrics, or their differences for a paired bootstrap.
        clusters: (n,) number of the query's cluster, of two or more clusters.
    """
    [only] = intervals(values[None], clusters)
    return only


def intervals(values: Float64s, clusters: Int64s) -> list[Interval]:
    """Return the `interval` of each row of (m, n) values of the same queries, from the same draws."""
    count = len(np.unique(clusters))
    tail = expanded_tail(count)
    means = bootstrap_means(values, clusters, draws=_FEWER_DRAWS if count >= _MANY else DRAWS)
    lows, highs = np.quantile(means, [tail, 1 - tail], axis=1)
    return [Interval(*map(float, row)) for row in zip(values.mean(axis=1), lows, highs, strict=True)]


def expanded_tail(clusters: int) -> float:
    """Return the share of the bootstrap on each side of a 95 % interval of at least two clusters."""
    return float(ndtr(-stdtrit(clusters - 1, 0.975) * np.sqrt(clusters / (clusters - 1))))


def bootstrap_means(values: Float64s, clusters: Int64s, *, draws: int = DRAWS) -> Float64s:
    """Return (m, draws) means of the values of clusters that are drawn with repetition.

    Args:
        values: (m, n) of queries.
        clusters: (n,) number of the query's cluster.
        draws: how often as many clusters as there are are drawn.
    """
    _, cluster = np.unique(clusters, return_inverse=True)
    counts = np.bincount(cluster)
    sums = [np.bincount(cluster, weights=row) for row in values]
    draw = np.random.default_rng(0)
    rows = max(1, _DRAWN // len(counts))
    means = np.empty((len(values), draws))
    for start in range(0, draws, rows):
        part = slice(start, start + rows)
        drawn = draw.integers(len(counts), size=(min(rows, draws - start), len(counts)))
        drawn_counts = counts[drawn].sum(1)
        for row, of_row in enumerate(sums):
            means[row, part] = of_row[drawn].sum(1) / drawn_counts
    return means
