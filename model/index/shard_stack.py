"""Shards of inverted lists on the same centroids, searched as one index by one call.

shards, ids -> ShardStack.of -> ShardStack; vectors -> ShardStack.nearest -> Nearest, or None
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any, Final

import faiss
import numpy as np
from faiss import swig_ptr

from model.index.shard_merge import SLACK, Ints, Nearest, nearest
from model.index.shards import Matrix, Shard

FEW: Final = 8
"""Maximum queries of one call: of 500 each took .60 ms in a stack and .43 shard by shard, alone .60 and 1.00. A shard
fits into the cache of a processor, all of them do not."""


_MOST_HITS: Final = 256
"""Maximum hits of one call: the row of each is looked up by a call of its own."""


@dataclasses.dataclass(frozen=True)
class ShardStack:
    """Shards whose lists stand one shard after the other, as the lists of one index.

    Attributes:
        shards: all of the same number of lists, of vectors as they are, none with deleted rows.
        question_ids: of each shard, ascending: the id of its row i.
    """

    shards: Sequence[Shard]
    question_ids: Sequence[Ints]

    @classmethod
    def of(cls, shards: Sequence[Shard], question_ids: Sequence[Ints]) -> ShardStack | None:
        """Return the stack of these shards, None where they cannot be searched as one or there is only one.

        FAISS takes a code of another encoding as the difference from a centroid of its list's number, and hides
        deleted rows by their number within a shard.
        """
        able = all(shard.lists and shard.layout.encoding == "Flat" and shard.live is None for shard in shards)
        return cls(shards, question_ids) if able and len(shards) > 1 else None

    def nearest(self, vectors: Matrix, *, k: int, probes: int) -> Nearest:
        """Return `shard_merge.nearest` of these shards, in less time for up to `FEW` vectors."""
        few = 0 < len(vectors) <= FEW and k <= _MOST_HITS
        found = self._found(np.ascontiguousarray(vectors, np.float32), k, probes) if few else None
        return found or nearest(self.shards, self.question_ids, vectors, k=k, probes=probes)

    def _found(self, vectors: Matrix, k: int, probes: int) -> Nearest | None:
        """Return the nearest rows, None where rows that were not fetched may be as near as the k-th."""
        lists, count = self.shards[0].lists, k + SLACK
        _, numbers = self.shards[0].nearest_lists(vectors, min(probes, lists))
        stacked = (numbers[:, :, None] + self._first_lists).reshape(len(vectors), -1)
        if numbers.min(initial=0) < 0:  # a graph found fewer lists
            stacked[np.repeat(numbers < 0, len(self.shards), axis=1)] = -1
        unused = np.zeros(stacked.shape, np.float32)  # distances of the lists: only codes need them
        distances, pairs = np.empty((len(vectors), count), np.float32), np.empty((len(vectors), count), np.int64)
        index, _ = self._stacked
        parameters = self._parameters.get(stacked.shape[1]) or self._with_lists(stacked.shape[1])
        index.search_preassigned_c(
            len(vectors), swig_ptr(vectors), count, swig_ptr(stacked), swig_ptr(unused),
            swig_ptr(distances), swig_ptr(pairs), True, parameters,
        )  # fmt: skip
        if ((distances[:, k - 1] == distances[:, -1]) & (pairs[:, -1] >= 0)).any():
            return None
        places = [self._place(pair) for pair in pairs.ravel().tolist()]
        ids, rows = (np.array(part, np.int64).reshape(pairs.shape) for part in zip(*places, strict=True))
        distances[rows < 0] = np.inf
        return Nearest(distances, ids, rows).best(k)

    def _place(self, pair: int) -> tuple[int, int]:
        """Return question id and row of a place in a list; FAISS puts the number of the list into the upper half."""
        if pair < 0:
            return -1, -1
        number = pair >> 32
        shard, (_, lists) = number // self.shards[0].lists, self._stacked
        row = lists.get_single_id(number, pair & 0xFFFFFFFF)
        return self._ids[shard][row], self._first_rows[shard] + row

    @functools.cached_property
    def _stacked(self) -> tuple[Any, Any]:
        """Return the index over all lists, which are not copied, and these lists."""
        library: Any = faiss  # its stubs lack these classes
        pointers = library.InvertedListsPtrVector()
        for shard in self.shards:
            pointers.push_back(shard.faiss.invlists)
        lists = library.VStackInvertedLists(pointers.size(), pointers.data())
        index = library.IndexIVFFlat(self.shards[0].quantizer, self.shards[0].layout.dimension, lists.nlist)
        index.replace_invlists(lists, False)
        index.is_trained = True
        return index, lists

    @functools.cached_property
    def _parameters(self) -> dict[int, Any]:
        return {}

    def _with_lists(self, lists: int) -> Any:
        """Return FAISS's parameters of a search of this number of lists; threads may search another number."""
        library: Any = faiss
        return self._parameters.setdefault(lists, library.SearchParametersIVF(nprobe=lists))

    @functools.cached_property
    def _first_lists(self) -> Ints:
        """Return the number of the first list of each shard."""
        return np.arange(len(self.shards)) * self.shards[0].lists

    @functools.cached_property
    def _first_rows(self) -> list[int]:
        return [*itertools.accumulate(map(len, self.shards[:-1]), initial=0)]

    @functools.cached_property
    def _ids(self) -> list[memoryview]:
        """Return the question ids, of which numpy reads one in three times the time."""
        return [ids.data for ids in self.question_ids]
