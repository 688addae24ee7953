"""Weights of parts of questions, such as stems, in the log and inside an answer.

rows, codes, weights -> Partition.parts -> Parts
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from scipy import sparse

from schemas.ragged import offsets_of, ranges

PRIOR: Final = 5.0
"""Number of pseudo-questions, with a part's frequency in the log, that are added to its count inside an answer."""

CHUNK: Final = 1 << 18
"""Number of words whose parts are numbered together; bounds memory."""


@dataclasses.dataclass(frozen=True)
class Parts:
    """The parts of R rows; the same stem in two answers is two parts.

    Attributes:
        rows: (R, parts) int8, 1 if the row has the part, else 0.
        code: (parts,) code of the stem, piece or stem pair.
        counts: (parts,) int64 number of rows that have the part.
        weight: (parts,) inverse document frequency in the log, 1 for a rare word of a large log; the pieces of a word
            divide its weight among them.
        weight_of_single: (parts,) inverse document frequency inside the answer, without the one question of a pair that
            has the part; used for a part that only one question of a pair has.
        weight_of_shared: (parts,) the same without both questions of a pair; used for a part that both have.
        length: (R, 3) sums of ``weight``, ``weight_of_single`` and 1 over the parts of each row.
        first: (parts,) place of the first of the part's words, which are in the order of the rows; pieces have none.
    """

    rows: sparse.csr_array
    code: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    weight_of_single: np.ndarray
    weight_of_shared: np.ndarray
    length: np.ndarray
    first: np.ndarray

    @functools.cached_property
    def values(self) -> np.ndarray:
        """(parts, 4) float64: ``weight``, ``weight_of_single``, ``weight_of_shared`` and 1."""
        return np.column_stack([self.weight, self.weight_of_single, self.weight_of_shared, np.ones(len(self.weight))])

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """(R, 2) float64: the first two columns of ``length``, row after row in memory."""
        return np.ascontiguousarray(self.length[:, :2])

    def only_one(self, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
        """Return the (P, parts) parts that one question of each pair alone has: 1 for the left one, -1 for the right.

        Args:
            left: (P,) rows.
            right: (P,) other rows.
        """
        signs = (self.rows[left] - self.rows[right]).tocsr()
        signs.eliminate_zeros()
        signs.sort_indices()
        return signs


@dataclasses.dataclass(frozen=True)
class Partition:
    """The answers of a table of rows.

    Attributes:
        answer_of_row: (R,) int64 number of each row's answer, ascending from 0.
        questions: number of questions of a log in which a word of one question has the weight 1.
    """

    answer_of_row: np.ndarray
    questions: int

    def parts(
        self,
        row: np.ndarray,
        code: np.ndarray,
        weight: np.ndarray,
        *,
        pieces: np.ndarray | None = None,
    ) -> Parts:
        """Return the parts of the rows.

        Args:
            row: (M,) rows of words, ascending.
            code: (N,) code of each part of each word, word after word; repeats in a row count once.
            weight: (M,) in (0, 1]; a part has the minimum weight of its words in the answer, that of the most frequent.
            pieces: (M,) number of parts of each word, which divide its weight; None: each word is one part.
        """
        codes, answers = int(code.max(initial=0)) + 1, int(self.answer_of_row.max(initial=0)) + 1
        keys: np.ndarray = code.astype(np.int32 if answers * codes < 2**31 else np.int64)  # half the memory
        for some, words in _in_chunks(len(row), pieces):
            keys[some] += self.answer_of_row[row[words]].astype(keys.dtype) * keys.dtype.type(codes)
        del code
        coded = pa.array(keys).dictionary_encode()
        del keys
        part, key = coded.indices.to_numpy(), coded.dictionary.to_numpy().astype(np.int64)
        lightest, scales = np.full(len(key), np.inf), np.full(len(key), 1.0 if pieces is None else np.inf)
        for some, words in _in_chunks(len(row), pieces):
            np.minimum.at(lightest, part[some], weight[words])
            if pieces is not None:
                np.minimum.at(scales, part[some], 1 / pieces[words])
        of_row = np.bincount(row, pieces, len(self.answer_of_row)).astype(np.int64)
        is_first = np.diff(np.maximum.accumulate(part), prepend=-1) if pieces is None else np.zeros(0)
        first = np.flatnonzero(is_first)
        indices = part.copy()
        del coded, part
        ones = np.ones(len(indices), np.int8)
        rows = sparse.csr_array((ones, indices, offsets_of(of_row).astype(np.int32)), shape=(len(of_row), len(key)))
        rows.sum_duplicates()
        rows.data[:] = 1
        counts = np.bincount(rows.indices, minlength=len(key))
        size = np.bincount(self.answer_of_row)[key // codes]
        single, shared = (self._weight_here(lightest, counts - n, size - n) * scales for n in (1, 2))
        weights = lightest * scales
        of_parts = np.column_stack([weights, single, np.ones(len(key))])
        starts = range(0, max(len(of_row), 1), CHUNK)  # a product makes 64-bit numbers of all entries
        length = np.concatenate([rows[start : start + CHUNK] @ of_parts for start in starts])
        return Parts(rows, key % codes, counts, weights, single, shared, length, first)

    def _weight_here(self, weight: np.ndarray, have: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return weights from the frequency inside the answer, smoothed with `PRIOR` pseudo-questions of the log.

        Args:
            weight: (parts,) weights in the log.
            have: (parts,) number of other questions of the answer that have the part.
            others: (parts,) number of other questions of the answer.
        """
        scale = np.log1p(self.questions)
        in_log = 1 / np.expm1(np.maximum(weight * scale, 1e-9))  # the inverse of TokenWeights.of
        seen = np.maximum(have, 0) + PRIOR * in_log
        here: np.ndarray = np.log1p((np.maximum(others, 0) + PRIOR) / seen) / scale
        return here


def rows_of(matrix: sparse.csr_array) -> np.ndarray:
    """Return the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def entries_of(matrix: sparse.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each entry of some rows, one row after the other, its row's place in ``rows`` and its own place."""
    counts = np.diff(matrix.indptr)[rows]
    return np.repeat(np.arange(len(rows)), counts), ranges(matrix.indptr[:-1][rows].astype(np.int64), counts)


def _in_chunks(words: int, pieces: np.ndarray | None) -> Iterator[tuple[slice, np.ndarray | slice]]:
    """Yield consecutive parts of words, and the word of each of them; `CHUNK` words at a time."""
    first = 0
    for start in range(0, words, CHUNK):
        some = slice(start, min(start + CHUNK, words))
        if pieces is None:
            yield some, some
        else:
            word = np.repeat(np.arange(some.start, some.stop), pieces[some])
            yield slice(first, first + len(word)), word
            first += len(word)
