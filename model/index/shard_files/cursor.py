"""A cursor over the bytes of a shard, which checks every count before it is used.

bytes -> Cursor -> numbers, vectors; read_header -> dimension and number of vectors
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from model.encoders.tensors import all_finite
from schemas.quantities import counted

_EUCLIDEAN = 1
"""FAISS's number of the only metric of shards."""

BRAIN_FLOAT, _EXPONENT = "<u2", 0x7F80
"""The upper halves of 32-bit floats, and the bits that are all set in a number that is not finite."""


class Cursor:
    """A position in the bytes of a shard that advances with every read.

    Every method raises ValueError where the bytes do not fit, with the position.
    """

    def __init__(self, content: bytes | memoryview) -> None:
        self.content, self.place = content, 0

    def take(self, form: str) -> tuple[Any, ...]:
        """Return values, little-endian, of the format characters of `struct`."""
        size = struct.calcsize(f"<{form}")
        self.need(size)
        values = struct.unpack_from(f"<{form}", self.content, self.place)
        self.place += size
        return values

    def letters(self, *accepted: str) -> str:
        """Return the four letters of a class, which must be among the accepted ones."""
        [four] = self.take("4s")
        name = bytes(four).decode("latin-1")
        if name not in accepted:
            raise ValueError(f"at byte {self.place - 4:,}: {name!a} where {' or '.join(accepted)} is expected")
        return name

    def expect(self, what: str, actual: Any, expected: Any) -> None:
        """Check that two numbers are equal."""
        if actual != expected:
            raise ValueError(f"before byte {self.place:,}: {what} is {actual:,}, not {expected:,}")

    def vector(self, what: str, *, count: int, kind: str = "<f4") -> npt.NDArray[Any]:
        """Return a vector of ``count`` finite numbers that states its length."""
        [stated] = self.take("Q")
        self.expect(f"the number of {what}", stated, count)
        return self.numbers(what, count=count, kind=kind)

    def numbers(self, what: str, *, count: int, kind: str) -> npt.NDArray[Any]:
        """Return ``count`` finite numbers of a type; ``<u2`` are the upper halves of 32-bit floats."""
        self.need(count * np.dtype(kind).itemsize)
        values = np.frombuffer(self.content, kind, count, self.place)
        self.place += values.nbytes
        if not all_finite(values) or (kind == BRAIN_FLOAT and ((values & _EXPONENT) == _EXPONENT).any()):
            raise ValueError(f"before byte {self.place:,}: {what} that are infinite or no numbers")
        return values

    def need(self, size: int) -> None:
        """Check that the given number of bytes is left."""
        if size > len(self.content) - self.place:
            raise ValueError(f"ends at byte {len(self.content):,}, {size:,} are expected at byte {self.place:,}")


def read_header(cursor: Cursor) -> tuple[int, int]:
    """Return the dimension and number of vectors of an index; two further numbers are unused.

    Raises:
        ValueError: they are absurd, or the index is not trained or of another metric.
    """
    dimension, rows, _, _, trained, metric = cursor.take("iqqqBi")
    if dimension < 1 or rows < 0:
        raise ValueError(f"before byte {cursor.place:,}: {counted(rows, 'vector')} of dimension {dimension:,}")
    cursor.expect("the mark of a trained index", trained, 1)
    cursor.expect("the metric", metric, _EUCLIDEAN)
    return dimension, rows
