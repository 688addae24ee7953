"""Lines that are appended to a file of the state as a whole, or not at all.

lines -> appending -> the file, which is cut to its size before if something fails
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path


@contextlib.contextmanager
def appending(path: Path, lines: bytes) -> Iterator[None]:
    """Append lines and synchronise the file; if that or the block fails, the file is cut to its size before.

    Args:
        path: of the file, to which nobody else appends; it is made if it is missing.
        lines: whole ones, each with its end.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        is_cut = size > 0 and file.read(1) != b"\n"  # a killed process has left half a line
        content = b"\n" * is_cut + lines
        try:
            _write_whole(file, content)
            os.fsync(file.fileno())
            yield
        except BaseException:
            with contextlib.suppress(OSError):
                file.truncate(size)
            raise


def _write_whole(file: FileIO, content: bytes) -> None:
    if file.write(content) < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
