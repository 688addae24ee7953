"""The work of ``qpr certify --certificate``: verdicts on given answers, and the state of a certificate in use.

certificate, file of judged answers -> print_audits -> the monitor beside the certificate, a table
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from typing import Any, Final

import pyarrow as pa
import rich.table

from jobs.display.console import emit, say, two_columns, warn
from jobs.display.summary_tables import percent
from jobs.workflows.certificates.promise import promise_text
from jobs.workflows.certificates.requests_file import filled_rows
from jobs.workflows.certificates.value_rows import value_rows
from model.certificates.certificate import Loaded, load_certificate
from model.certificates.evidence import AuditVerdict, ContradictionError, Monitor
from model.certificates.monitor import last_alarm, monitor_url, read_monitor, record
from model.certificates.requests import Request, read_verdict
from pipelines.reading.headers.columns import Column
from pipelines.reading.sources import Source, only_file
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.statistics.e_processes import ALARM

COLUMNS: Final = tuple(Column(name, pa.string()) for name in ("request_id", "verdict", "labeller", "certificate"))
"""Columns of a file of given answers; others are not read."""


def print_audits(url: str, file: str | None, *, as_json: bool) -> None:
    """Add the verdicts of a file to the monitor of a certificate, and print certificate and monitor.

    Args:
        url: of the certificate.
        file: of judged answers; None: nothing is added.
        as_json: print JSON.

    Raises:
        QprError: the certificate, the file or the monitor cannot be read or do not fit together.
    """
    loaded = load_certificate(url)
    now = datetime.datetime.now(datetime.UTC)
    monitor = read_monitor(loaded) if file is None else _add(only_file(file, option="--audit"), loaded, now)
    alarm = monitor.ends(loaded.digest, loaded.certificate.created)
    if alarm:
        until = "until a new certificate is made by requests from after the alarm"
        place = monitor_url(url, loaded.certificate.alpha)
        warn(f"{place}: alarm: only questions of the index itself are answered {until}")
    if not loaded.certificate.version.is_current:
        warn(
            f"{url}: is of release {loaded.certificate.version.release}. This one may give other answers, and `qpr "
            "answer` and `qpr serve` refuse it. Certify the index again; verdicts on unchanged answers carry over"
        )
    kept = monitor.model_dump(mode="json", include={"alpha", "highest", "alarmed"})
    counts = {"certificates": len(monitor.certificates), "audits": monitor.audits, "wrong": monitor.wrong}
    result = {
        "certificate": url,
        "digest": loaded.digest,
        "expired": loaded.certificate.is_expired(now),
        "monitor": {**kept, **counts, "alarm": alarm, "evidence": monitor.evidence},
        **loaded.certificate.model_dump(mode="json"),
    }
    emit(result, as_json=as_json, table=lambda: _table(loaded, monitor, now, alarm=alarm))


def _add(source: Source, loaded: Loaded, now: datetime.datetime) -> Monitor:
    """Add the verdicts of a file to the monitor of a certificate, and report the number of those that it has already.

    Raises:
        QprError: the file or the monitor cannot be read, or they contradict each other.
    """
    state = read_monitor(loaded)
    verdicts = read_audits(source, loaded, state)
    before = {(audited.certificate, name) for audited in state.certificates for name in audited.judged}
    try:
        monitor = record(loaded, verdicts, now=now)
    except ContradictionError as error:
        raise QprError(f"{source.url}: {error}") from error
    if repeated := sum((verdict.certificate, verdict.name) in before for verdict in verdicts):
        say(f"{source.url}: {counted(repeated, 'verdict')} counted already, {len(verdicts) - repeated:,} added")
    return monitor


def read_audits(source: Source, loaded: Loaded, state: Monitor) -> list[AuditVerdict]:
    """Return the verdicts of a file on answers that a certificate permitted, by request_id; unclear counts as wrong.

    Verdicts on answers of the certificates before it that are in its state are returned too. Rows of other
    certificates, and rows without a verdict, are left out and reported.

    Args:
        source: CSV, TSV, JSON Lines or Parquet, such as audit.jsonl of `qpr serve --state`.
        loaded: the certificate.
        state: of its monitor.

    Raises:
        QprError: the file cannot be read, lacks a column, has a verdict without an id or a labeller, or contradicts
            itself.
    """
    counted_here = {audited.certificate for audited in state.certificates}
    verdicts: dict[tuple[str, str], bool] = {}
    others, missing = 0, 0
    for number, row in filled_rows(source, COLUMNS):
        name, labeller, of = ((row[column] or "").strip() for column in ("request_id", "labeller", "certificate"))
        try:
            verdict = read_verdict(row["verdict"] or "")
        except ValueError as error:
            raise QprError(f"{source.url}: row {number}: {error}. Correct the row") from error
        if of not in counted_here:
            others += 1
        elif verdict is None:
            missing += 1
        elif not name or not labeller:
            lacking = "labeller" if name else "request_id"
            raise QprError(f"{source.url}: row {number} has a verdict and no {lacking}. Complete the row")
        elif verdicts.setdefault((name, of), verdict != "right") != (verdict != "right"):
            other = f"contradicts another one with request_id {name[:40]!a}"
            raise QprError(f"{source.url}: row {number} {other}. Correct one of them")
    if others and not verdicts and not missing:
        raise QprError(f"{source.url}: has no answer of certificate {loaded.digest[:12]}. Name another --certificate")
    if others:
        say(f"{source.url}: {counted(others, 'row')} of other certificates left out")
    if missing:
        say(f"{source.url}: {counted(missing, 'answer')} without a verdict. Judge all of them: a choice hides faults")
    # Not in the order of the rows: the wrong ones of a file that was sorted by verdict would raise the alarm alone.
    return [AuditVerdict(name, is_wrong, of) for (name, of), is_wrong in sorted(verdicts.items())]


def check_after_alarm(file: str, requests: Sequence[Request], certificates: Collection[str]) -> None:
    """Refuse requests from before the last alarm of the certificates that were made before.

    Args:
        file: name of the requests, for messages.
        requests: for the new certificate.
        certificates: URLs of those before; for an artefact of a warehouse all certificates of that warehouse count.

    Raises:
        QprError: a request is older than an alarm, or a monitor is damaged or cannot be read.
    """
    alarmed = max((alarm for url in certificates if (alarm := last_alarm(url))), default=None)
    if alarmed is None:
        return
    older = [request.row for request in requests if request.asked_at < alarmed]
    if older:
        raise QprError(
            f"{file}: row {older[0]}: asked before the alarm of {alarmed:%Y-%m-%d %H:%M} UTC, which showed that such "
            "requests promise too much. Judge later ones"
        )


def _table(loaded: Loaded, monitor: Monitor, now: datetime.datetime, *, alarm: bool) -> rich.table.Table:
    certificate = loaded.certificate
    expiry = f"{certificate.expires:%Y-%m-%d}" + (" (expired)" if certificate.is_expired(now) else "")
    rows: dict[str, Any] = {
        "promise": promise_text(certificate.alpha, certificate.delta),
        "minimum probability": f"{certificate.threshold:.4f}",
        "upper bound": percent(certificate.upper_bound),
        "expires": expiry,
        "certificates with this promise": len(monitor.certificates),
        "audited answers": monitor.audits,
        "wrong among them": monitor.wrong,
        "evidence against the promise": f"{monitor.evidence:.3g} (alarm at {ALARM:g})",
        "alarm": "none" if not alarm or monitor.alarmed is None else f"since {monitor.alarmed:%Y-%m-%d %H:%M} UTC",
    }
    return two_columns(loaded.url, rows | value_rows(certificate))
