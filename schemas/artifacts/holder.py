"""Holder of a claim, as a small file for people and other runs.

this process, run id -> Holder -> JSON -> Holder
"""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
from pathlib import Path

import pydantic

from schemas.errors import QprError


class Holder(pydantic.BaseModel, frozen=True):
    """A run that writes, and its process.

    Attributes:
        run_id: the run.
        since: when it began, in UTC.
        host: the name of its machine.
        process: the id of its process there.
        kernel: the running kernel and its space of process ids, "" if unknown; hosts can have equal names.
        born: when the process started, in the kernel's ticks; an id is given to another process later.
        renewed: when it was last seen alive, by its own clock, where nothing else tells.
        released: whether the run has ended, where its claim cannot be removed.
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
    def here(cls, run_id: str, since: datetime.datetime) -> Holder:
        """Return the holder of a run of this process."""
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
    def parse(cls, content: bytes | None) -> Holder | None:
        """Return the holder that a file describes; None for a file of anything else, or one half written."""
        try:
            return cls.model_validate_json(content or b"")
        except pydantic.ValidationError:
            return None

    def renew(self) -> Holder:
        """Return the holder as of now."""
        return self.model_copy(update={"renewed": _now().isoformat(timespec="seconds")})

    def silent_s(self) -> float:
        """Return the seconds since it was last renewed, by two clocks."""
        return (_now() - datetime.datetime.fromisoformat(self.renewed or self.since)).total_seconds()

    def content(self) -> bytes:
        """Return the file."""
        return self.model_dump_json(indent=2).encode() + b"\n"

    @property
    def is_dead(self) -> bool:
        """Return whether the process is known to have ended: it ran under this very kernel, and is not there."""
        return bool(self.kernel) and self.kernel == _kernel() and _born(self.process) != self.born


class HeldError(QprError):
    """Another run writes there."""


def held(url: str, holder: Holder | None, *, hint: str = "") -> HeldError:
    """Return the error about an output that another run writes to.

    Args:
        url: of the output.
        holder: the other run; None if its file cannot be read.
        hint: one more sentence on how to go on.
    """
    who = "a run that cannot be identified"
    if holder:
        who = f"run {holder.run_id}, since {holder.since}, process {holder.process} on {holder.host}"
    advice = "Wait until it ends or stop it, then run this again; or choose another --output"
    return HeldError(f"{url}: another run is writing there: {who}. {advice}{hint}")


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _kernel() -> str:
    """Return what tells one space of process ids from another; containers on a machine have their own."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return ""


def _born(process: int) -> str | None:
    """Return when a process started; None if there is none, or one that ended and whose parent was not yet told."""
    with contextlib.suppress(OSError):
        # "4711 (name of the program) S ...": the 22nd field is the start, the name may hold spaces and parentheses.
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else fields[18]
    return None
