"""The nearest rows over several shards, exactly those of one index.

Shards and query vectors -> nearest -> distances and (shard, row), ties in order of question id
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from model.index.shards import Matrix, Shard

Ints = npt.NDArray[np.int64]

SLACK = 4
"""Rows fetched in addition to k, so that one search usually returns all ties at rank k."""


@dataclasses.dataclass(frozen=True)
class Nearest:
    """Neighbours of n queries, best first; where there are fewer than k, the rest is padding.

    Attributes:
        distances: (n, k) float32, squared Euclidean; infinite where padded.
        ids: (n, k) question ids; -1 where padded.
        rows: (n, k) places in the concatenation of the shards; -1 where padded.
    """

    distances: Matrix
    ids: Ints
    rows: Ints

    def best(self, k: int) -> Nearest:
        """Return the k nearest of each query, the smaller id first among equally near ones."""
        order = np.lexsort((self.ids, self.distances), axis=-1)[:, :k]
        return self._take(order)

    def without(self, ids: Ints, k: int) -> Nearest:
        """Return the first k of each query that are not its own id in ``ids`` (n,)."""
        own = (self.ids == ids[:, None]) & (self.rows >= 0)
        return self._take(np.argsort(own, axis=-1, kind="stable")[:, :k])

    def _take(self, order: Ints) -> Nearest:
        return Nearest(
            np.take_along_axis(self.distances, order, axis=-1),
            np.take_along_axis(self.ids, order, axis=-1),
            np.take_along_axis(self.rows, order, axis=-1),
        )


def nearest(shards: Sequence[Shard], question_ids: Sequence[Ints], vectors: Matrix, *, k: int, probes: int) -> Nearest:
    """Return the k nearest questions of every query, ties by question id.

    Args:
        shards: built on the same centroids.
        question_ids: of each shard, ascending: the id of its row i.
        vectors: (n, dimension).
        k: their number, at least 1.
        probes: number of lists to search; a search of all is exact. Without effect on flat shards.
    """
    vectors = np.ascontiguousarray(vectors)
    lists = _nearest_lists(shards[0], vectors, min(probes, shards[0].lists))
    starts = np.cumsum([0, *map(len, question_ids)])
    found = []
    for shard, ids, start in zip(shards, question_ids, starts.tolist(), strict=False):
        distances, rows = nearest_rows(_searcher(shard, vectors, lists), queries=len(vectors), k=k, rows=len(shard))
        padded = rows < 0
        found.append(Nearest(distances, np.where(padded, -1, ids[rows]), np.where(padded, -1, rows + start)))
    joined = (np.hstack([getattr(part, f.name) for part in found]) for f in dataclasses.fields(Nearest))
    return Nearest(*joined).best(k)


def nearest_rows(
    search: Callable[[Ints, int], tuple[Matrix, Ints]], *, queries: int, k: int, rows: int
) -> tuple[Matrix, Ints]:
    """Return the k nearest rows of every query, the smaller row first among equally near ones.

    Of rows tied at the last rank FAISS returns arbitrary ones. So more than k are fetched, and more again for each
    query whose last distance equals the k-th, until all rows tied with the k-th are there.

    Args:
        search: (query numbers, count) -> distances, rows, each (len(numbers), count) in order of distance.
        queries: their number.
        k: number of rows of each; padded with infinity and -1.
        rows: their number.
    """
    all_distances = np.full((queries, k), np.inf, np.float32)
    all_rows = np.full((queries, k), -1, np.int64)
    open_queries = np.arange(queries)
    fetched = min(k + SLACK, rows)
    while len(open_queries):
        distances, found = search(open_queries, fetched)
        distances = np.where(found < 0, np.inf, distances)
        kth = distances[:, min(k, fetched) - 1]
        undecided = (kth == distances[:, -1]) & np.isfinite(kth) & (fetched < rows)
        order = np.lexsort((found, distances), axis=-1)[:, :k]
        done = open_queries[~undecided]
        all_distances[done, : order.shape[1]] = np.take_along_axis(distances, order, axis=-1)[~undecided]
        all_rows[done, : order.shape[1]] = np.take_along_axis(found, order, axis=-1)[~undecided]
        open_queries = open_queries[undecided]
        fetched = min(fetched * 4, rows)
    return all_distances, all_rows


def _nearest_lists(shard: Shard, vectors: Matrix, probes: int) -> tuple[Matrix, Ints] | None:
    """Return distances and numbers of the nearest lists, once for all shards; None for flat shards."""
    return shard.faiss.quantizer.search(vectors, probes) if shard.lists else None


def _searcher(
    shard: Shard, vectors: Matrix, lists: tuple[Matrix, Ints] | None
) -> Callable[[Ints, int], tuple[Matrix, Ints]]:
    def search(queries: Ints, count: int) -> tuple[Matrix, Ints]:
        if lists is None:
            flat: tuple[Matrix, Ints] = shard.faiss.search(vectors[queries], count)
            return flat
        distances, numbers = lists
        shard.faiss.nprobe = numbers.shape[1]
        found: tuple[Matrix, Ints] = shard.faiss.search_preassigned(
            vectors[queries], count, numbers[queries], distances[queries]
        )
        return found

    return search
