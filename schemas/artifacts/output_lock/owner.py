"""Owner of a lock, as a small file for people and other runs.

this process, run id -> Owner -> JSON -> Owner
"""

from __future__ import annotations

import contextlib
import datetime
import os
import secrets
import socket
from pathlib import Path

import pydantic

from schemas.errors import QprError


def new_run_id(since: datetime.datetime) -> str:
    """Return the id of a run that began at this time, in UTC; ids are in order of time."""
    return f"{since:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


class Owner(pydantic.BaseModel, frozen=True):
    """A run that writes, and its process.

    Attributes:
        run_id: the run.
        since: start of the run, in UTC.
        host: the name of its machine.
        process: the id of its process there.
        kernel: the running kernel and its process namespace, "" if unknown; two hosts can have one name.
        born: start of the process, in the kernel's ticks; process ids are used again.
        renewed: time at which it was last alive, by its own clock; used where a store has no times.
        released: whether the run has ended, where its lock cannot be removed.
    """

    run_id: str
    since: str
    host: str
    process: int
    kernel: str = ""
    born: str = ""
    renewed: str = ""
    released: bool = False

    @classmethod
    def here(cls, run_id: str, since: datetime.datetime) -> Owner:
        """Return the owner of a run of this process."""
        process = os.getpid()
        return cls(
            run_id=run_id,
            since=since.isoformat(timespec="seconds"),
            host=socket.gethostname(),
            process=process,
            kernel=_kernel(),
            born=_born(process) or "",
        )

    @classmethod
    def parse(cls, content: bytes | None) -> Owner | None:
        """Return the owner that a file describes; None for another or incomplete file."""
        try:
            return cls.model_validate_json(content or b"")
        except pydantic.ValidationError:
            return None

    def renew(self) -> Owner:
        """Return the owner as of now."""
        now = datetime.datetime.now(datetime.UTC)
        return self.model_copy(update={"renewed": now.isoformat(timespec="seconds")})

    def silent_s(self) -> float:
        """Return the seconds since the last renewal; compares the clocks of two machines."""
        renewed = datetime.datetime.fromisoformat(self.renewed or self.since)
        return (datetime.datetime.now(datetime.UTC) - renewed).total_seconds()

    def content(self) -> bytes:
        """Return the content of the file."""
        return self.model_dump_json(indent=2).encode() + b"\n"

    @property
    def is_dead(self) -> bool:
        """Return whether the process has certainly ended: it ran under this kernel and does not run any more."""
        return bool(self.kernel) and self.kernel == _kernel() and _born(self.process) != self.born


class LockedError(QprError):
    """Another run writes to a place.

    Args:
        place: what it writes to.
        who: description of the other run.
        hint: a further sentence of advice.
        other: another thing to do than to run this again.
    """

    def __init__(self, place: str, who: str, *, hint: str = "", other: str = "") -> None:
        advice = f"Wait until it ends or stop it, then run this again{other and '; or '}{other}{hint}"
        super().__init__(f"{place}: another run is writing there: {who}. {advice}")
        self.place, self.who, self.hint = place, who, hint

    def otherwise(self, other: str) -> LockedError:
        """Return the same error with another thing to do."""
        return LockedError(self.place, self.who, hint=self.hint, other=other)


def locked_error(url: str, owner: Owner | None, *, hint: str = "") -> LockedError:
    """Return the error about a folder that another run writes to.

    Args:
        url: of the folder.
        owner: the other run; None if its file cannot be read.
        hint: an additional sentence of advice.
    """
    who = "a run that cannot be identified"
    if owner:
        who = f"run {owner.run_id}, since {owner.since}, process {owner.process} on {owner.host}"
    return LockedError(url, who, hint=hint)


def lost_error(url: str, owner: Owner | None, *, change: bool) -> QprError:
    """Return the error about an artefact that another run has written since this one began.

    Args:
        url: of the artefact.
        owner: the other run; None if it is unknown.
        change: this run changes an artefact in its place.
    """
    by = f"run {owner.run_id}, process {owner.process} on {owner.host}," if owner else "another run"
    if change:
        return QprError(f"{url}: {by} has changed it since this run began. This change is discarded. Run this again")
    reason = f"{by} has taken this place since this run began. What this run made is discarded"
    return QprError(f"{url}: {reason}. Look at what is there, then run this again, with --overwrite to replace it")


def _kernel() -> str:
    """Return the kernel's boot id and process namespace; each container has a namespace of its own."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return ""


def _born(process: int) -> str | None:
    """Return the start of a process; None if it does not exist or is a zombie."""
    with contextlib.suppress(OSError):
        # "4711 (name of the program) S ...": the 22nd field is the start, the name may hold spaces and parentheses.
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else fields[18]
    return None
