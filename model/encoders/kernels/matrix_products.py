"""Matrix products that do not depend on what else is multiplied, on threads or on the processor.

weights -> ExactWeights.of -> ExactWeights.times(rows) -> float32 matrix

A BLAS library rounds a row's product by how many rows there are, by how it divides them between threads and by the
vector unit it finds. So both factors are rounded to a grid, a power of two for each row of the one and each column of
the other, with as many steps as keep every sum under 2**53 steps: a float64 holds such sums exactly, in whatever order
they are added (the idea of Ozaki et al. 2012, with one slice).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.arrays import Float64s, Int32s, Matrix

_EXACT_BITS = 53
"""Bits of a float64's significand."""

_ROW_BITS = 22
"""Most bits of a number of the left factor: adding 1.5 * 2**23 grid steps rounds a float32 to the grid up to here."""


@dataclasses.dataclass(frozen=True)
class ExactWeights:
    """The right factor of a product, prepared once.

    Attributes:
        rounded: (inputs, outputs), multiples of a power of two in each column.
        row_bits: bits that the numbers of the left factor keep.
    """

    rounded: Float64s
    row_bits: int

    @classmethod
    def of(cls, weights: npt.NDArray[np.floating[Any]]) -> ExactWeights:
        """Prepare weights of shape (inputs, outputs).

        With 300 inputs both factors keep 22 bits, with 1,200 inputs 21, of float32's 24: the error of the product is
        about that of a product in single precision.
        """
        bits = _EXACT_BITS - (len(weights) - 1).bit_length()
        row_bits = min(bits // 2, _ROW_BITS)
        steps = np.ldexp(1.0, _exponents(weights, axis=0) - (bits - row_bits))
        return cls(np.rint(weights / steps) * steps, row_bits)

    def times(self, rows: Matrix) -> Matrix:
        """Return ``rows @ weights``, (len(rows), outputs); a row of the result depends on its own row alone.

        Args:
            rows: (rows, inputs) float32, finite.
        """
        grids = np.ldexp(np.float32(1.5), _exponents(rows, axis=1) - self.row_bits + 23)[:, None]
        rounded = rows + grids
        rounded -= grids
        return np.asarray(rounded @ self.rounded, np.float32)


def _exponents(values: npt.NDArray[np.floating[Any]], *, axis: int) -> Int32s:
    """Return the exponent of the smallest power of two above the largest magnitude along an axis."""
    largest = np.maximum(values.max(axis=axis, initial=0), -values.min(axis=axis, initial=0))
    exponents: Int32s = np.frexp(largest)[1]
    return exponents
