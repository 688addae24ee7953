"""Lock of an output, so that one run writes to it at a time.

output's URL, owner -> acquire -> LocalLock or Lease; held holds it for a block
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from typing import Protocol

from schemas.artifacts import storage
from schemas.artifacts.output_lock.lease import LEASES, Lease
from schemas.artifacts.output_lock.local_lock import LocalLock, NoLocksError
from schemas.artifacts.output_lock.owner import Owner, new_run_id

LOCK = "lock.json"
"""The file of a local lock."""

NAMES = frozenset({LOCK, LEASES})
"""Files and folders that a killed process may leave in an output's folder."""


class OutputLock(Protocol):
    """The right to write to an output."""

    def is_held(self) -> bool:
        """Return whether this run still has the lock."""

    def owner(self) -> Owner | None:
        """Return the run that has the lock now; None if its file cannot be read."""

    def release(self) -> None:
        """Release the lock; a second call has no effect."""


@contextlib.contextmanager
def held(url: str) -> Iterator[OutputLock]:
    """Hold and yield the lock of a folder inside the block.

    Raises:
        LockedError: another run has it.
        QprError: the folder cannot be written to.
    """
    started = datetime.datetime.now(datetime.UTC)
    lock = acquire(url, Owner.here(new_run_id(started), started))
    try:
        yield lock
    finally:
        lock.release()


def acquire(url: str, owner: Owner) -> OutputLock:
    """Return the lock of a run on the folder of its output; the lock of a dead run is taken over.

    Raises:
        LockedError: another run has it.
        QprError: the folder cannot be written to.
    """
    path = storage.local_path(url)
    if path is None:
        return Lease(url, owner)
    try:
        with storage.explained(url):
            return LocalLock(storage.join(path, LOCK), url=url, owner=owner)
    except NoLocksError:
        return Lease(url, owner)
