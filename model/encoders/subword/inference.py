"""The subword encoder with numpy alone.

keys -> bags -> words summed -> questions summed -> length 1 -> float32 matrix
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.encoders.interface import FEW, Encoder
from model.encoders.kernels.dispatch import compiled, spelled
from model.encoders.kernels.equal_lengths import rectangles
from model.encoders.subword.mapped_table import TableRows, release
from model.encoders.subword.row_ids import Bags, Subwords
from model.text.vocabulary import TokenIds
from schemas.arrays import Float32s, Matrix
from schemas.words import LONGEST_REMEMBERED

_REMEMBERED = 16_384
"""Words whose sums are kept: 16 MB at 256 numbers a word."""

_FEW = 1_024
"""Maximum number of questions encoded word by word: .008 ms each where all of their words are remembered, .027 after
12,000 other questions, .09 where none is. Together each of 128 takes .06 to .09 ms, as parts of the table are read from
its file again each time, and each of 1,000 .026 to .037."""

_LONG = 256
"""Mean characters of `FEW` questions or more from which on Arrow is faster. No question may have more than
`_REMEMBERED`, since all words of a question are remembered together."""

_BLOCK_ROWS = 512
"""Rows gathered together: 0.5 MB at 256 numbers a row, which stays in a core's second-level cache."""


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
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

    @property
    def few(self) -> int:
        """Return the maximum number of questions that are encoded word by word."""
        return _FEW

    def encode_few(self, keys: Sequence[str]) -> Matrix:
        """Return the same as `encode_keys`, of a few keys.

        The sums of up to `_REMEMBERED` words are kept, since most words of a question occurred in an earlier one.
        """
        lengths = [*map(len, keys)]
        are_long = sum(lengths) > _LONG * max(len(keys), FEW) or max(lengths, default=0) > _REMEMBERED
        if self.subwords.pairs or are_long:  # a pair is looked up by the hashes of its words
            return super().encode_few(keys)
        listed = [self.subwords.vocabulary.words_of_one(key) for key in keys]
        vectors = np.zeros((len(listed), self.dimension), np.float32)
        for vector, words in zip(vectors, listed, strict=True):
            for number, of_word in enumerate(self._remembered_sums(words)):
                np.copyto(vector, of_word) if number == 0 else np.add(vector, of_word, vector)
        return _of_length_one(vectors)

    def encode_bags(self, bags: Bags) -> Matrix:
        """Return one vector a question of the bags."""
        words = self._words(bags)
        release(self.table)
        return _of_length_one(summed(bags.questions, words))

    def word_sums(self, words: pa.Array) -> Matrix:
        """Return the vector of each distinct word, (words, dimension); its length is its weight."""
        bags = self.subwords.bags(words)
        return summed(bags.questions, self._words(bags))

    def _remembered_sums(self, words: Sequence[str]) -> list[Float32s]:
        """Return the vector of each word, remembered or computed now."""
        remembered = self._sums
        sums = [remembered.get(word) for word in words]
        new = [*dict.fromkeys(word for word, vector in zip(words, sums, strict=True) if vector is None)]
        if not new:
            return cast(list[Float32s], sums)
        if len(remembered) + len(new) > _REMEMBERED:  # those that came first leave, frequent ones soon come back
            for word in [*itertools.islice(remembered, max(_REMEMBERED // 4, len(new)))]:
                remembered.pop(word, None)
        computed = dict(zip(new, self._new_sums(new), strict=True))
        # in one step, as threads share it
        remembered.update({word: of for word, of in computed.items() if len(word) <= LONGEST_REMEMBERED})
        return [computed[word] if vector is None else vector for word, vector in zip(words, sums, strict=True)]

    def _new_sums(self, words: Sequence[str]) -> Matrix | list[Float32s]:
        if self.subwords.pieces is not None:
            return self.word_sums(pa.array(words, pa.string()))
        return [self._sum_of(word) for word in words]

    def _sum_of(self, word: str) -> Float32s:
        """Return `word_sums` of one word, without Arrow."""
        number, ngrams = self.subwords.rows_of_one(word)
        rows = self._rows.of([*ngrams, number])
        vector = np.add.reduce(rows[:-1].astype(np.float32), axis=0)  # from first to last, like `summed`
        vector *= np.float32(self.ngram_weight)
        vector += rows[-1]
        return cast(Float32s, vector)

    @functools.cached_property
    def _rows(self) -> TableRows:
        return TableRows(self.table)

    @functools.cached_property
    def _sums(self) -> dict[str, Float32s]:
        return {}

    def _words(self, bags: Bags) -> Matrix:
        words = summed(bags.ngrams, self.table)
        words *= np.float32(self.ngram_weight)
        words += self.table[bags.words]
        return words


def _of_length_one(vectors: Matrix) -> Matrix:
    """Divide each vector by its length, in place; zeros stay."""
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    return vectors


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
