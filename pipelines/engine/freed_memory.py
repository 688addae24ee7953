"""Settings for freed memory.

process -> keep_freed_memory, share_freed_memory -> the next step takes what the last one left
process -> give_back_freed_memory -> the system has what was freed
"""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import pyarrow as pa

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of mallopt's parameters in glibc."""

_USUAL = 32 * 2**20
"""Size of the largest blocks that glibc keeps by itself."""


class _HeapStatistics(ctypes.Structure):
    """What glibc's mallinfo2 returns."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    ]


class _Start:
    """Bytes of the process when it began to keep freed memory."""

    size = 0


def _size() -> int:
    """Return the resident bytes of this process, 0 where the system has no such count."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0


def _growth() -> int:
    return _size() - _Start.size


def keep_freed_memory(*, below: int = 2**30) -> bool:
    """Keep freed blocks of fewer bytes in this process instead of giving them back; return whether the library can.

    A training step, or a step of a pipeline, takes arrays of some megabytes and frees them again. To have the same
    pages taken away and cleared again was 9 to 19 % of the CPU seconds of training on Linux, and 13 % of those of a
    pipeline. Other C libraries than glibc are left as they are.

    The size of the process now is what `give_back_freed_memory` and `trim_freed_memory` compare its later size with.
    """
    _Start.size = _size()
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return False
    return bool(set_option(_MMAP_THRESHOLD, below)) and bool(set_option(_TRIM_THRESHOLD, below))


def give_back_freed_memory() -> None:
    """Give freed blocks back to the system now, and later ones as usual, where the C library is glibc.

    What follows a pipeline has little use for what it left: 500 MB beside the graph of half a million questions. After
    a small one nothing is given back: to look through all blocks can take longer than the pipeline.
    """
    grown = _growth()
    if keep_freed_memory(below=_USUAL) and grown > _USUAL:
        ctypes.CDLL(None).malloc_trim(0)


def trim_freed_memory(*, above: int) -> bool:
    """Give freed blocks back to the system now if they have more than ``above`` bytes; return whether that was so.

    A process that has not grown by as much since `keep_freed_memory` is not looked through. Other C libraries than
    glibc, and its versions before 2.33, are left as they are.
    """
    if _growth() <= above:
        return False
    try:
        library = ctypes.CDLL(None)
        statistics = library.mallinfo2
        trim = library.malloc_trim
    except (AttributeError, OSError, TypeError):
        return False
    statistics.restype = _HeapStatistics
    return bool(statistics().fordblks > above) and bool(trim(0))


def share_freed_memory() -> None:
    """Make Arrow take its memory from the C library, as numpy does.

    Arrow's own allocators keep what they free from numpy and give it back to the system after a moment: half of the
    system time of a pipeline and a tenth of its memory.
    """
    pa.set_memory_pool(pa.system_memory_pool())
