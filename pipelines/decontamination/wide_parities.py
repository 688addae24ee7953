"""Parities of the gram sets of long questions, with as many bits as exclude pairs of unlike ones.

keys and sizes of SPELLINGS -> WideParities.of -> may_be_similar -> pairs of rows that are compared exactly

Two sets of 5,000 grams with a Jaccard index of .9 may differ in 526 grams. The 64 bits of a parity in SPELLINGS never
exclude them, and to compare all pairs of 2,000 such questions exactly took minutes.
"""

from __future__ import annotations

import dataclasses
from typing import Final, Self

import numpy as np
import pyarrow as pa

from pipelines.decontamination.character_grams import gram_parities

MIN_DIFFERENCES: Final = 20
"""Minimum number of grams in which two similar sets of this size may differ, for a set to be long.

Of 64 bits unlike sets differ in 32, in at least 20 but for one of a thousand pairs."""

BITS_A_DIFFERENCE: Final = 4
"""Minimum number of bits for each gram in which similar sets may differ; unlike sets differ in nearly half of them."""

PAIRS: Final = 2**14
"""Number of pairs whose bits are in memory at a time, about 16 MB of the longest questions."""


@dataclasses.dataclass(frozen=True)
class WideParities:
    """Parities of the long ones among some rows.

    Attributes:
        place: (R,) int64 place of a row in ``bits``, -1 for a short one.
        bits: (L, words) uint64 parities.
        sizes: (R,) int64 numbers of grams.
        max_differences: maximum number of grams in which similar sets differ, by the sum of their sizes.
    """

    place: np.ndarray
    bits: np.ndarray
    sizes: np.ndarray
    max_differences: np.ndarray

    @classmethod
    def of(cls, keys: pa.ChunkedArray, sizes: np.ndarray, max_differences: np.ndarray) -> Self:
        """Return the parities of rows of which some are long.

        Args:
            keys: (R,) strings without nulls.
            sizes: (R,) int64 numbers of their grams, 0 for a row that is in no pair.
            max_differences: see the class.
        """
        is_long = max_differences[2 * sizes] >= MIN_DIFFERENCES
        place = np.where(is_long, np.cumsum(is_long) - 1, -1)
        width = (BITS_A_DIFFERENCE * int(max_differences[2 * sizes.max(initial=0)]) - 1).bit_length()
        bits = gram_parities(keys.filter(pa.array(is_long)).combine_chunks(), max(width, 6))
        return cls(place, bits, sizes, max_differences)

    def may_be_similar(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return for each pair of rows whether the parities leave it possible that the sets are similar.

        Args:
            one: (P,) int64 rows.
            other: (P,) int64 rows.
        """
        possible = np.ones(len(one), bool)
        both = np.flatnonzero((self.place[one] >= 0) & (self.place[other] >= 0))
        for start in range(0, len(both), PAIRS):
            pairs = both[start : start + PAIRS]
            row, partner = one[pairs], other[pairs]
            different = np.bitwise_count(self.bits[self.place[row]] ^ self.bits[self.place[partner]]).sum(axis=1)
            possible[pairs] = different <= self.max_differences[self.sizes[row] + self.sizes[partner]]
        return possible
