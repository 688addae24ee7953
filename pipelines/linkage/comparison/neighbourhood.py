"""Features of a pair that depend on the similarities of its questions to the other questions of the answer.

pairs with their similarity -> Neighbours.profiles, .standing -> two features a pair each
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy import sparse

from pipelines.neighbours.similarity import products
from schemas.ragged import sizes_of_runs, starts_of_runs

DENSE: Final = 1 << 21
"""Maximum number of cells of the square matrices that are multiplied together; bounds memory."""


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """Graph of the candidate pairs of some answers, with the similarities as edge weights.

    Attributes:
        left: (P,) rows, ordered by answer, then left and right row.
        right: (P,) other rows of the same answers, greater than ``left``.
        alike: (P,) float32 similarities in [0, 1].
        answer_of_row: (R,) number of each row's answer, ascending from 0.
    """

    left: np.ndarray
    right: np.ndarray
    alike: np.ndarray
    answer_of_row: np.ndarray

    def profiles(self) -> tuple[np.ndarray, np.ndarray]:
        """Return correlation and difference of the similarities of a pair's two questions to all other questions.

        Returns:
            (P,) correlation in [-1, 1], 0 if the answer has fewer than two other questions; (P,) root mean square of
            the differences, 0 if it has no other question.
        """
        sizes = np.bincount(self.answer_of_row)
        answer = self.answer_of_row[self.left]
        others = (sizes[answer] - 2).astype(float)
        total, squares = self._over_rows(self.alike), self._over_rows(self.alike**2)
        one, two = total[0] - self.alike, total[1] - self.alike
        one_2, two_2 = squares[0] - self.alike**2, squares[1] - self.alike**2
        dot = self._products(sizes, answer)
        number = np.maximum(others, 1)
        spread = np.maximum(one_2 - one * one / number, 0) * np.maximum(two_2 - two * two / number, 0)
        correlation = np.where(
            (others > 1) & (spread > 1e-9), (dot - one * two / number) / np.sqrt(np.maximum(spread, 1e-9)), 0
        )
        return np.clip(correlation, -1, 1), np.sqrt(np.maximum(one_2 + two_2 - 2 * dot, 0) / number)

    def standing(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, for the left and right question of each pair, the number of partners with a higher similarity."""
        # one integer for row and falling similarity: bits of a positive float32 rise with it
        falling = 0xFFFFFFFF - self.alike.astype(np.float32).view(np.uint32).astype(np.int64)
        keys = np.concatenate([self.left << 32 | falling, self.right << 32 | falling])
        order = np.argsort(keys)
        ordered = keys[order]
        starts, equal = starts_of_runs(ordered >> 32), starts_of_runs(ordered)
        first_equal = np.repeat(equal, sizes_of_runs(equal, len(keys)))
        better = np.empty(len(keys), np.int64)
        better[order] = first_equal - np.repeat(starts, sizes_of_runs(starts, len(keys)))
        return better[: len(self.left)], better[len(self.left) :]

    def _over_rows(self, values: np.ndarray) -> np.ndarray:
        """Return the (2, P) sums of ``values`` over all pairs of each pair's left question and right question."""
        rows = len(self.answer_of_row)
        total = np.bincount(self.left, values, rows) + np.bincount(self.right, values, rows)
        return np.stack([total[self.left], total[self.right]])

    def _products(self, sizes: np.ndarray, answer: np.ndarray) -> np.ndarray:
        """Return for each pair the sum, over all third questions, of the product of their similarities to the two."""
        dot = np.zeros(len(self.left))
        counts = np.bincount(answer, minlength=len(sizes))
        starts = np.cumsum(counts) - counts
        complete = counts == sizes * (sizes - 1) // 2
        for size in np.unique(sizes[complete & (sizes > 2)]).tolist():
            answers = np.flatnonzero(complete & (sizes == size))
            for places in _in_batches(starts[answers], size):
                dot[places] = _of_squares(self.alike[places], size)
        partial = np.flatnonzero(~complete[answer])
        if len(partial):
            dot[partial] = self._of_graph(partial)
        return dot

    def _of_graph(self, pairs: np.ndarray) -> np.ndarray:
        rows = len(self.answer_of_row)
        left, right, alike = self.left[pairs], self.right[pairs], self.alike[pairs]
        both = (np.concatenate([left, right]), np.concatenate([right, left]))
        graph = sparse.csr_array((np.concatenate([alike, alike]).astype(np.float32), both), shape=(rows, rows))
        return products(graph, left, right)


def _in_batches(starts: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield (answers, pairs) positions of the pairs of answers of ``size`` questions, at most `DENSE` cells each."""
    at_once = max(DENSE // (size * size), 1)
    for first in range(0, len(starts), at_once):
        yield starts[first : first + at_once, None] + np.arange(size * (size - 1) // 2)


def _of_squares(alike: np.ndarray, size: int) -> np.ndarray:
    """Return the (answers, pairs) entries above the diagonal of S @ S; S contains ``alike``, with a zero diagonal."""
    square = np.zeros((len(alike), size, size))
    one, two = np.triu_indices(size, 1)
    square[:, one, two] = square[:, two, one] = alike
    product: np.ndarray = (square @ square)[:, one, two]
    return product
