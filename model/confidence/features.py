"""Features of a hit beside the other hits of its query.

distances and clusters of a ranking -> standings; words of queries and hits -> overlaps; both -> (n, w, features)
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from schemas.arrays import Bools, Float32s, Float64s, Int32s, Int64s

NEIGHBOURS: Final = 20
"""Nearest hits that a hit is compared with."""

RECIPROCALS: Final = tuple(math.lcm(*range(1, NEIGHBOURS + 1)) // rank for rank in range(1, NEIGHBOURS + 1))
"""Reciprocals of the ranks of these hits, as whole numbers, whose sums do not depend on their order."""

SIGNS: Final = {
    "distance": -1,
    "margin": 1,
    "isolation": 1,
    "mates": 1,
    "support": 1,
    "shared": 1,
    "shared_of_hit": 1,
    "differing": -1,
    "differing_of_hit": -1,
    "length": 0,
    "alone": 0,
    "rank": 0,
}
"""The features in order, and the direction in which each may move a probability; 0: both.

distance: squared Euclidean distance of the vectors. margin: additional distance to the nearest hit of another cluster;
negative behind it. isolation: additional distance to the last of the `NEIGHBOURS`. mates: share of the other neighbours
that are of the hit's cluster. support: share of the neighbours that are of its cluster, itself included, each weighted
by its reciprocal rank. shared, shared_of_hit: share of the words of the query and of the hit that the other has, by
inverse document frequency. differing, differing_of_hit: number of words that the other lacks. length: log of the
query's number of words. alone: 1 for a hit in no cluster. rank: log of the rank, from 0.
"""

NAMES: Final = tuple(SIGNS)


Cluster = int | str | None
"""Cluster of a hit: its ``cluster_id``, or the key of its answer; None for none."""


def features(
    distances: Float64s, clusters: Int64s, places: Int64s, words: tuple[Int32s, Int32s], idf: Float32s
) -> Float64s:
    """Return the features of hits, (n, w, len(NAMES)).

    Args:
        distances: (n, k) of the hits of n queries, ascending; inf where there is none.
        clusters: (n, k) numbers of their clusters; each hit in no cluster has a negative one of its own.
        places: (n, w) columns of the hits to look at.
        words: (n, W) and (n, w, W) rows of ``idf`` of the words of the queries and of these hits.
        idf: (V + 1,) inverse document frequencies of words; the last row is of no word.
    """
    table = np.empty((*places.shape, len(NAMES)))
    columns = standings(distances, clusters, places) | overlaps(*words, idf)
    for number, name in enumerate(NAMES):
        table[:, :, number] = columns[name]
    return table


def standings(distances: Float64s, clusters: Int64s, places: Int64s) -> dict[str, Float64s]:
    """Return the features of hits that follow from the ranking, each (n, w); arguments as of `features`."""
    near, of_near = distances[:, :NEIGHBOURS], clusters[:, :NEIGHBOURS]
    is_hit = np.isfinite(near)
    last = np.where(is_hit, near, 0).max(axis=1, initial=0)[:, None]
    queries = np.arange(len(places))[:, None]  # a third of the time of take_along_axis
    distance = distances[queries, places]
    distance = np.where(np.isfinite(distance), distance, last)
    cluster = clusters[queries, places]
    mate = (cluster[:, :, None] == of_near[:, None, :]) & is_hit[:, None, :]
    nearest_other = np.where(mate, np.inf, near[:, None, :]).min(axis=2, initial=np.inf)
    other_hits = np.maximum(is_hit.sum(axis=1)[:, None] - (places < NEIGHBOURS), 1)
    weights = is_hit * np.array(RECIPROCALS[: near.shape[1]], float)
    return {
        "distance": distance,
        "margin": np.where(np.isfinite(nearest_other), nearest_other, last) - distance,
        "isolation": last - distance,
        "mates": (mate.sum(axis=2) - (places < NEIGHBOURS)) / other_hits,
        "support": (mate * weights[:, None, :]).sum(axis=2) / np.maximum(weights.sum(axis=1), 1)[:, None],
        "alone": (cluster < 0).astype(float),
        "rank": np.log1p(places),
    }


def overlaps(queries: Int32s, hits: Int32s, idf: Float32s) -> dict[str, Float64s]:
    """Return the features of hits that follow from the words, each (n, w); arguments as ``words`` of `features`."""
    none = len(idf) - 1
    word, word_of_hit = (queries != none)[:, None, :], hits != none
    ours, theirs = (max(_longest(mask), 1) for mask in (word, word_of_hit))
    equal = queries[:, None, :ours, None] == hits[:, :, None, :theirs]
    of_query, of_hit = np.zeros((*hits.shape[:2], word.shape[2]), bool), np.zeros(hits.shape, bool)
    of_query[:, :, :ours], of_hit[:, :, :theirs] = equal.any(axis=3), equal.any(axis=2)
    of_query &= word
    of_hit &= word_of_hit
    weight, weight_of_hit = idf[queries].astype(float)[:, None, :], idf[hits].astype(float)
    length = np.maximum(word.sum(axis=2), 1)
    return {
        "shared": (weight * of_query).sum(axis=2) / np.maximum(weight.sum(axis=2), 1e-6),  # 0 without a word
        "shared_of_hit": (weight_of_hit * of_hit).sum(axis=2) / np.maximum(weight_of_hit.sum(axis=2), 1e-6),
        "differing": (word & ~of_query).sum(axis=2).astype(float),
        "differing_of_hit": (word_of_hit & ~of_hit).sum(axis=2).astype(float),
        "length": np.log(length) + np.zeros(hits.shape[:2]),
    }


def _longest(words: Bools) -> int:
    """Return the number of columns (…, W) up to the last that has a word; words come first."""
    return int(np.count_nonzero(words.any(axis=(0, 1))))
