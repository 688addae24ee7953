"""Matrix products that do not depend on what else is multiplied, on threads or on the processor.

weights -> ExactWeights.of -> ExactWeights.times(rows) -> float32 matrix

A BLAS library rounds a row's product by how many rows there are, by how it divides them between threads and by the
vector unit it finds. So both factors become integers, with as many bits as keep every sum under 2**53: a float64 holds
such sums exactly, in whatever order they are added (the idea of Ozaki et al. 2012, with one slice).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

_EXACT_BITS = 53
"""Bits of a float64's significand: integers of at most 2**53 are exact."""


@dataclasses.dataclass(frozen=True)
class ExactWeights:
    """The right factor of a product, prepared once.

    Attributes:
        integers: (inputs, outputs), the weights in units of their column's scale.
        scales: (outputs,), powers of two.
        row_bits: bits of each number of the left factor.
    """

    integers: npt.NDArray[np.float64]
    scales: npt.NDArray[np.float64]
    row_bits: int

    @classmethod
    def of(cls, weights: npt.NDArray[np.floating[Any]]) -> ExactWeights:
        """Prepare weights of shape (inputs, outputs).

        With 300 inputs both factors keep 22 bits, with 1,200 inputs 21, of float32's 24: the error of the product is
        about that of a product in single precision.
        """
        bits = _EXACT_BITS - (len(weights) - 1).bit_length()
        units = _powers_of_two(weights, axis=0) * 2.0 ** -((bits + 1) // 2)
        return cls(np.rint(weights / units), units, bits // 2)

    def times(self, rows: Matrix) -> Matrix:
        """Return ``rows @ weights``, (len(rows), outputs); a row of the result depends on its own row alone.

        Args:
            rows: (rows, inputs) float32, finite.
        """
        units = _powers_of_two(rows, axis=1)[:, None] * 2.0**-self.row_bits
        sums = np.rint(rows * (1 / units)) @ self.integers
        sums *= units
        sums *= self.scales
        return sums.astype(np.float32)


def _powers_of_two(values: npt.NDArray[np.floating[Any]], *, axis: int) -> npt.NDArray[np.float64]:
    """Return the smallest power of two above the largest magnitude along an axis."""
    _, exponents = np.frexp(np.abs(values).max(axis=axis, initial=0))
    return np.asarray(np.ldexp(1.0, exponents), np.float64)
