"""The claim on a local folder: a file that the kernel keeps locked for as long as its process lives.

path, holder -> LocalClaim; a killed process has none, so the next one need not wait
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time

from schemas.artifacts.holder import Holder, held

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
"""The errors of a file system without locks: some that are mounted over a network."""

_LOOKS, _PAUSE_S = 10, 0.01
"""How often, and how long apart, to read who holds a lock: its file is written just after it is locked."""

_open: set[int] = set()
"""Descriptors of this process's locks. A forked child has copies, which would keep a lock when its parent is dead."""


class NoLocksError(Exception):
    """The file system has no locks."""


class LocalClaim:
    """A lock on the file ``path``.

    ``flock`` belongs to the open file, so two threads of a process exclude each other as two processes do.

    Args:
        path: of the file; its folder is made.
        url: of the output, for messages.
        holder: this run.

    Raises:
        HeldError: a living process has it.
        NoLocksError: nobody can lock files there.
        OSError: the file cannot be made.
    """

    def __init__(self, path: str, *, url: str, holder: Holder) -> None:
        self._path, self._process = path, os.getpid()
        self._lock: int | None = _locked(path, url)
        _open.add(self._lock)
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, holder.content(), 0)

    def holds(self) -> bool:
        """Return whether the claim still stands: nobody removed the folder or the file."""
        return self._lock is not None and _is_at(self._lock, self._path)

    def taker(self) -> Holder | None:
        """Return the run that holds the place now."""
        with contextlib.suppress(OSError), open(self._path, "rb") as file:
            return Holder.parse(file.read())
        return None

    def release(self) -> None:
        """Remove the file, then unlock it; a forked child releases nothing."""
        lock, self._lock = self._lock, None
        if lock is None or os.getpid() != self._process:
            return
        with contextlib.suppress(OSError):
            if _is_at(lock, self._path):
                os.unlink(self._path)
        _open.discard(lock)
        os.close(lock)


def _locked(path: str, url: str) -> int:
    """Return the descriptor of the file, locked."""
    while True:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # a run that ended has just removed its empty folder
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                return lock
            os.close(lock)  # the file of a run that has just ended
        except OSError as error:
            holder = _holder_of(lock) if isinstance(error, BlockingIOError) else None
            os.close(lock)
            if isinstance(error, BlockingIOError):
                raise held(url, holder) from None
            if error.errno in _NO_LOCKS:
                os.unlink(path)
                raise NoLocksError(path) from error
            raise


def _is_at(lock: int, path: str) -> bool:
    """Return whether an open file is the one that has the path; its last holder may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except FileNotFoundError:
        return False


def _holder_of(lock: int) -> Holder | None:
    for _ in range(_LOOKS):
        holder = Holder.parse(os.pread(lock, 1 << 16, 0))
        if holder and not holder.is_dead:  # else it is what a killed process left, and the next one has just locked it
            return holder
        time.sleep(_PAUSE_S)
    return None


def _close_inherited() -> None:
    for lock in _open:
        os.close(lock)
    _open.clear()


os.register_at_fork(after_in_child=_close_inherited)
