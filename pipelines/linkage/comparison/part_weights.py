"""Weights of parts of questions, such as stems, inside an answer.

rows, codes, weights -> Partition.parts -> Parts
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import pyarrow as pa
from scipy import sparse

PRIOR: Final = 5.0
"""How many imagined questions speak for a part's frequency in the whole log when it is counted inside an answer."""


@dataclasses.dataclass(frozen=True)
class Parts:
    """The parts of R rows; a part is one of its answer's own, so answers share none.

    Attributes:
        rows: (R, parts) float32 of zeros and ones.
        code: (parts,) what the part is.
        counts: (parts,) int64, rows that have the part.
        weight: (parts,) its inverse document frequency, 1 for a rare word of a large log; pieces share a word's.
        weight_of_single: (parts,) the same, with its frequency among the answer's other questions taken for the log's:
            what it says when one of two questions has it.
        weight_of_shared: (parts,) when both have it.
        length: (R, 3) sums of ``weight``, ``weight_of_single`` and 1 over the parts of each row.
    """

    rows: sparse.csr_array
    code: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    weight_of_single: np.ndarray
    weight_of_shared: np.ndarray
    length: np.ndarray


@dataclasses.dataclass(frozen=True)
class Partition:
    """The answers of a shard.

    Attributes:
        answer_of_row: (R,) int64 ascending from 0.
        questions: how many a log needs for a word that is in one of them to weigh 1.
    """

    answer_of_row: np.ndarray
    questions: int

    def parts(self, row: np.ndarray, code: np.ndarray, weight: np.ndarray, scale: np.ndarray) -> Parts:
        """Return what the rows have.

        Args:
            row: (N,) int64.
            code: (N,) int64, what the row has; repeats count once.
            weight: (N,) in (0, 1]; of the forms of a part in an answer the most frequent, so lightest, one counts.
            scale: (N,) what to multiply the part's weights by.
        """
        codes = int(code.max(initial=0)) + 1
        coded = pa.array(self.answer_of_row[row] * codes + code).dictionary_encode()
        part, key = coded.indices.to_numpy(), coded.dictionary.to_numpy()
        rows = sparse.csr_array(
            (np.ones(len(part), np.float32), (row, part)), shape=(len(self.answer_of_row), len(key))
        )
        rows.sum_duplicates()
        rows.data[:] = 1
        lightest, scales = np.full(len(key), np.inf), np.full(len(key), np.inf)
        np.minimum.at(lightest, part, weight)
        np.minimum.at(scales, part, scale)
        counts = np.bincount(rows.indices, minlength=len(key))
        size = np.bincount(self.answer_of_row)[key // codes]
        single, shared = (self._weight_here(lightest, counts - n, size - n) * scales for n in (1, 2))
        weights = lightest * scales
        length = np.column_stack([rows @ weights, rows @ single, rows @ np.ones(len(key))])
        return Parts(rows, key % codes, counts, weights, single, shared, length)

    def _weight_here(self, weight: np.ndarray, have: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the weights when ``have`` of ``others`` in the answer are seen as well as `PRIOR` of the log."""
        most = np.log1p(self.questions)
        in_log = 1 / np.expm1(np.maximum(weight * most, 1e-9))  # the inverse of TokenWeights.of
        seen = np.maximum(have, 0) + PRIOR * in_log
        here: np.ndarray = np.log1p((np.maximum(others, 0) + PRIOR) / seen) / most
        return here
