"""Rows of a table that may be mapped from a file, and pages of it that nothing reads any more.

table, numbers -> TableRows.of -> rows; array over a mapped file -> release -> the same array, its pages given back
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.artifacts.verified_files.files import MappedFile


class TableRows:
    """Rows of a table, read from its file where it is mapped.

    A page fault on a row maps 64 kB and takes five times as long as a read of it, and the pages would have to be given
    back.

    Args:
        table: (rows, dimension); a mapped one is not copied.
    """

    def __init__(self, table: npt.NDArray[Any]) -> None:
        self._table, self._file = table, _mapped_file(table)
        self._size, self._start = table.strides[0], 0
        if self._file is not None:
            mapped = np.frombuffer(self._file, np.uint8)
            self._start = table.ctypes.data - mapped.ctypes.data

    def of(self, numbers: Sequence[int]) -> npt.NDArray[Any]:
        """Return some rows, (len(numbers), dimension)."""
        if self._file is None:
            return self._table[numbers]
        size, start, file = self._size, self._start, self._file.descriptor
        content = b"".join([os.pread(file, size, start + size * number) for number in numbers])
        return np.frombuffer(content, self._table.dtype).reshape(len(numbers), self._table.shape[1])


def release(array: npt.NDArray[Any]) -> bool:
    """Give the pages of the whole file behind an array back; they are read again when they are needed.

    The table of an encoder, 106 MB, would be resident after a few hundred questions: the n-grams of a word are spread
    over it, and a read of one maps 64 kB.

    Returns:
        False where the array is no view of a mapped file; then nothing is done.
    """
    mapped = _mapping(array)
    if mapped is None:
        return False
    mapped.madvise(mmap.MADV_DONTNEED)
    return True


def _mapping(array: npt.NDArray[Any]) -> mmap.mmap | None:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    mapped = base.obj if isinstance(base, memoryview) else base
    return mapped if isinstance(mapped, mmap.mmap) else None


def _mapped_file(table: npt.NDArray[Any]) -> MappedFile | None:
    """Return the file behind a table whose rows follow each other in it, None where there is none."""
    mapped = _mapping(table)
    return mapped if isinstance(mapped, MappedFile) and table.flags.c_contiguous and hasattr(os, "pread") else None
