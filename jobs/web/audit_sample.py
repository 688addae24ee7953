"""The audit sample: some of each day's certified answers, drawn at random for people to judge.

given answers of a day -> AuditSample.offer -> AuditSample.save, after midnight UTC -> audit.jsonl of the state
"""

from __future__ import annotations

import contextlib
import datetime
import os
import random
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import orjson
import pydantic

from jobs.web.appended_lines import AppendedFile
from schemas.artifacts.atomic_files import write_atomically
from schemas.errors import QprError

FILE: Final = "audit.jsonl"
TODAY: Final = "audit-today.json"
"""The draw of the day that is not over: a later answer may still replace one of its answers."""


Cell = str | dict[str, str] | None
"""A field of a row; the values of columns are an object."""


class _Day(pydantic.BaseModel, extra="forbid", strict=True):
    """The draw of one day: its number of answers so far, and those that were drawn of them."""

    day: str
    seen: int = pydantic.Field(ge=0)
    rows: list[dict[str, Cell]]


class _Drawn(pydantic.BaseModel, extra="ignore"):
    """A row of the sample, as people may have edited it."""

    request_id: str
    certificate: str


class AuditSample:
    """A sample of the same size of each day, drawn from all answers of the day with equal chances.

    `offer` is called in the event loop, `save` in a thread.

    Args:
        folder: of the files.
        size: answers drawn a day.
        now: clock.
        rng: draws.

    Raises:
        QprError: a file of an earlier process is damaged.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        *,
        now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
        rng: random.Random | None = None,
    ) -> None:
        self._folder, self._size, self._now = folder, size, now
        self._file = AppendedFile(folder / FILE)
        self._rng = rng or random.SystemRandom()
        self._lock, self._saving = threading.Lock(), threading.Lock()
        self._today = _read_today(folder / TODAY) or self._new_day()
        self._over: list[_Day] = []
        self._changed = False
        self._drawn = _read_drawn(self._file.path, self._today)

    def offer(self, row: Mapping[str, Cell]) -> None:
        """Count an answer that was given, and draw it with the chance that all answers of its day have."""
        with self._lock:
            self._end_day()
            today = self._today
            today.seen += 1
            place = len(today.rows) if len(today.rows) < self._size else self._rng.randrange(today.seen)
            if place < self._size:
                name = {"request_id": secrets.token_hex(16)}
                today.rows[place : place + 1] = [{**name, **row, **name}]  # first, whatever columns there are
                self._changed = True

    def save(self) -> int:
        """Write what has changed; return the number of answers that were added to the sample of the days before.

        Raises:
            OSError: a file cannot be written.
        """
        with self._saving:
            with self._lock:  # not while files are written: `offer` would hold up the event loop
                self._end_day()
                over, due = list(self._over), self._changed or bool(self._over)
                today, self._changed = orjson.dumps(self._today.model_dump()), False
            rows = [row for day in over for row in day.rows if row["request_id"] not in self._drawn]
            try:
                with contextlib.ExitStack() as stack:
                    if rows:  # removed again if the day that is over cannot be ended: it would be appended twice
                        lines = b"".join(orjson.dumps(row) + b"\n" for row in rows)
                        stack.enter_context(self._file.appending(lines))
                    if due:
                        with write_atomically(str(self._folder / TODAY)) as staged:
                            staged.write(today)
            except BaseException:
                self._changed = True
                raise
            self._drawn |= {str(row["request_id"]): str(row["certificate"]) for row in rows}
            with self._lock:
                del self._over[: len(over)]
            return len(rows)

    def certificate_of(self, name: str) -> str | None:
        """Return the digest of the certificate that permitted a drawn answer; None where there is none of this id."""
        return self._drawn.get(name)

    def _end_day(self) -> None:
        """End the day if it is over; where the clock was set back by at most a day, it goes on instead."""
        tomorrow = self._now() + datetime.timedelta(days=1)
        if self._today.day not in (_date(self._now()), _date(tomorrow)):
            self._over.append(self._today)
            self._today = self._new_day()

    def _new_day(self) -> _Day:
        return _Day(day=_date(self._now()), seen=0, rows=[])


def _date(time: datetime.datetime) -> str:
    return f"{time:%Y-%m-%d}"


def _read_today(path: Path) -> _Day | None:
    try:
        return _Day.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, pydantic.ValidationError) as error:
        raise QprError(f"{path}: is no draw of a day. Restore it, or remove it to begin the day again") from error


def _read_drawn(path: Path, today: _Day) -> dict[str, str]:
    """Return the certificate of each drawn answer; the file may have been moved away by those who judge.

    A part of a line at the end, left by a killed process, is removed: ``today``, its draw, still has the row.
    """
    try:
        content = path.read_bytes()
        last = content[content.rfind(b"\n") + 1 :]
        if last and any(line != last and line.startswith(last) for line in map(orjson.dumps, today.rows)):
            content = content[: -len(last)]
            os.truncate(path, len(content))
        rows = [_Drawn.model_validate_json(line) for line in content.splitlines() if line.strip()]
    except FileNotFoundError:
        return {}
    except (OSError, pydantic.ValidationError) as error:
        raise QprError(f"{path}: is no sample of answers. Restore it, or move it away") from error
    return {row.request_id: row.certificate for row in rows}
