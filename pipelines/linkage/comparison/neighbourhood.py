"""Features of a pair that depend on the similarities of its questions to the other questions of the answer.

pairs with their similarity -> Neighbours.rivals, .profiles, .standing -> two features a pair each
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy import sparse

from pipelines.neighbours.similarity import products
from schemas.compiled import load_loops
from schemas.ragged import offsets_of, pairs_in_runs

EVERY: Final = slice(None)
"""All pairs."""

DENSE: Final = 1 << 21
"""Maximum number of cells of the square matrices that are multiplied together; bounds memory."""


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """Graph of the candidate pairs of some answers, with the similarities as edge weights.

    Each method returns the figures of some of the pairs, in their order; what they need of all pairs is computed once
    and takes a few bytes a pair.

    Attributes:
        left: (P,) rows, ordered by answer, then left and right row.
        right: (P,) other rows of the same answers, greater than ``left``.
        alike: (P,) float32 similarities, at least 0.
        answer_of_row: (R,) number of each row's answer, ascending from 0.
    """

    left: np.ndarray
    right: np.ndarray
    alike: np.ndarray
    answer_of_row: np.ndarray

    def rivals(self, part: slice = EVERY) -> tuple[np.ndarray, np.ndarray]:
        """Return the maximum similarity of each pair's two questions to a third question, 0 if there is none."""
        best, second = self._best_two
        alike = self.alike[part]
        of_left, of_right = (
            np.where(alike == best[side], second[side], best[side]) for side in (self.left[part], self.right[part])
        )
        return of_left, of_right

    def profiles(self, part: slice = EVERY) -> tuple[np.ndarray, np.ndarray]:
        """Return correlation and difference of the similarities of a pair's two questions to all other questions.

        Similarities are at most 1.

        Returns:
            (part,) correlation in [-1, 1], 0 if the answer has fewer than two other questions; (part,) root mean square
            of the differences, 0 if it has no other question.
        """
        left, right, alike, dot = self.left[part], self.right[part], self.alike[part], self._products[part]
        others = (self._sizes[self.answer_of_row[left]] - 2).astype(float)
        total, squares = self._totals
        left_sum, right_sum = total[left] - alike, total[right] - alike
        left_squares, right_squares = squares[left] - alike**2, squares[right] - alike**2
        number = np.maximum(others, 1)
        spread = np.maximum(left_squares - left_sum * left_sum / number, 0) * np.maximum(
            right_squares - right_sum * right_sum / number, 0
        )
        correlation = np.where(
            (others > 1) & (spread > 1e-9), (dot - left_sum * right_sum / number) / np.sqrt(np.maximum(spread, 1e-9)), 0
        )
        return np.clip(correlation, -1, 1), np.sqrt(np.maximum(left_squares + right_squares - 2 * dot, 0) / number)

    def standing(self, part: slice = EVERY) -> tuple[np.ndarray, np.ndarray]:
        """Return, for the left and right question of each pair, the number of partners with a higher similarity."""
        falling = _falling(self.alike[part])
        of_left, of_right = (
            self._count_before(side, side << 32 | falling) for side in (self.left[part], self.right[part])
        )
        return of_left, of_right

    def _count_before(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return for each of some rows the number of its values in `_ordered` that are smaller than another value."""
        if (loops := load_loops("pipelines.linkage.comparison.numba_kernels", len(rows))) is None:
            places: np.ndarray = np.searchsorted(self._ordered, values) - self._places[rows]
            return places
        counts = np.empty(len(rows), np.int64)
        loops.count_before(self._ordered, self._places, rows, values, counts)
        return counts

    @functools.cached_property
    def _sizes(self) -> np.ndarray:
        """Return the number of questions of each answer."""
        return np.bincount(self.answer_of_row)

    @functools.cached_property
    def _best_two(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the highest and the second highest similarity of each row."""
        rows = len(self.answer_of_row)
        # of another type than the similarities `numpy.maximum.at` takes a hundred times as long
        best, second = np.zeros((2, rows), self.alike.dtype)
        ties = np.zeros(rows, np.int64)
        for side in (self.left, self.right):
            np.maximum.at(best, side, self.alike)
        for side in (self.left, self.right):
            is_best = self.alike == best[side]
            ties += np.bincount(side[is_best], minlength=rows)
            np.maximum.at(second, side[~is_best], self.alike[~is_best])
        return best, np.where(ties > 1, best, second)

    @functools.cached_property
    def _ordered(self) -> np.ndarray:
        """Return one integer for row and falling similarity of each side of each pair, ascending."""
        falling = _falling(self.alike)
        ordered = np.concatenate([self.left << 32 | falling, self.right << 32 | falling])
        ordered.sort()  # in place, as `numpy.sort` does not
        return ordered

    @functools.cached_property
    def _places(self) -> np.ndarray:
        """Return the bounds of each row's pairs in `_ordered`."""
        sides = np.bincount(self.left, minlength=len(self.answer_of_row))
        sides += np.bincount(self.right, minlength=len(self.answer_of_row))
        return offsets_of(sides)

    @functools.cached_property
    def _totals(self) -> np.ndarray:
        """Return the (2, R) sums of the similarities of each row and of their squares."""
        rows = len(self.answer_of_row)
        return np.stack(
            [
                np.bincount(self.left, values, rows) + np.bincount(self.right, values, rows)
                for values in (self.alike, self.alike**2)
            ]
        )

    @functools.cached_property
    def _products(self) -> np.ndarray:
        """Return for each pair the sum, over all third questions, of the product of their similarities to the two."""
        sizes, answer = self._sizes, self.answer_of_row[self.left]
        dot = np.zeros(len(self.left))
        counts = np.bincount(answer, minlength=len(sizes))
        starts = np.cumsum(counts) - counts
        complete = counts == pairs_in_runs(sizes)
        for size in np.unique(sizes[complete & (sizes > 2)]).tolist():
            answers = np.flatnonzero(complete & (sizes == size))
            for places in _in_batches(starts[answers], size):
                dot[places] = _of_squares(self.alike[places], size)
        if not complete.any():
            return self._of_graph(EVERY)
        partial = np.flatnonzero(~complete[answer])
        if len(partial):
            dot[partial] = self._of_graph(partial)
        return dot

    def _of_graph(self, pairs: np.ndarray | slice) -> np.ndarray:
        rows = len(self.answer_of_row)
        left, right, alike = self.left[pairs], self.right[pairs], self.alike[pairs].astype(np.float32)
        row, column = left.astype(np.int32), right.astype(np.int32)  # of 32 bits, which scipy does not choose by itself
        both = np.concatenate([row, column]), np.concatenate([column, row])
        graph = sparse.csr_array((np.concatenate([alike, alike]), both), shape=(rows, rows))
        return products(graph, left, right)


def _falling(alike: np.ndarray) -> np.ndarray:
    """Return integers that fall as similarities rise, and are equal for equal ones: bits of a positive float32 rise."""
    falling: np.ndarray = 0xFFFFFFFF - alike.astype(np.float32).view(np.uint32).astype(np.int64)
    return falling


def _in_batches(starts: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield (answers, pairs) positions of the pairs of answers of ``size`` questions, at most `DENSE` cells each."""
    at_once = max(DENSE // (size * size), 1)
    for first in range(0, len(starts), at_once):
        yield starts[first : first + at_once, None] + np.arange(size * (size - 1) // 2)


def _of_squares(alike: np.ndarray, size: int) -> np.ndarray:
    """Return the (answers, pairs) entries above the diagonal of S @ S; S contains ``alike``, with a zero diagonal."""
    square = np.zeros((len(alike), size, size))
    row, column = np.triu_indices(size, 1)
    square[:, row, column] = square[:, column, row] = alike
    product: np.ndarray = (square @ square)[:, row, column]
    return product
