"""Features from the other questions of an answer: resemblance to the same ones.

pairs with their resemblance -> Neighbours.profiles, .standing -> figures a pair
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy import sparse

from schemas.ragged import sizes_of_runs, starts_of_runs

DENSE: Final = 1 << 21
"""Cells of the square matrices that are multiplied together; bounds memory."""


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """The candidate pairs of some answers as a graph whose edges are weighted with the resemblance.

    Attributes:
        left: (P,) rows, ordered by answer, then left and right row.
        right: (P,) other rows of the same answers, greater than ``left``.
        alike: (P,) in [0, 1].
        answer_of_row: (R,) ascending from 0.
    """

    left: np.ndarray
    right: np.ndarray
    alike: np.ndarray
    answer_of_row: np.ndarray

    def profiles(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how the resemblances of a pair's two questions to all others of the answer correlate and differ.

        Returns:
            (P,) correlation in [-1, 1], 0 where there are fewer than two others; (P,) root of the mean square of the
            differences, 0 where there is no other.
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
        """Return how many partners the left, and the right, question of each pair resembles more."""
        row = np.concatenate([self.left, self.right])
        alike = np.concatenate([self.alike, self.alike])
        order = np.lexsort((-alike, row))
        starts = starts_of_runs(row[order])
        ordered = alike[order]
        changed = np.ones(len(row), bool)
        changed[1:] = ordered[1:] != ordered[:-1]
        changed[starts] = True
        first_equal = np.maximum.accumulate(np.where(changed, np.arange(len(row)), 0))
        better = np.empty(len(row), np.int64)
        better[order] = first_equal - np.repeat(starts, sizes_of_runs(starts, len(row)))
        return better[: len(self.left)], better[len(self.left) :]

    def _over_rows(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of ``values`` over all pairs of each pair's left, and right, question: (2, P)."""
        rows = len(self.answer_of_row)
        total = np.bincount(self.left, values, rows) + np.bincount(self.right, values, rows)
        return np.stack([total[self.left], total[self.right]])

    def _products(self, sizes: np.ndarray, answer: np.ndarray) -> np.ndarray:
        """Return for each pair the sum over third questions of the product of both resemblances."""
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
        graph = sparse.csr_array((np.concatenate([alike, alike]), both), shape=(rows, rows))
        dot = np.empty(len(pairs))
        for start in range(0, len(pairs), DENSE >> 5):
            part = slice(start, start + (DENSE >> 5))
            dot[part] = graph[left[part]].multiply(graph[right[part]]).sum(axis=1)
        return dot


def _in_batches(starts: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield the places of the pairs of some answers of ``size`` questions, (answers, pairs)."""
    at_once = max(DENSE // (size * size), 1)
    for first in range(0, len(starts), at_once):
        yield starts[first : first + at_once, None] + np.arange(size * (size - 1) // 2)


def _of_squares(alike: np.ndarray, size: int) -> np.ndarray:
    """Return the entries above the diagonal of S @ S, where S holds ``alike``, (answers, pairs), its diagonal 0."""
    square = np.zeros((len(alike), size, size))
    one, two = np.triu_indices(size, 1)
    square[:, one, two] = square[:, two, one] = alike
    product: np.ndarray = (square @ square)[:, one, two]
    return product
