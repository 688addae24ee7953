"""Lines that are appended to a file of the state as a whole, or not at all.

lines -> AppendedFile.append -> the file, which is cut to its size before if something fails
lines -> AppendedFile.appending -> the file, from which they are removed if the block fails
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from schemas.artifacts.atomic_files import write_atomically

_COPIED: Final = 1 << 20
"""Bytes that are copied at a time."""


class AppendedFile:
    """A file to which threads append lines.

    Args:
        path: of the file, to which no other process appends; it is made if it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        self._blocks = threading.Lock()  # of `appending`: two removals would shift one another's lines

    def append(self, lines: bytes) -> None:
        """Append lines and synchronise the file; it does not wait for a block of `appending`.

        Args:
            lines: whole ones, each with its end.

        Raises:
            OSError: the file cannot be written.
        """
        with self._writing:
            self._append(lines)

    @contextlib.contextmanager
    def appending(self, lines: bytes) -> Iterator[None]:
        """Append lines as `append` does; if the block fails, they are removed, and what others appended stays.

        Where they cannot be removed, or the file was moved away meanwhile, they stay.

        Args:
            lines: whole ones, each with its end.

        Raises:
            OSError: the file cannot be written.
        """
        with self._blocks:
            with self._writing:  # not while the block runs: it may write to a slow store
                before, start = self._append(lines)
            try:
                yield
            except BaseException:
                with self._writing, contextlib.suppress(OSError):
                    self._remove(lines, before, start)
                raise

    def _append(self, lines: bytes) -> tuple[int, int]:
        """Append lines; return the size of the file before and the place of the first line."""
        with self.path.open("ab+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            is_cut = size > 0 and file.read(1) != b"\n"  # a killed process has left half a line
            try:
                _write_whole(file, b"\n" * is_cut + lines)
                os.fsync(file.fileno())
            except BaseException:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
        return size, size + is_cut

    def _remove(self, lines: bytes, before: int, start: int) -> None:
        """Remove lines; the file is replaced if there are others after them, so that a killed process loses none."""
        with self.path.open("rb+") as file:
            file.seek(start)
            if file.read(len(lines)) != lines:
                return
            later = file.read()
            if not later:
                file.truncate(before)
                return
            file.seek(0)
            with write_atomically(str(self.path)) as staged:
                for place in range(0, start, _COPIED):
                    staged.write(file.read(min(_COPIED, start - place)))
                staged.write(later)


def _write_whole(file: FileIO, content: bytes) -> None:
    if file.write(content) < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
