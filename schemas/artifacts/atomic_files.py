"""Atomic writes of local files and folders: written beside their place, then renamed.

path -> write_atomically, fill_atomically -> a file or a folder to write to -> the path; path -> lock_replacement
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from typing import BinaryIO

_STAGED = re.compile(r"(.+)\.[0-9a-f]{8}\.partial")
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})
"""The errors of a file system without hard links, such as FAT; the fourth is another number on macOS alone."""


@contextlib.contextmanager
def write_atomically(path: str, *, new: bool = False) -> Iterator[BinaryIO]:
    """Open a file beside a local ``path`` and rename it to ``path`` when the block ends without an error.

    A file that it replaces passes its permissions on, so that a private one stays private.

    Args:
        path: the final name.
        new: fail if the path exists.

    Raises:
        FileExistsError: with ``new``, the path exists when the block ends.
    """
    staged = _staged(path)
    mode = _permissions(path)
    try:
        with open(staged, "xb", opener=functools.partial(os.open, mode=mode or 0o666)) as file:
            if mode is not None:
                with contextlib.suppress(OSError):  # a file system without permissions; the umask only took some away
                    os.chmod(staged, mode)
            yield file
        with open(staged, "rb") as file:  # Arrow closes what it compresses into, so it is synchronised from here
            os.fsync(file.fileno())
        _place_new(staged, path) if new else os.replace(staged, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(staged)
        raise
    synchronise_folder(os.path.dirname(path) or ".")


@contextlib.contextmanager
def fill_atomically(path: str) -> Iterator[str]:
    """Give the name of a new folder beside a local ``path``; rename it when the block ends without an error.

    Raises:
        OSError: the path exists when the block ends, and is no empty folder.
    """
    staged = _staged(path)
    try:
        yield staged
        os.rename(staged, path)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    synchronise_folder(os.path.dirname(path) or ".")


@contextlib.contextmanager
def lock_replacement(path: str) -> Iterator[None]:
    """Keep other blocks, in all threads and processes, from replacing a local file, where its file system has locks.

    The file is its own lock. A block that waited has locked the file that was replaced, so it has to compare the
    content at ``path`` before it writes.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # no file, or a file system without locks
            file = os.open(path, os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY)  # NFS locks for writers only
            stack.callback(os.close, file)
            fcntl.flock(file, fcntl.LOCK_EX)
            stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open too
        yield


def _permissions(path: str) -> int | None:
    """Return the permissions of a file, which its owner can read at least; None where there is none."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode) | stat.S_IRUSR
    except OSError:
        return None


def _staged(path: str) -> str:
    return f"{path}.{secrets.token_hex(4)}.partial"  # process ids of two containers can be equal


def _place_new(staged: str, path: str) -> None:
    """Rename a file to a name that does not exist; a link fails where a rename would replace."""
    try:
        os.link(staged, path)
    except FileExistsError:
        if not os.path.samefile(staged, path):  # NFS repeats a lost request, and finds its own link
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):  # not in one step, so only the lock keeps two runs from doing this at once
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
        os.replace(staged, path)
        return
    with contextlib.suppress(OSError):  # the file has its place
        os.unlink(staged)


def synchronise_folder(folder: str) -> None:
    """Make a rename durable; where the file system cannot, the file is complete anyway."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def staged_for(name: str) -> str | None:
    """Return the final name of a partial file or folder that a killed process has left; None for other files."""
    match = _STAGED.fullmatch(name)
    return match and match[1]
