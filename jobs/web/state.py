"""State that outlives the server: blocked answers and feedback; its folder has the audit sample too.

DELETE /answers/{id} -> State.block -> blocked.json; POST /feedback -> State.append_feedback -> feedback.jsonl
"""

from __future__ import annotations

import contextlib
import datetime
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pydantic

from jobs.web.appended_lines import AppendedFile
from jobs.web.messages.faults import Fault, reporting_files
from schemas.artifacts import storage
from schemas.artifacts.atomic_files import write_atomically
from schemas.artifacts.output_lock.lock import held
from schemas.artifacts.output_lock.owner import LockedError
from schemas.errors import QprError

MOST_FEEDBACK = 100_000_000
"""Bytes of feedback at which the file has to be moved away: a client in a loop must not fill the disk."""

MOST_BLOCKED = 10_000_000
"""Bytes of the list of blocked answers, which is written as a whole with each of them."""

_BLOCKED = pydantic.TypeAdapter(set[str])


class State:
    """Blocked answers and feedback of a server.

    Args:
        folder: where all is kept. None: nothing is, and both are refused.

    Raises:
        QprError: the file of blocked answers is damaged.
    """

    def __init__(self, folder: str | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._blocking = threading.Lock()
        self._feedback = None if self.folder is None else AppendedFile(self.folder / "feedback.jsonl")
        self.blocked = frozenset[str]() if self.folder is None else _read_blocked(self.folder / "blocked.json")
        self._written = self.blocked

    def block(self, answer_id: str) -> None:
        """Block an answer, from this call on, and after a restart too once this has returned.

        If the list cannot be written, the answer is blocked until the process ends, and the next call writes it.

        Raises:
            Fault: the server keeps no state, or the list is full (409), or it cannot be written (503).
        """
        path = self._kept("blocked answers") / "blocked.json"
        with self._blocking:  # also for an answer that another request has not written yet
            if answer_id in self._written:
                return
            blocked = self.blocked | {answer_id}
            content = orjson.dumps(sorted(blocked), option=orjson.OPT_INDENT_2)
            if len(content) > MOST_BLOCKED:
                raise Fault(409, "the list of blocked answers is full; make an index without these answers", "full")
            self.blocked = blocked
            with reporting_files(), storage.explained(str(path)), write_atomically(str(path)) as file:
                file.write(content)
            self._written = blocked

    def append_feedback(self, row: Mapping[str, Any]) -> None:
        """Append a row to the feedback; it does not wait for a block of `appending_feedback`.

        Raises:
            Fault: the server keeps no state, or the file is full (409), or it cannot be written (503).
        """
        file = self._kept_feedback()
        with reporting_files(), storage.explained(str(file.path)):
            file.append(_line(row))

    @contextlib.contextmanager
    def appending_feedback(self, row: Mapping[str, Any]) -> Iterator[None]:
        """Append a row to the feedback; if the block fails, the row is removed.

        Raises:
            Fault: the server keeps no state, or the file is full (409), or it cannot be written (503).
        """
        file = self._kept_feedback()
        with contextlib.ExitStack() as stack:
            with reporting_files(), storage.explained(str(file.path)):
                stack.enter_context(file.appending(_line(row)))
            yield

    def _kept_feedback(self) -> AppendedFile:
        """Return the file of feedback, which has room for a row."""
        self._kept("feedback")
        assert self._feedback is not None
        with reporting_files(), storage.explained(str(self._feedback.path)):
            if self._feedback.path.exists() and self._feedback.path.stat().st_size > MOST_FEEDBACK:
                raise Fault(409, "the file of feedback is full; move it away", "full")
        return self._feedback

    def _kept(self, content: str) -> Path:
        if self.folder is None:
            raise Fault(409, f"this server keeps no {content}; start it with --state FOLDER", "no_state")
        return self.folder


@contextlib.contextmanager
def locked_state(folder: str | None) -> Iterator[State]:
    """Yield the state in a folder, which no other server uses until the block ends.

    Args:
        folder: it is made for this user alone if it is missing. None: nothing is kept.

    Raises:
        QprError: the folder cannot be written, another server uses it, or the file of blocked answers is damaged.
    """
    if folder is None:
        yield State(None)
        return
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)  # it gets questions as they were asked
    except OSError as error:
        raise QprError(f"{folder}: cannot be made: {error.strerror}. Give another --state") from error
    if not os.access(folder, os.W_OK):
        raise QprError(f"{folder}: cannot be written. Give another --state")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(folder))
        except LockedError as error:
            text = f"{folder}: another server keeps its state there: {error.who}. Stop it, or give another --state"
            raise QprError(text) from None
        yield State(folder)


def _line(row: Mapping[str, Any]) -> bytes:
    """Return a row as a line of JSON with the present time."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    return orjson.dumps({"time": now, **row}) + b"\n"


def _read_blocked(path: Path) -> frozenset[str]:
    try:
        return frozenset(_BLOCKED.validate_json(path.read_bytes(), strict=True))
    except FileNotFoundError:
        return frozenset()
    except (OSError, pydantic.ValidationError) as error:
        raise QprError(f"{path}: is no list of blocked answers. Restore it, or remove it to block none") from error
