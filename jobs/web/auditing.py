"""The watch over the certificate of a server: its audit sample, verdicts on it, and the alarm.

certified answers -> Auditing.offer -> AuditSample; verdict -> Auditing.judge -> monitor beside the certificate -> alarm
"""

from __future__ import annotations

import asyncio
import datetime
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Final

from jobs.web.audit_sample import AuditSample
from jobs.web.messages.documents import AnswerDocument
from jobs.web.messages.faults import Fault, reporting_files
from jobs.web.metrics import Metrics
from jobs.web.state import State
from model.certificates.certificate import Loaded
from model.certificates.evidence import AuditVerdict, ContradictionError, Monitor
from model.certificates.monitor import read_monitor, record
from schemas.errors import QprError

WATCH_S: Final = 5.0
"""Seconds between two looks at the monitor, which `qpr certify --audit` changes too."""

_OTHER: Final = "the answer was given under a certificate with another promise, or before an alarm"
_NONE: Final = "the served version has no certificate; count it by `qpr certify --certificate FOLDER --audit FILE`"


class Auditing:
    """Audits of the certificate in use.

    Args:
        state: of the server; without a folder nothing is drawn.
        per_day: answers drawn a day.
        metrics: of the server.
        current: returns the certificate in use, None without one.
    """

    def __init__(self, state: State, per_day: int, metrics: Metrics, current: Callable[[], Loaded | None]) -> None:
        self.sample = AuditSample(state.folder, per_day) if state.folder is not None and per_day else None
        self._metrics = metrics
        self._current = current
        self._alarms: dict[str, bool] = {}
        self._reported: dict[str, str] = {}
        # One thread reads and writes the monitor, maybe on a slow store: audits that wait take no thread of other
        # requests, and nothing that was read before a verdict is shown after it, with no alarm.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="audit")

    def has_alarm(self, loaded: Loaded | None) -> bool:
        """Return whether audits of a certificate, in use now or before, have raised the alarm by the last look."""
        return loaded is not None and (loaded.alarm or self._alarms.get(loaded.digest, False))

    def offer(self, answers: Sequence[AnswerDocument], version: str, filters: Mapping[str, str]) -> None:
        """Draw from certified answers; nothing that hints at the probability is kept, so that people judge blind.

        ``filters`` of a row has the values once more: a column can have the name of another field.
        """
        if self.sample is None:
            return
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        for row in answers:
            if row["reason"] == "certified" and row["hit"] is not None:
                self.sample.offer(
                    {
                        **({"filters": dict(filters)} if filters else {}),
                        **filters,
                        "asked_at": now,
                        "question": row["question"],
                        "found": row["hit"]["text"],
                        "answer": row["answer"],
                        "answer_id": row["hit"]["answer_id"],
                        "certificate": row["certificate"],
                        "version": version,
                        "verdict": "",
                        "labeller": "",
                    }
                )

    async def judge(self, name: str, *, is_wrong: bool, keeping: AbstractContextManager[None]) -> None:
        """Keep a verdict on a drawn answer and count it, or neither.

        It is kept first: if the server is killed between the two, a verdict is kept that is not counted, and no verdict
        is counted of which the row is lost. A repeated request counts it and keeps it once more.

        Args:
            name: of the drawn answer.
            is_wrong: the verdict.
            keeping: keeps the verdict, unless its block fails.

        Raises:
            Fault: no answer of this id was drawn (404), it was judged before, or given under another promise (409), or
                the verdict cannot be kept, or the monitor cannot be read or written (503).
        """
        judging = functools.partial(self._judge, name, is_wrong=is_wrong, keeping=keeping)
        await asyncio.get_running_loop().run_in_executor(self._thread, judging)

    def _judge(self, name: str, *, is_wrong: bool, keeping: AbstractContextManager[None]) -> None:
        loaded = self._current()
        digest = None if self.sample is None else self.sample.certificate_of(name)
        if digest is None:
            raise Fault(404, "no answer was drawn under this audit_id, or its day is not over", "not_found")
        if loaded is None:  # as after a rollback: the promise of the answer, and so its monitor, is unknown here
            raise Fault(409, _NONE, "certificate")
        now = datetime.datetime.now(datetime.UTC)
        with reporting_files():
            if (audited := read_monitor(loaded).of(digest)) is None:  # with another promise, or before an alarm
                raise Fault(409, _OTHER, "certificate")
            if name in audited.judged:  # of two equal verdicts at once, the later one
                raise Fault(409, "the answer has been judged", "judged")
            try:
                with keeping:
                    state = record(loaded, [AuditVerdict(name, is_wrong, digest)], now=now)
            except ContradictionError as error:  # another process has counted the other verdict just now
                raise Fault(409, "the answer has been judged", "judged") from error
            self._show(loaded, state)

    async def watch(self) -> None:
        """Keep the sample and look at the monitor, for ever."""
        while True:
            await asyncio.sleep(WATCH_S)
            await self.refresh()

    async def refresh(self) -> None:
        """Keep the sample and look at the monitor once; a fault of one is reported, and the state before it stays."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._refresh)

    def close(self) -> None:
        """End the thread, after what it writes now."""
        self._thread.shutdown(cancel_futures=True)

    def _refresh(self) -> None:
        self._attempt("sample", self._save)
        self._attempt("monitor", self._look)

    def _save(self) -> None:
        if self.sample is not None:
            self._metrics.drawn.inc(self.sample.save())

    def _look(self) -> None:
        loaded = self._current()
        self._show(loaded, None if loaded is None else read_monitor(loaded))

    def _attempt(self, subject: str, attempt: Callable[[], None]) -> None:
        """Make an attempt that is repeated, and report its fault once."""
        try:
            attempt()
        except (OSError, QprError) as error:
            self._report(subject, f"audits: {error}")
        except Exception as error:  # noqa: BLE001  # else nobody would look for an alarm any more
            self._report(subject, f"audits: {type(error).__name__}. This is a defect")
        else:
            self._report(subject, "")

    def _show(self, loaded: Loaded | None, monitor: Monitor | None) -> None:
        """Put the monitor of a certificate into the metrics, and report its alarm."""
        if loaded is not None and monitor is not None:
            self._alarms[loaded.digest] = monitor.ends(loaded.digest, loaded.certificate.created)
        self._metrics.audited.set(monitor.audits if monitor else 0)
        self._metrics.audited_wrong.set(monitor.wrong if monitor else 0)
        self._metrics.evidence.set(monitor.evidence if monitor else 0)
        self._metrics.alarm.set(self.has_alarm(loaded))
        alarm = ""
        if monitor is not None and monitor.alarmed is not None and self.has_alarm(loaded):
            since = f"since {monitor.alarmed:%Y-%m-%d %H:%M} UTC"
            alarm = f"alarm {since}: only questions of the index itself are answered"
        self._report("alarm", alarm)

    def _report(self, subject: str, text: str) -> None:
        """Print the text about a subject, unless it is the same as at the last look; an empty one ends it."""
        if text and text != self._reported.get(subject):
            sys.stderr.write(f"{text}\n")
        self._reported[subject] = text
