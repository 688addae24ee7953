"""The subword encoder with numpy alone.

keys -> bags -> words summed -> questions summed -> length 1 -> float32 matrix
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.encoders.interface import Encoder, Matrix
from model.encoders.kernels.dispatch import compiled, spelled
from model.encoders.kernels.equal_lengths import rectangles
from model.encoders.subword.row_ids import Bags, Subwords
from model.text.vocabulary import TokenIds

_BLOCK_ROWS = 512
"""Rows gathered together: 0.5 MB at 256 numbers a row, which stays in a core's second-level cache."""


@dataclasses.dataclass(frozen=True)
class BagEncoder(Encoder):
    """A trained subword encoder.

    Attributes:
        subwords: turns questions into rows.
        table: (rows, dimension), float16 as stored; what is looked up of it becomes float32.
        ngram_weight: what an n-gram counts where a word counts 1.
    """

    subwords: Subwords
    table: npt.NDArray[np.float16] | Matrix
    ngram_weight: float

    @property
    def dimension(self) -> int:
        """Return the length of a question's vector."""
        return int(self.table.shape[1])

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key, of length 1; zeros for a key without a word."""
        return self.encode_bags(self.subwords.bags(keys))

    def encode_bags(self, bags: Bags) -> Matrix:
        """Return one vector a question of the bags."""
        vectors = summed(bags.questions, self._words(bags))
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        vectors /= np.where(lengths > 0, lengths, 1)[:, None]
        return vectors

    def word_sums(self, words: pa.Array) -> Matrix:
        """Return the vector of each distinct word, (words, dimension); its length is its weight."""
        bags = self.subwords.bags(words)
        return summed(bags.questions, self._words(bags))

    def _words(self, bags: Bags) -> Matrix:
        words = summed(bags.ngrams, self.table)
        words *= np.float32(self.ngram_weight)
        words += self.table[bags.words]
        return words


def summed(runs: TokenIds, table: npt.NDArray[np.floating]) -> Matrix:
    """Return the sum of the rows of each run, (runs, dimension) float32, added from first to last; zeros for none."""
    if (loops := compiled()) is not None:
        added = np.empty((len(runs), table.shape[1]), np.float32)
        loops.add_runs(runs.ids, runs.offsets, spelled(table), added)
        return added
    sums = np.zeros((len(runs), table.shape[1]), np.float32)
    for numbers, ids in rectangles(runs, max_tokens=_BLOCK_ROWS):
        if ids.shape[1]:
            part = table[ids[:, 0]].astype(np.float32)
            for place in range(1, ids.shape[1]):
                part += table[ids[:, place]]
            sums[numbers] = part
    return sums
