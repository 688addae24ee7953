"""Pages of a mapped table that are resident although nothing reads them any more.

array over a mapped file -> release -> the same array, its pages on disk or in the cache of the system
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt


def release(array: npt.NDArray[Any]) -> bool:
    """Give the pages of the whole file behind an array back; they are read again when they are needed.

    The table of an encoder, 106 MB, would be resident after a few hundred questions: the n-grams of a word are spread
    over it, and a read of one maps 64 kB.

    Returns:
        False where the array is no view of a mapped file; then nothing is done.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    mapped = base.obj if isinstance(base, memoryview) else base
    if not isinstance(mapped, mmap.mmap):
        return False
    mapped.madvise(mmap.MADV_DONTNEED)
    return True
