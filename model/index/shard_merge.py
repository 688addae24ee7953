"""The nearest rows over several shards, exactly those of one index.

Shards and query vectors -> nearest -> distances and (shard, row), ties in order of question id
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from faiss import swig_ptr

from model.index.arithmetic import one_thread, threads_of
from model.index.shards import Shard
from schemas.arrays import Int64s, Matrix

Number = TypeVar("Number", np.float32, np.int64)

DISTANCES_AT_ONCE = 1 << 22
"""Number of distances of few rows that are computed before the nearest are chosen; bounds memory."""

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
    ids: Int64s
    rows: Int64s

    def best(self, k: int) -> Nearest:
        """Return the k nearest of each query, the smaller id first among equally near ones."""
        order = np.lexsort((self.ids, self.distances), axis=-1)[:, :k]
        return self._take(order)

    def without(self, ids: Int64s, k: int) -> Nearest:
        """Return the first k of each query that are not its own id in ``ids`` (n,)."""
        own = (self.ids == ids[:, None]) & (self.rows >= 0)
        return self._take(np.argsort(own, axis=-1, kind="stable")[:, :k])

    def _take(self, order: Int64s) -> Nearest:
        queries = np.arange(len(order))[:, None]
        return Nearest(self.distances[queries, order], self.ids[queries, order], self.rows[queries, order])


def joined(parts: Sequence[Nearest]) -> Nearest:
    """Return neighbours of the same queries side by side."""
    if len(parts) == 1:
        return parts[0]
    values = zip(*((part.distances, part.ids, part.rows) for part in parts), strict=True)
    return Nearest(*(np.hstack(of) for of in values))


def nearest(
    shards: Sequence[Shard], question_ids: Sequence[Int64s], vectors: Matrix, *, k: int, probes: int
) -> Nearest:
    """Return the k nearest questions of every query, ties by question id.

    Args:
        shards: flat, or built on the same centroids; rows that are not live are not found.
        question_ids: of each shard, ascending: the id of its row i.
        vectors: (n, dimension).
        k: their number, at least 1.
        probes: number of lists to search; a search of all is exact. Without effect on flat shards.
    """
    vectors = np.ascontiguousarray(vectors, np.float32)
    shape = len(shards), len(vectors), k + SLACK
    distances, rows, ids = np.empty(shape, np.float32), np.empty(shape, np.int64), np.empty(shape, np.int64)
    with threads_of(len(vectors)):
        searches = _searches(shards, vectors, probes)
        for number, search in enumerate(searches):
            search.into(distances[number], rows[number])
    with one_thread():  # each query alone, as of `threads_of`
        _settle_ties(searches, distances, rows, k)
    for of_shard, from_rows, to in zip(question_ids, rows, ids, strict=False):
        of_shard.take(from_rows, out=to, mode="clip")  # -1 is replaced below
    padded = rows < 0
    rows += np.array([*itertools.accumulate(map(len, shards[:-1]), initial=0)])[:, None, None]
    if padded.any():
        distances[padded], rows[padded], ids[padded] = np.inf, -1, -1
    joined = Nearest(_by_query(distances), _by_query(ids), _by_query(rows))
    return joined.best(k)


def _by_query(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return (queries, shards * width) values from (shards, queries, width)."""
    shards, queries, width = values.shape
    return values.transpose(1, 0, 2).reshape(queries, shards * width)


def _settle_ties(searches: Sequence[ShardSearch], distances: Matrix, rows: Int64s, k: int) -> None:
    """Replace the rows of each shard and query where rows that were not fetched may be as near as the k-th.

    Args:
        searches: of the shards.
        distances: (shards, queries, width), in order.
        rows: of the same shape, -1 where padded.
        k: number of rows to return.
    """
    undecided = np.nonzero((distances[..., k - 1] == distances[..., -1]) & (rows[..., -1] >= 0))
    for number, query in zip(undecided[0].tolist(), undecided[1].tolist(), strict=True):
        search = functools.partial(searches[number], np.array([query]))
        distances[number, query, k:], rows[number, query, k:] = np.inf, -1
        settled = nearest_rows(search, k=k, rows=searches[number].rows)
        distances[number, query, :k], rows[number, query, :k] = settled


def nearest_rows(search: Callable[[int], tuple[Matrix, Int64s]], *, k: int, rows: int) -> tuple[Matrix, Int64s]:
    """Return distances and rows of the k nearest rows of a query, (k,), the smaller row first among equally near ones.

    Of rows tied at the last rank FAISS returns arbitrary ones. So more than k are fetched, and more again until all
    rows tied with the k-th are there.

    Args:
        search: count -> distances, rows, each (1, count) in order of distance.
        k: number of rows; padded with infinity and -1.
        rows: number of all rows.
    """
    fetched, is_open = min(k + SLACK, rows), True
    while is_open:
        [distances], [hits] = search(fetched)
        distances = np.where(hits < 0, np.inf, distances)
        kth = distances[min(k, fetched) - 1]
        is_open = kth == distances[-1] and np.isfinite(kth) and fetched < rows
        fetched = min(fetched * 4, rows)
    order = np.lexsort((hits, distances))[:k]
    padding = (0, k - len(order))
    return np.pad(distances[order], padding, constant_values=np.inf), np.pad(hits[order], padding, constant_values=-1)


class ShardSearch:
    """The search of some queries in one shard.

    FAISS's functions are called without the checks around them, which take longer than a search of ten short lists.
    """

    def __init__(self, shard: Shard, vectors: Matrix, lists: tuple[Matrix, Int64s] | None) -> None:
        self._shard, self._vectors, self._lists = shard, vectors, lists

    @property
    def rows(self) -> int:
        """Return the number of rows of the shard."""
        return len(self._shard)

    def __call__(self, queries: Int64s, count: int) -> tuple[Matrix, Int64s]:
        """Return distances and rows of the nearest rows of some queries by number, each (queries, count)."""
        lists = self._lists and (self._lists[0][queries], self._lists[1][queries])
        distances, rows = np.empty((len(queries), count), np.float32), np.empty((len(queries), count), np.int64)
        ShardSearch(self._shard, self._vectors[queries], lists).into(distances, rows)
        return distances, rows

    def into(self, distances: Matrix, rows: Int64s) -> None:
        """Write the nearest rows of each query into contiguous arrays (queries, count); what is missing is row -1."""
        if (few := self._shard.few_rows) is not None:
            self._among(few, distances, rows)
            return
        if (walk := self._shard.walk) is not None:
            walk.into(self._vectors, self._shard.parameters.efSearch, self._shard.live_points, distances, rows)
            self._to_rows(rows)
            return
        index, outputs, pointer = self._shard.faiss, (swig_ptr(distances), swig_ptr(rows)), swig_ptr(self._vectors)
        count, parameters = distances.shape[1], self._shard.parameters
        if self._lists is None:
            index.search_c(len(self._vectors), pointer, count, *outputs, parameters)
            self._to_rows(rows)
            return
        to_lists, numbers = self._lists
        probed = index if parameters is None else parameters
        if probed.nprobe != numbers.shape[1]:
            probed.nprobe = numbers.shape[1]
        index.search_preassigned_c(
            len(self._vectors), pointer, count, swig_ptr(numbers), swig_ptr(to_lists), *outputs, False, parameters
        )

    def _to_rows(self, points: Int64s) -> None:
        """Replace points of a graph by their rows."""
        if (row_of_point := self._shard.row_of_point) is None:
            return
        missing = points < 0
        points[:] = row_of_point.take(points, mode="clip")
        points[missing] = -1

    def _among(self, few: Int64s, distances: Matrix, rows: Int64s) -> None:
        """Write the nearest of a few rows of a flat shard, whose distances are all computed."""
        count = min(distances.shape[1], len(few))
        distances[:, count:], rows[:, count:] = np.inf, -1
        if not count:
            return
        at_once = max(1, DISTANCES_AT_ONCE // len(few))
        for start in range(0, len(self._vectors), at_once):
            part = slice(start, start + at_once)
            vectors = self._vectors[part]
            places = np.ascontiguousarray(np.broadcast_to(few, (len(vectors), len(few))))
            of_few = np.empty(places.shape, np.float32)
            self._shard.faiss.compute_distance_subset(
                len(vectors), swig_ptr(vectors), len(few), swig_ptr(of_few), swig_ptr(places)
            )
            nearest = np.argpartition(of_few, count - 1, axis=1)[:, :count]
            order = np.argsort(np.take_along_axis(of_few, nearest, axis=1), axis=1, kind="stable")
            nearest = np.take_along_axis(nearest, order, axis=1)
            distances[part, :count], rows[part, :count] = np.take_along_axis(of_few, nearest, axis=1), few[nearest]


def _searches(shards: Sequence[Shard], vectors: Matrix, probes: int) -> list[ShardSearch]:
    """Return the search of each shard; the nearest lists are found once for all shards that have some."""
    listed = next((shard for shard in shards if shard.lists), None)
    lists = None if listed is None else listed.nearest_lists(vectors, min(probes, listed.lists))
    return [ShardSearch(shard, vectors, lists if shard.lists else None) for shard in shards]
