"""The claim on a folder of an object store: numbered files, of which the highest is the holder's.

URL, holder -> LeasedClaim; claims/00000001.json, …

A store knows nothing of processes, so the holder renews its file, and one that is not renewed for `LEASE_S` is dead.
The next run then creates the file with the next number, which succeeds for one run only. A holder that was taken for
dead and is alive finds the higher number before it publishes, and does not publish.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading

from schemas.artifacts import storage
from schemas.artifacts.exclusive import ConflictError, create, replace
from schemas.artifacts.holder import Holder, held
from schemas.errors import QprError

CLAIMS = "claims"

PERIOD_S = 15.0
"""How often a claim is renewed: 240 small writes an hour."""

LEASE_S = 120.0
"""How old a claim may be. Eight renewals have failed by then, so one long pause or a minute without network is none."""

_NAME = re.compile(r"(\d{8})\.json")
_TRIES = 20


class LeasedClaim:
    """A numbered file, renewed by a thread until it is released.

    Args:
        url: of the output.
        holder: this run.

    Raises:
        HeldError: another run has it and may be alive.
        QprError: the store cannot be written to.
    """

    def __init__(self, url: str, holder: Holder) -> None:
        self._url, self._holder, self._process = storage.join(url, CLAIMS), holder, os.getpid()
        self._number = self._take(url)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"claim {holder.run_id}", daemon=True)
        self._thread.start()

    def holds(self) -> bool:
        """Return whether the claim still stands: the highest number is this run's.

        Raises:
            QprError: the store does not answer.
        """
        number, content = self._highest()
        return number == self._number and self._is_ours(content)

    def taker(self) -> Holder | None:
        """Return the run that holds the place now."""
        return Holder.parse(self._highest()[1])

    def release(self) -> None:
        """Stop renewing and remove the file, and those of dead runs; a forked child releases nothing."""
        if os.getpid() != self._process or self._ended.is_set():
            return
        self._ended.set()
        self._thread.join(timeout=PERIOD_S)
        with contextlib.suppress(QprError):
            for number in self._numbers():
                if number < self._number:
                    storage.delete_file(self._at(number))
        self._remove()
        storage.delete_if_empty(self._url)

    def _take(self, url: str) -> int:
        """Create the file with the next number and return the number."""
        for _ in range(_TRIES):
            number, content = self._highest()
            if number:
                left_s = self._left_s(number, content)
                if left_s is None:
                    continue
                if left_s > 0:
                    hint = f". A run that was killed loses its claim {LEASE_S:.0f} s later, here in {left_s:.0f} s"
                    raise held(url, Holder.parse(content), hint=hint)
            if self._create(number + 1):
                return number + 1
        raise QprError(f"{url}: other runs claim it again and again. Choose another --output, or run this again")

    def _create(self, number: int) -> bool:
        """Create the file with a number; return False if another run was first."""
        self._number = number
        try:
            create(self._at(number), self._holder.content())
            if self._highest()[0] == number:  # else the list that gave the number was out of date
                return True
        except ConflictError:
            return False
        except BaseException:
            self._remove()  # the store may have written it though the answer got lost
            raise
        self._remove()
        return False

    def _left_s(self, number: int, content: bytes | None) -> float | None:
        """Return for how many seconds a claim is valid; None if it is gone."""
        if content is None:
            return None
        holder = Holder.parse(content)
        if holder and (holder.released or holder.is_dead):
            return 0
        try:
            age_s = storage.age_s(self._at(number), probe=storage.join(self._url, f"now-{secrets.token_hex(4)}"))
        except NotImplementedError:  # a file system that tells no times
            age_s = holder.silent_s() if holder else 0
        return None if age_s is None else LEASE_S - age_s

    def _keep(self) -> None:
        while not self._ended.wait(PERIOD_S):
            with contextlib.suppress(QprError, OSError):  # the store may answer next time
                if not self._renew():
                    return

    def _renew(self) -> bool:
        """Write the file again; return False if it is not ours any more."""
        found = storage.read_if_there(self._at(self._number))
        if found is None or not self._is_ours(found):
            return False
        self._holder = self._holder.renew()
        replace(self._at(self._number), self._holder.content(), expected=found)
        return True

    def _remove(self) -> None:
        """Remove our own file; where that is forbidden, write that it is released. It follows an error, or the end."""
        url = self._at(self._number)
        with contextlib.suppress(QprError, OSError):
            found = storage.read_if_there(url)
            if found is None or not self._is_ours(found):
                return
            try:
                storage.delete_file(url)
            except (QprError, OSError):
                replace(url, self._holder.model_copy(update={"released": True}).content(), expected=found)

    def _is_ours(self, content: bytes | None) -> bool:
        holder = Holder.parse(content)
        return holder is not None and holder.run_id == self._holder.run_id

    def _highest(self) -> tuple[int, bytes | None]:
        """Return the highest number and its file; 0 if there is none."""
        number = max(self._numbers(), default=0)
        return number, storage.read_if_there(self._at(number)) if number else None

    def _numbers(self) -> list[int]:
        return [int(found[1]) for name in storage.children(self._url) if (found := _NAME.fullmatch(name))]

    def _at(self, number: int) -> str:
        return storage.join(self._url, f"{number:08}.json")
