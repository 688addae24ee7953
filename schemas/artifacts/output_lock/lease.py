"""The lock on a folder of an object store: numbered files that expire, of which the highest number is valid.

URL, owner -> Lease; leases/00000001.json, …

A store has no processes, so the owner renews its file, and one that was not renewed for `LEASE_S` is expired. The next
run then creates the file with the next number, which succeeds for one run only. An owner that is alive in spite of an
expired lease finds the higher number before it publishes, and does not publish.

Where a store creates nothing in one operation, each run first writes a file of its own and then looks for those of
others: of two runs at once at least one finds the other and does not create the number (Dekker's flags).
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading
import time

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.conditional_writes import ConflictError, create, replace
from schemas.artifacts.output_lock.owner import Owner, locked_error
from schemas.errors import QprError

LEASES = "leases"

PERIOD_S = 15.0
"""Time between two renewals: 240 small writes an hour."""

LEASE_S = 120.0
"""Maximum age of a lease. Eight renewals have failed by then: one long pause or a minute without network is allowed."""

_PROBE = "now-"
"""Beginning of the names of empty files that are written to read the store's clock."""

_NAME = re.compile(r"(\d{8})\.json")
_TRIES = 20
"""Maximum number of attempts, each of which fails if another run creates or removes a file in the same moment."""


class Lease:
    """A numbered file, renewed by a thread until it is released.

    Args:
        url: of the output.
        owner: this run.

    Raises:
        LockedError: another run has it and may be alive.
        QprError: the store cannot be written to.
    """

    def __init__(self, url: str, owner: Owner) -> None:
        self._url, self._own, self._process = storage.join(url, LEASES), owner, os.getpid()
        self._number = self._take(url)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {owner.run_id}", daemon=True)
        self._thread.start()

    def is_held(self) -> bool:
        """Return whether this run still has the lock: the highest number is its own.

        Raises:
            QprError: the store does not answer.
        """
        number, content = self._highest()
        return number == self._number and self._is_own(content)

    def owner(self) -> Owner | None:
        """Return the run that has the lock now."""
        return Owner.parse(self._highest()[1])

    def release(self) -> None:
        """Stop renewing and remove the file, and what dead runs have left; a forked child releases nothing."""
        if os.getpid() != self._process or self._ended.is_set():
            return
        self._ended.set()
        self._thread.join(timeout=PERIOD_S)
        with contextlib.suppress(QprError):
            for number in self._numbers():
                if number < self._number:
                    storage.delete_file(self._at(number))
        with contextlib.suppress(QprError, OSError, NotImplementedError):
            self._remove_expired()
        self._remove()
        storage.delete_if_empty(self._url)

    def _remove_expired(self) -> None:
        """Remove the flags and the readings of the clock of runs that were killed between two requests.

        Those that are younger, by the store's clock, may be of living runs.
        """
        left = [name for name in storage.children(self._url) if name.endswith(".flag") or name.startswith(_PROBE)]
        for url in (storage.join(self._url, name) for name in left):
            if _seconds_between(url, self._at(self._number)) > LEASE_S:
                storage.delete_file(url)

    def _take(self, url: str) -> int:
        """Create the file with the next number and return the number."""
        for _ in range(_TRIES):
            number, content = self._highest()
            if number:
                left_s = self._left_s(self._at(number), content)
                if left_s is None:
                    continue
                if left_s > 0:
                    hint = f". The lock of a killed run expires after {LEASE_S:.0f} s, here in {left_s:.0f} s"
                    raise locked_error(url, Owner.parse(content), hint=hint)
            if self._create(number + 1):
                return number + 1
        others = "".join(f", or delete {flag} if no run writes there" for flag in self._flags()[:1])
        raise QprError(f"{url}: other runs lock it again and again. Run this again{others}")

    def _create(self, number: int) -> bool:
        """Create the file with a number; return False if another run was first."""
        if conditional_writes.is_conditional(self._url):
            return self._create_file(number)
        flag = storage.join(self._url, f"{self._own.run_id}.flag")
        storage.write_bytes(flag, self._own.renew().content())
        try:
            if not self._is_flagged() and self._highest()[0] < number:
                return self._create_file(number)
        finally:
            with contextlib.suppress(QprError, OSError):  # it expires
                storage.delete_file(flag)
        time.sleep(secrets.randbelow(100) / 1000)  # so that two runs do not get in each other's way again and again
        return False

    def _is_flagged(self) -> bool:
        """Return whether another run that may be alive is about to create a number."""
        left = [self._left_s(flag, storage.read_if_there(flag)) for flag in self._flags()]
        return any(seconds is not None and seconds > 0 for seconds in left)

    def _flags(self) -> list[str]:
        """Return the URLs of the files of other runs that are about to create a number."""
        own = f"{self._own.run_id}.flag"
        names = [name for name in storage.children(self._url) if name.endswith(".flag") and name != own]
        return [storage.join(self._url, name) for name in names]

    def _create_file(self, number: int) -> bool:
        self._number = number
        try:
            create(self._at(number), self._own.content())
            if self._highest()[0] == number:  # else the list that gave the number was out of date
                return True
        except ConflictError:
            return False
        except BaseException:
            self._remove()  # the store may have written it though its answer was lost
            raise
        self._remove()
        return False

    def _left_s(self, url: str, content: bytes | None) -> float | None:
        """Return the seconds for which a file of a run, damaged or not, is valid; None if it is gone."""
        if content is None:
            return None
        owner = Owner.parse(content)
        if owner and (owner.released or owner.is_dead):
            return 0
        try:
            age = age_s(url, probe=storage.join(self._url, f"{_PROBE}{secrets.token_hex(4)}"))
        except NotImplementedError:  # a file system without times
            age = owner.silent_s() if owner else 0
        return None if age is None else LEASE_S - age

    def _keep(self) -> None:
        while not self._ended.wait(PERIOD_S):
            with contextlib.suppress(QprError, OSError):  # the store may answer next time
                if not self._renew():
                    return

    def _renew(self) -> bool:
        """Write the file again; return False if it is another run's."""
        content = storage.read_if_there(self._at(self._number))
        if content is None or not self._is_own(content):
            return False
        self._own = self._own.renew()
        replace(self._at(self._number), self._own.content(), expected=content)
        return True

    def _remove(self) -> None:
        """Remove the own file; where that is forbidden, write that it is released. Errors are ignored at the end."""
        url = self._at(self._number)
        with contextlib.suppress(QprError, OSError):
            content = storage.read_if_there(url)
            if content is None or not self._is_own(content):
                return
            try:
                storage.delete_file(url)
            except (QprError, OSError):
                replace(url, self._own.model_copy(update={"released": True}).content(), expected=content)

    def _is_own(self, content: bytes | None) -> bool:
        owner = Owner.parse(content)
        return owner is not None and owner.run_id == self._own.run_id

    def _highest(self) -> tuple[int, bytes | None]:
        """Return the highest number and its file; 0 if there is none."""
        number = max(self._numbers(), default=0)
        return number, storage.read_if_there(self._at(number)) if number else None

    def _numbers(self) -> list[int]:
        return [int(match[1]) for name in storage.children(self._url) if (match := _NAME.fullmatch(name))]

    def _at(self, number: int) -> str:
        return storage.join(self._url, f"{number:08}.json")


def age_s(url: str, *, probe: str) -> float | None:
    """Return the age of a file in seconds, by the store's clock alone; None if it does not exist.

    Args:
        url: the file.
        probe: a file that is written and removed to read the store's clock.

    Raises:
        NotImplementedError: the file system has no times.
        QprError: the store cannot be written to.
    """
    storage.write_bytes(probe, b"")
    try:
        return _seconds_between(url, probe)
    except QprError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    finally:
        with contextlib.suppress(QprError):  # removal may be forbidden there
            storage.delete_file(probe)


def _seconds_between(earlier: str, later: str) -> float:
    """Return the seconds from the write of one file to that of another, with the errors of `age_s`."""
    file_system, path = storage.locate(later)
    with storage.explained(earlier):
        since = file_system.modified(path) - file_system.modified(storage.locate(earlier)[1])
        return float(since.total_seconds())
