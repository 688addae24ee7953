"""The nearest rows by codes, in the order of their exact vectors.

codes, flat shards, ids -> RefinedSearch; vectors -> RefinedSearch.nearest -> Nearest
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from model.index.arithmetic import threads_of
from model.index.codes import Codes
from model.index.linking.vectors import exact_distances
from model.index.shard_merge import Nearest, ShardSearch, joined, nearest
from model.index.shards import Shard
from schemas.arrays import Bools, Int64s, Matrix

FEWEST_CANDIDATES: Final = 64
CANDIDATES: Final = 4
"""Nearest codes for each neighbour, and at least `FEWEST_CANDIDATES`, that are compared again by exact vectors. Of the
ten nearest of Quora's questions, 44, 88 and 176 candidates in 64 of 2,000 lists find .905, .910 and .911."""


def candidates(k: int) -> int:
    """Return the number of nearest codes that are compared again for k neighbours."""
    return max(CANDIDATES * k, FEWEST_CANDIDATES)


@dataclasses.dataclass(frozen=True)
class RefinedSearch:
    """Flat shards, most of whose rows are found by codes.

    Attributes:
        codes: of some of the shards, on the same centroids; at least one.
        shards: flat; rows that are not live are not found.
        question_ids: of each shard, ascending: the id of its row i.
        most_probes: of the index's factory; a search with as many compares all vectors.
    """

    codes: Sequence[Codes]
    shards: Sequence[Shard]
    question_ids: Sequence[Int64s]
    most_probes: int

    def nearest(self, vectors: Matrix, *, k: int, probes: int) -> Nearest:
        """Return the k nearest questions of every query among those with the nearest codes, ties by question id.

        The distances are exact. Shards without codes are compared whole, and so are all with ``most_probes``.

        Args:
            vectors: (n, dimension).
            k: their number, at least 1.
            probes: number of lists to search, or of points of a graph that a search keeps in view.
        """
        if probes >= self.most_probes:
            return nearest(self.shards, self.question_ids, vectors, k=k, probes=probes)
        vectors = np.ascontiguousarray(vectors, np.float32)
        with threads_of(len(vectors)):
            return self._refined(vectors, k, probes)

    def _refined(self, vectors: Matrix, k: int, probes: int) -> Nearest:
        first = self.codes[0].shard
        lists = first.nearest_lists(vectors, probes) if first.lists else None
        shape = len(vectors), candidates(k)
        parts = []
        for codes, shard in zip(self.codes, self._live, strict=True):
            distances, rows = np.empty(shape, np.float32), np.empty(shape, np.int64)
            if shard.layout.graph:
                shard.parameters.efSearch = probes
            ShardSearch(shard, vectors, lists).into(distances, rows)
            parts.append(self._exact(vectors, rows, range(codes.first, codes.stop)))
        if self._whole:
            shards = [self.shards[number] for number in self._whole]
            ids = [self.question_ids[number] for number in self._whole]
            exact = nearest(shards, ids, vectors, k=k, probes=probes)
            parts.append(dataclasses.replace(exact, rows=np.where(exact.rows < 0, -1, self._whole_rows[exact.rows])))
        return joined(parts).best(k)

    def _exact(self, vectors: Matrix, rows: Int64s, shards: range) -> Nearest:
        """Return rows with their ids and exact distances.

        Args:
            vectors: (n, dimension).
            rows: (n, candidates) of the concatenation of some shards, -1 where there are fewer.
            shards: numbers of these shards.
        """
        first = self._starts[shards[0]]
        distances = exact_distances(self.shards[shards.start : shards.stop], vectors, rows)
        refined = Nearest(distances, self._ids.take(rows + first, mode="clip"), rows + first)  # padding is set below
        if (missing := rows < 0).any():
            refined.ids[missing], refined.rows[missing] = -1, -1
        return refined

    @functools.cached_property
    def _ids(self) -> Int64s:
        """Return the question id of each row."""
        return np.concatenate(self.question_ids)

    @functools.cached_property
    def _live(self) -> list[Shard]:
        """Return the codes, of which only those of live rows are found."""
        return [dataclasses.replace(codes.shard, live=self._mask(codes)) for codes in self.codes]

    def _mask(self, codes: Codes) -> Bools | None:
        shards = self.shards[codes.first : codes.stop]
        if all(shard.live is None for shard in shards):
            return None
        return np.concatenate([np.ones(len(shard), bool) if shard.live is None else shard.live for shard in shards])

    @functools.cached_property
    def _starts(self) -> list[int]:
        """Return the first row of each shard."""
        return [*itertools.accumulate(map(len, self.shards[:-1]), initial=0)]

    @functools.cached_property
    def _whole(self) -> list[int]:
        """Return the numbers of the shards without codes."""
        coded = {number for codes in self.codes for number in range(codes.first, codes.stop)}
        return [number for number in range(len(self.shards)) if number not in coded]

    @functools.cached_property
    def _whole_rows(self) -> Int64s:
        """Return the rows of the shards without codes."""
        return np.concatenate([self._starts[number] + np.arange(len(self.shards[number])) for number in self._whole])
