"""Certificate of a night's index: judged requests of earlier versions, scored by the new index.

requests file -> read_sample -> Sample; index, sample -> certify_index -> certificate artefact, or why there is none

A verdict carries over where the new index gives the judged answer to the request. Every other request counts as wrong,
like a verdict "unclear": so the promise holds, and a certificate is lost only when many answers changed.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

from jobs.display.console import say, warn
from jobs.nightly.settings import CertificateSettings
from jobs.nightly.steps import finished, key_of, named, place_of
from jobs.workflows.certificates.auditing import check_after_alarm
from jobs.workflows.certificates.certification import certificate_of
from jobs.workflows.certificates.requests_file import read_requests
from jobs.workflows.certificates.scoring import score
from model.certificates.certificate import Certificate, load_certificate, write_certificate
from model.certificates.monitor import enter, is_ended
from model.certificates.requests import Request, check_age, check_requests, check_verdicts
from model.certificates.version import RULES
from model.search.searcher import open_searcher
from pipelines.ingestion.days import beginning_of
from pipelines.reading.sources import digest_input, only_file
from schemas.artifacts import storage
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted, listed
from schemas.versions import history
from schemas.versions.version import Artefact, Version, check_artefact, stamp

_DAY = datetime.timedelta(days=1)


class Sample(NamedTuple):
    """Judged requests, read before the night begins.

    Attributes:
        file: name of their file.
        source: the file and its digest, for the manifest.
        requests: the rows.
        settings: promise and life.
    """

    file: str
    source: Source
    requests: Sequence[Request]
    settings: CertificateSettings


class Certified(NamedTuple):
    """The certificate of an index, or why it has none; both are None without requests."""

    artefact: Artefact | None = None
    reason: str | None = None


def read_sample(settings: CertificateSettings) -> Sample | None:
    """Return the judged requests that the options name; None for none.

    Raises:
        QprError: the file cannot be read, or a row is no request.
    """
    if settings.requests is None:
        return None
    source = only_file(settings.requests, option="--requests")
    return Sample(settings.requests, digest_input(source), read_requests(source), settings)


def certify_index(
    warehouse: str,
    index: Artefact,
    sample: Sample | None,
    *,
    date: datetime.date,
    now: datetime.datetime | None = None,
    parent: Version | None = None,
) -> Certified:
    """Certify the index of a night, unless that is done; a promise that is not shown is a printed reason and no error.

    If the version before has the same index, its valid certificate stays then.

    Args:
        warehouse: its URL.
        index: of the night.
        sample: judged requests; None: nothing is certified.
        date: last day of the night's data.
        now: the time; None: the present one.
        parent: the version before; its certificate can stay, and is a warning if the requests are not given this time.

    Raises:
        QprError: the certificate cannot be written.
    """
    if sample is None:
        if parent and parent.certificate:
            warn("no certificate: the version before has one, but its judged requests are not given by --requests")
        return Certified()
    certified = _certified(warehouse, index, sample, date, now or datetime.datetime.now(datetime.UTC))
    if certified.reason:
        warn(f"no certificate: {certified.reason}")
        if parent and parent.index.digest == index.digest and _permits_answers(warehouse, parent.certificate):
            warn("the certificate of the version before stays, since its index is the same")
            return Certified(parent.certificate)
    return certified


def certified_again(warehouse: str, number: int, version: Version, sample: Sample | None) -> Version | None:
    """Return a version that equals the current one but for a new certificate; None without one.

    With ``require_certificate`` the version is returned as refused if it has no new certificate and no valid one.

    Args:
        warehouse: its URL.
        number: of the current version.
        version: its record.
        sample: judged requests.

    Raises:
        QprError: the index is gone or another one, or the certificate cannot be written.
    """
    if sample is None:
        return None
    digest = check_artefact(warehouse, version.index, "index", version=f"version {number}").digest
    index = version.index.model_copy(update={"digest": digest})  # of what is left where questions were erased
    certified = certify_index(warehouse, index, sample, date=version.date)
    if certified.reason and index == version.index and _permits_answers(warehouse, version.certificate):
        warn(f"version {number} keeps the certificate that it has")
    elif certified.reason and sample.settings.require_certificate:
        refused = f"version {number} has no valid certificate, though --require-certificate: {certified.reason}"
        return version.model_copy(update={**stamp(), "changes": {}, "parent": number, "refused": refused})
    if certified.artefact is None or certified.artefact == version.certificate:
        return None
    news: dict[str, Any] = {
        "certificate": certified.artefact,
        "index": index,
        "uncertified": None,
        "changes": {},
    }
    return version.model_copy(update={**stamp(), **news, "parent": number})


def _permits_answers(warehouse: str, certificate: Artefact | None) -> bool:
    """Return whether a certificate is whole, of the present rules, has not expired and has no alarm."""
    if certificate is None:
        return False
    try:
        loaded = load_certificate(storage.join(warehouse, certificate.path))
        has_alarm = is_ended(loaded)
    except QprError:
        return False
    is_expired = loaded.certificate.is_expired(datetime.datetime.now(datetime.UTC))
    return loaded.certificate.version.is_current and not has_alarm and not is_expired


def _certified(
    warehouse: str, index: Artefact, sample: Sample, date: datetime.date, now: datetime.datetime
) -> Certified:
    procedure = sample.settings.procedure
    key = key_of(index.digest, sample.source.digest, procedure.model_dump(mode="json"), RULES)
    path = place_of("certificates", key)
    url = storage.join(warehouse, path)
    try:
        check_age(sample.file, sample.requests, days=procedure.days, now=now)
        _check_days(warehouse, sample, date=date, now=now)
        check_after_alarm(sample.file, sample.requests, [url])
        if manifest := finished(warehouse, path, "certificate"):
            enter(url)
            return Certified(named(path, manifest))
        certificate = _scored(warehouse, index, sample, now)
    except QprError as error:
        return Certified(reason=str(error))
    with Output(url, "certificate", overwrite=True) as target:
        inputs = [sample.source, Source(url=index.path, digest=index.digest)]
        manifest = write_certificate(target, certificate, inputs=inputs)
    enter(url)
    return Certified(named(path, manifest))


def _scored(warehouse: str, index: Artefact, sample: Sample, now: datetime.datetime) -> Certificate:
    """Return the certificate of the new index.

    Raises:
        QprError: the index is damaged or has no probabilities, no row has an ``answer_id``, or nothing is shown.
    """
    if not any(request.answer_id for request in sample.requests):
        cause = "no row has an answer_id, so the verdicts do not show which answers are right"
        raise QprError(f"{sample.file}: {cause}. Add the column, as `qpr answer --json` prints it")
    named_answers = [r if r.answer_id else r._replace(verdict=None, probability=None) for r in sample.requests]
    searcher = open_searcher(storage.join(warehouse, index.path))
    scored = score(sample.file, named_answers, searcher)
    missing = [r for r, p in zip(scored.requests, scored.scores, strict=True) if p >= 0 and not r.verdict]
    check_verdicts(sample.file, [request for request in scored.requests if request.verdict], [], lowest=0)
    if missing:
        rows = listed("row", [request.row for request in missing])
        warn(
            f"{sample.file}: {counted(len(missing), 'request')} without a verdict on the answer that this index gives, "
            f"counted as wrong: {rows}. `qpr answer --json` prints the new answers to judge"
        )
    if scored.exact:
        say(f"{sample.file}: {counted(scored.exact, 'request')} left out, since the index has them word for word")
    return certificate_of(sample.file, sample.requests, scored, searcher.version, sample.settings.procedure, now=now)


def _check_days(warehouse: str, sample: Sample, *, date: datetime.date, now: datetime.datetime) -> None:
    """Refuse requests that every version of the warehouse may contain, and rows that are no sample.

    Raises:
        QprError: a request is as old as the first version, in the future, or repeats or contradicts another one.
    """
    first = min([date, *(history.read_version(warehouse, number).date for number in history.numbers(warehouse)[:1])])
    after = beginning_of(first) + _DAY
    older = [request.row for request in sample.requests if request.asked_at < after]
    if older:
        raise QprError(
            f"{sample.file}: {counted(len(older), 'request')}, the first in row {older[0]}, asked before "
            f"{after:%Y-%m-%d}, so that every version contains that day. Draw requests that were asked later"
        )
    check_requests(sample.file, sample.requests, now=now)
