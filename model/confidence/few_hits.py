"""Features of a few hits, one hit at a time.

texts, hits, ranking by distance, clusters -> few_features -> (n, w, features)

The numbers are those of `model.confidence.features` to the last bit, but the calls of numpy for 20 hits of one query
take twice as long as this. Sums of weights do not depend on their order: 24 numbers of single precision are added
without rounding in double precision.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from model.confidence.features import NAMES, NEIGHBOURS, RECIPROCALS, Cluster
from model.index.ranking import Ranking
from model.reranking.term_statistics import MOST_WORDS, WordCounts
from schemas.arrays import Bools, Float64s, Int64s
from schemas.text import key, words_of
from schemas.words import VERSION, words_v1

_RANKS: Final[list[float]] = np.log1p(np.arange(1_024)).tolist()
"""Logarithm of 1 + place, as numpy computes it for `features`: `math.log1p` has other last bits for 21 of them."""

_LENGTHS: Final[list[float]] = np.log(np.maximum(np.arange(MOST_WORDS + 1), 1)).tolist()
"""Logarithm of a number of words, 0 for none."""


def few_features(
    counts: WordCounts,
    texts: Sequence[str],
    hits: Sequence[str],
    nearest: Ranking,
    clusters: Sequence[Cluster],
    columns: Int64s,
    is_hit: Bools,
) -> Float64s:
    """Return the features of hits, (n, w, len(NAMES)), zeros where there is none.

    Args:
        counts: of the words of the index.
        texts: (n,) queries, not normalized.
        hits: texts of the hits to look at, one query after the other.
        nearest: the questions nearest to the queries, (n, k), of which `NEIGHBOURS` are compared.
        clusters: of these questions where there is one, one query after the other; None for a question in none.
        columns: (n, w) columns of ``nearest`` to look at.
        is_hit: (n, w), where there is a hit.
    """
    cut = _cut(counts)
    queries, words = [cut(text) for text in texts], iter([cut(text) for text in hits])
    of_clusters = iter(clusters)
    numbers: list[float] = []
    arrays = -nearest.scores.astype(float), nearest.found, np.where(is_hit, columns, -1)
    ranked = zip(*(array.tolist() for array in arrays), strict=True)
    for query, (distances, hit_flags, looked_at) in zip(queries, ranked, strict=False):
        of_query = [next(of_clusters) if is_found else None for is_found in hit_flags]
        near, overlap = _Neighbourhood(distances, of_query), _overlap_with(query, counts)
        for place in looked_at:
            if place < 0:
                continue
            cluster = of_query[place]
            numbers += near.standing(place, distances[place], cluster)
            numbers += overlap(next(words))
            numbers += cluster is None, _RANKS[place] if place < len(_RANKS) else float(np.log1p(place))
    table = np.zeros((*is_hit.shape, len(NAMES)))
    table[is_hit] = np.array(numbers, float).reshape(-1, len(NAMES))
    return table


def _cut(counts: WordCounts) -> Callable[[str], list[str]]:
    """Return the function that returns the words of a text that are looked at."""
    if counts.tokenizer == VERSION:
        return lambda text: words_of(text)[:MOST_WORDS]
    return lambda text: words_v1(key(text))[:MOST_WORDS]


class _Neighbourhood:
    """The nearest hits of a query, at most `NEIGHBOURS`.

    Args:
        distances: of its hits, ascending; infinity where there is none.
        clusters: of these hits; None for a hit in no cluster.
    """

    def __init__(self, distances: Sequence[float], clusters: Sequence[Cluster]) -> None:
        near = [distance for distance in distances[:NEIGHBOURS] if distance < math.inf]
        self._distances, self._sizes, self._weights = near, dict[Cluster, int](), dict[Cluster, int]()
        self._weight = max(sum(RECIPROCALS[: len(near)]), 1)
        self._last = self._nearest_other = near[-1] if near else 0.0
        self._first = clusters[0] if near else None
        for place in range(len(near) - 1, -1, -1):
            cluster = clusters[place]
            self._sizes[cluster] = self._sizes.get(cluster, 0) + 1
            self._weights[cluster] = self._weights.get(cluster, 0) + RECIPROCALS[place]
            if place and (cluster is None or cluster != self._first):
                self._nearest_other = near[place]

    def standing(self, place: int, distance: float, cluster: Cluster) -> tuple[float, ...]:
        """Return the features from ``distance`` to ``support`` of the hit at a place of the ranking, from 0."""
        is_near = place < NEIGHBOURS
        mates, weight = 0, RECIPROCALS[place] if is_near else 0
        if cluster is not None:
            mates, weight = self._sizes.get(cluster, 0) - is_near, self._weights.get(cluster, 0)
        is_of_first = place == 0 if cluster is None else cluster == self._first
        nearest_other = self._nearest_other if is_of_first or not self._distances else self._distances[0]
        distance = distance if distance < math.inf else self._last
        share = mates / max(len(self._distances) - is_near, 1)
        return distance, nearest_other - distance, self._last - distance, share, weight / self._weight


def _overlap_with(query: list[str], counts: WordCounts) -> Callable[[list[str]], tuple[float, ...]]:
    """Return the function from the words of a hit to its features from ``shared`` to ``length``."""
    weight, of_others = counts.weight_of
    others = itertools.repeat(of_others)
    weights = dict(zip(query, map(weight, query, others), strict=False))
    weight_of_query, total = weights.__getitem__, max(sum(map(weights.__getitem__, query)), 1e-6)
    words, length, repeats = len(query), _LENGTHS[len(query)], len(weights) < len(query)

    def overlap(hit: list[str]) -> tuple[float, ...]:
        shared = [word for word in hit if word in weights]
        weight_of_hit, times_of_hit = sum(map(weight_of_query, shared)), len(shared)
        weight_shared, times = weight_of_hit, times_of_hit
        distinct = set(shared)
        if repeats or len(distinct) < times_of_hit:
            of_query = [word for word in query if word in distinct]
            weight_shared, times = sum(map(weight_of_query, of_query)), len(of_query)
        return (
            weight_shared / total,
            weight_of_hit / max(sum(map(weight, hit, others)), 1e-6),  # without words: 0, as in `features`
            words - times,
            len(hit) - times_of_hit,
            length,
        )

    return overlap
