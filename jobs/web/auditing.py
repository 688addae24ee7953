"""The watch over the certificate of a server: its audit sample, verdicts on it, and the alarm.

certified answers -> Auditing.offer -> AuditSample; verdict -> Auditing.judge -> monitor beside the certificate -> alarm
"""

from __future__ import annotations

import asyncio
import datetime
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from jobs.web.audit_sample import AuditSample
from jobs.web.messages.documents import AnswerDocument
from jobs.web.messages.faults import Fault
from jobs.web.metrics import Metrics
from jobs.web.state import State
from model.certificates.certificate import Loaded
from model.certificates.monitor import AuditVerdict, ContradictionError, Monitor, read_monitor, record
from schemas.errors import QprError
from schemas.statistics.e_processes import ALARM

WATCH_S: Final = 5.0
"""Seconds between two looks at the monitor, which `qpr certify --audit` changes too."""


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
        self._monitor: Monitor | None = None
        self._reported = ""
        self._looking = threading.Lock()  # else what was read before a verdict could be shown after it, with no alarm

    @property
    def alarm(self) -> bool:
        """Return whether audits of the certificate in use have raised the alarm."""
        loaded, monitor = self._current(), self._monitor
        if loaded is None:
            return False
        return loaded.alarm or (monitor is not None and monitor.certificate == loaded.digest and monitor.alarm)

    def offer(self, answers: Sequence[AnswerDocument], version: str, filters: Mapping[str, str]) -> None:
        """Draw from certified answers; nothing that hints at the probability is kept, so that people judge blind."""
        if self.sample is None:
            return
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        for row in answers:
            if row["reason"] == "certified" and row["hit"] is not None:
                self.sample.offer(
                    {
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

    def judge(self, name: str, *, is_wrong: bool) -> None:
        """Count a verdict on a drawn answer.

        Raises:
            Fault: no answer of this id was drawn (404), it was judged before, or under another certificate (409).
            QprError: the monitor cannot be read or written.
        """
        loaded = self._current()
        digest = None if self.sample is None else self.sample.certificate_of(name)
        if digest is None:
            raise Fault(404, "no answer was drawn under this audit_id, or its day is not over", "not_found")
        if loaded is None or digest != loaded.digest:
            raise Fault(409, "the answer was given under another certificate", "certificate")
        if name in self._read(loaded).judged:
            raise Fault(409, "the answer has been judged", "judged")
        now = datetime.datetime.now(datetime.UTC)
        alpha = loaded.certificate.alpha
        with self._looking:
            try:
                state = record(loaded.url, [AuditVerdict(name, is_wrong)], digest=digest, alpha=alpha, now=now)
            except ContradictionError as error:  # another process has counted the other verdict just now
                raise Fault(409, "the answer has been judged", "judged") from error
            self._show(state)

    async def watch(self) -> None:
        """Keep the sample and look at the monitor, for ever."""
        while True:
            await asyncio.sleep(WATCH_S)
            await asyncio.to_thread(self.refresh)

    def refresh(self) -> None:
        """Keep the sample and look at the monitor once; a fault is reported, and the state before it stays."""
        try:
            if self.sample is not None:
                self._metrics.drawn.inc(self.sample.save())
            loaded = self._current()
            with self._looking:
                self._show(None if loaded is None else self._read(loaded))
        except (OSError, QprError) as error:
            self._report(f"audits: {error}")

    def _read(self, loaded: Loaded) -> Monitor:
        return read_monitor(loaded.url, digest=loaded.digest, alpha=loaded.certificate.alpha)

    def _show(self, monitor: Monitor | None) -> None:
        self._monitor = monitor
        self._metrics.audited.set(monitor.audits if monitor else 0)
        self._metrics.audited_wrong.set(monitor.wrong if monitor else 0)
        self._metrics.evidence.set(monitor.evidence if monitor else 0)
        self._metrics.alarm.set(self.alarm)
        if monitor is not None and monitor.alarm:
            evidence = f"evidence {monitor.highest:.0f}, alarm at {ALARM:g}"
            self._report(f"alarm: {evidence}: only questions of the index itself are answered")

    def _report(self, text: str) -> None:
        if text != self._reported:  # once, not at every look
            sys.stderr.write(f"{text}\n")
        self._reported = text
