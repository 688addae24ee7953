"""Pairs of a question with the questions of earlier splits to which it may be similar, block by block.

places of SETS or SPELLINGS, sizes of partners -> Partners.of -> blocks -> pairs, until enough of a row are compared

In a log of one sentence with one varying word all questions are similar to all others. There, and only there, comparing
all pairs would take quadratic time, although one similar question is enough to remove another one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final, Self

import numpy as np
import pyarrow as pa

from schemas.ragged import ranges
from schemas.text_arrays import encode

ALWAYS: Final = 256
"""Number of partners of a run with which a row is compared in any case, for the similarity of the most similar one.

Further ones are compared only if none of these is similar enough."""


@dataclasses.dataclass(frozen=True)
class Partners:
    """Runs of the possible partners of rows, each of one split.

    Attributes:
        row: (E,) int64 row of a later split.
        rank: (E,) int64 rank of the partners' split.
        first: (E,) int64 place of the first partner in ``order``.
        count: (E,) int64 number of partners.
        order: rows; the partners of a run follow each other.
    """

    row: np.ndarray
    rank: np.ndarray
    first: np.ndarray
    count: np.ndarray
    order: np.ndarray

    @classmethod
    def of(
        cls, rows: pa.Table, sizes: np.ndarray, later: np.ndarray, smallest: np.ndarray, largest: np.ndarray
    ) -> Self:
        """Return the partners of rows: those of an earlier split, the same ``blocking_key`` and a size in an interval.

        Which partners come first is decided by ``question_id``, so it is the same in any shard and on any engine.

        Args:
            rows: (R,) places of `contested`, with their ``question_id`` and ``rank``.
            sizes: (R,) int64.
            later: (W,) rows of later splits, each as often as it has an interval.
            smallest: (W,) int64 minimum size of a partner.
            largest: (W,) int64 maximum size.
        """
        ranks, ids = (rows[name].to_numpy().astype(np.int64) for name in ("rank", "question_id"))
        blocking_key = encode(rows["blocking_key"]).indices.to_numpy().astype(np.int64)
        splits, step = int(ranks.max(initial=0)) + 1, int(sizes.max(initial=0)) + 1
        place = (blocking_key * splits + ranks) * step + sizes  # one number for each ``blocking_key``, split and size
        order = np.lexsort((ids, place))
        earlier = ranks[later]
        row, rank = np.repeat(later, earlier), ranges(np.zeros_like(earlier), earlier)
        start = (blocking_key[row] * splits + rank) * step
        low, high = np.repeat(smallest, earlier), np.minimum(np.repeat(largest, earlier), step - 1)
        ordered = place[order]
        first = np.searchsorted(ordered, start + low, side="left")
        count = np.searchsorted(ordered, start + high, side="right") - first
        return cls(row, rank, first, count, order)

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The row and the partner of each pair, (P,) int64 each."""
        return np.repeat(self.row, self.count), self.order[ranges(self.first, self.count)]

    def blocks(self, effort: np.ndarray, limit: int, leaking: np.ndarray) -> Iterator[Self]:
        """Yield the partners with which rows are compared, about ``limit`` of effort at a time.

        Which pairs there are depends on the runs and on what is similar, not on the blocks.

        Args:
            effort: (R,) effort of a pair of the row.
            limit: of a block; the pairs of a row and a round are not divided.
            leaking: (R, splits) bool, whether a row is similar to a partner of a split; the caller sets it for the
                pairs of a block before it takes the next one.
        """
        start, width = 0, ALWAYS
        while True:
            is_open = self.count > start
            if start:
                is_open &= ~leaking[self.row, self.rank]
            runs = np.flatnonzero(is_open)
            if not len(runs):
                return
            taken = np.minimum(self.count[runs] - start, width)
            block = np.cumsum(taken * effort[self.row[runs]]) // limit
            for number in np.unique(block).tolist():
                chosen, count = runs[block == number], taken[block == number]
                first = self.first[chosen] + start
                yield dataclasses.replace(self, row=self.row[chosen], rank=self.rank[chosen], first=first, count=count)
            start, width = start + width, 4 * width
