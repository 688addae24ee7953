"""The lock on a local folder: a file that the kernel keeps locked for as long as its process lives.

path, owner -> LocalLock; a killed process has none, so the next run does not wait
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time

from schemas.artifacts.output_lock.owner import Owner, locked_error
from schemas.errors import QprError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL})
"""The errors of a file system without locks: some that are mounted over a network; ENOTSUP is a number of its own on
macOS alone."""

_READS, _PAUSE_S = 10, 0.01
"""Number of reads of a lock's owner, and the time between them: its file is written just after it is locked."""

_open: set[int] = set()
"""Descriptors of this process's locks. A forked child has copies, which would keep a lock when its parent is dead."""


class NoLocksError(Exception):
    """The file system has no locks."""


class LocalLock:
    """A lock on the file ``path``.

    ``flock`` belongs to the open file, so two threads of a process exclude each other as two processes do.

    Args:
        path: of the file; its folder is made.
        url: of the output, for messages.
        owner: this run.

    Raises:
        LockedError: a living process has it.
        NoLocksError: the file system has no locks.
        QprError: the file is a link.
        OSError: the file cannot be made.
    """

    def __init__(self, path: str, *, url: str, owner: Owner) -> None:
        self._path, self._process = path, os.getpid()
        self._lock: int | None = _locked(path, url)
        _open.add(self._lock)
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, owner.content(), 0)

    def is_held(self) -> bool:
        """Return whether this run still has the lock: neither the folder nor the file was removed."""
        return self._lock is not None and _is_at(self._lock, self._path)

    def owner(self) -> Owner | None:
        """Return the run that has the lock now."""
        with contextlib.suppress(OSError), open(self._path, "rb") as file:
            return Owner.parse(file.read())
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
            lock = _opened(path)
        except FileNotFoundError:  # a run that ended has just removed its empty folder
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                return lock
            os.close(lock)  # the file of a run that has just ended
        except OSError as error:
            owner = _owner_of(lock) if isinstance(error, BlockingIOError) else None
            os.close(lock)
            if isinstance(error, BlockingIOError):
                raise locked_error(url, owner) from None
            if error.errno in _NO_LOCKS:
                os.unlink(path)
                raise NoLocksError(path) from error
            raise


def _opened(path: str) -> int:
    """Return the descriptor of the file, which is made if it is missing.

    Raises:
        QprError: it is a link, as in a folder from elsewhere. The file to which it leads would be overwritten.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise QprError(f"{path}: is a link, not the file of a lock. Remove it") from error


def _is_at(lock: int, path: str) -> bool:
    """Return whether an open file is the one that has the path; its last owner may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except FileNotFoundError:
        return False


def _owner_of(lock: int) -> Owner | None:
    for _ in range(_READS):
        owner = Owner.parse(os.pread(lock, 1 << 16, 0))
        if owner and not owner.is_dead:  # a dead owner's file is about to be replaced by the run that locked it
            return owner
        time.sleep(_PAUSE_S)
    return None


def _close_inherited() -> None:
    for lock in _open:
        os.close(lock)
    _open.clear()


os.register_at_fork(after_in_child=_close_inherited)
