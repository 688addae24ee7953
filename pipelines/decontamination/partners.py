"""Pairs of a question with the questions of earlier splits to which it may be similar, block by block.

runs of partners -> Partners.blocks -> rows and partners of a block, until enough of a row are compared

In a log of one sentence with one varying word all questions are similar to all others. There, and only there, comparing
all pairs would take quadratic time, although one similar question is enough to remove another one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np

from schemas.ragged import ranges

ALWAYS: Final = 256
"""Number of partners of a run with which a row is compared in any case, for the similarity of the most similar one.

Further ones are compared only if none of these is similar enough."""


@dataclasses.dataclass(frozen=True)
class Partners:
    """Runs of places, each with the possible partners of a row in one split.

    Attributes:
        row: (E,) int64 row of a later split.
        rank: (E,) int64 rank of the partners' split.
        first: (E,) int64 first place of the run.
        count: (E,) int64 number of places.
    """

    row: np.ndarray
    rank: np.ndarray
    first: np.ndarray
    count: np.ndarray

    def blocks(self, effort: np.ndarray, limit: int, leaking: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield rows and places of their partners, about ``limit`` of effort at a time.

        Which pairs there are depends on the runs and on what is similar, not on the blocks.

        Args:
            effort: (E,) effort of a pair of the run.
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
            block = np.cumsum(taken * effort[runs]) // limit
            for number in np.unique(block).tolist():
                chosen, pairs = runs[block == number], taken[block == number]
                yield np.repeat(self.row[chosen], pairs), ranges(self.first[chosen] + start, pairs)
            start, width = start + width, 4 * width
