"""The work of ``qpr certify``.

index, requests file -> write_certification -> a certificate's folder, or the number of missing verdicts
"""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import rich.table

from jobs.display.console import emit, say, two_columns, warn, working
from jobs.display.summary_tables import percent
from jobs.workflows.certificates.auditing import check_after_alarm
from jobs.workflows.certificates.promise import promise_text
from jobs.workflows.certificates.requests_file import read_requests
from jobs.workflows.certificates.scoring import Scored, score
from jobs.workflows.certificates.value_rows import counts_by_value, value_rows
from model.certificates.certificate import Certificate, write_certificate
from model.certificates.monitor import enter
from model.certificates.places import places, remember
from model.certificates.procedure import Outcome, bound_of, certify, divide, further_try, missing_requests
from model.certificates.requests import (
    Request,
    check_age,
    check_requests,
    check_verdicts,
    expiry_of,
    labelled_digest,
)
from model.certificates.settings import Certification, Promise
from model.certificates.version import Version
from model.index.consistency import AGAIN
from model.index.settings import IndexSettings
from model.search.searcher import Searcher, open_searcher
from model.search.settings import Opening
from pipelines.reading.sources import digest_input, only_file
from schemas.artifacts.manifest import Source, read_manifest, read_settings
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.statistics.binomial import smallest_sample


def write_certification(
    index: str,
    file: str,
    settings: Certification,
    opening: Opening,
    *,
    output: str,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Test the thresholds, write the certificate and print it.

    Args:
        index: folder of the index.
        file: judged requests.
        settings: promise and life of the certificate.
        opening: probes and reranker.
        output: folder of the certificate.
        overwrite: replace an existing certificate.
        as_json: print JSON.

    Raises:
        QprError: index or file cannot be read or do not fit together, the output cannot be claimed, or the verdicts do
            not show the promise; the message has the number of missing ones.
    """
    source = only_file(file, option="--requests")
    with Output(output, "certificate", overwrite=overwrite) as target, working(f"Certifying {index} by {file}"):
        manifest = read_manifest(index, "index")
        vary_by = read_settings(index, manifest, IndexSettings, again=AGAIN).vary_by or ()
        requests = read_requests(source, vary_by)
        now = datetime.datetime.now(datetime.UTC)
        made = datetime.datetime.fromisoformat(manifest.created)
        check_requests(file, requests, now=now, made=made, log_until=settings.log_until)
        check_age(file, requests, days=settings.days, now=now)
        check_after_alarm(file, requests, {output, index, *places(index)})
        searcher = open_searcher(index, **dict(opening))
        certificate = certified(file, requests, searcher, settings, now=now)
        if certificate.version.index != manifest.digest:  # its log may have requests that were later than that before
            raise QprError(f"{index}: the index changed during the run. Start the run again")
        inputs = [digest_input(source), Source(url=index, digest=certificate.version.index)]
        _remember(index, output)  # before the certificate: one of a killed run would not be found
        digest = write_certificate(target, certificate, inputs=inputs).digest
    enter(output)
    result = {"certificate": output, "digest": digest, **certificate.model_dump(mode="json")}
    emit(result, as_json=as_json, table=lambda: _table(output, certificate))
    filters = "".join(f"--filter {name}=VALUE " for name in vary_by)
    say(f"Next: qpr answer --index {shlex.quote(index)} --certificate {shlex.quote(output)} {filters}QUESTION")


def _remember(index: str, output: str) -> None:
    try:
        remember(index, output)
    except QprError as error:
        warn(f"{error}. After an alarm of {output} a certificate can be made elsewhere by requests from before it")


def certified(
    file: str, requests: list[Request], searcher: Searcher, settings: Certification, *, now: datetime.datetime
) -> Certificate:
    """Return the certificate of checked requests.

    Raises:
        QprError: the index has no probabilities, verdicts are missing, or they do not show the promise.
    """
    scored = score(file, requests, searcher)
    needed = scored.scores >= settings.min_probability
    missing = [r for r, is_needed in zip(scored.requests, needed, strict=True) if is_needed and not r.verdict]
    check_verdicts(file, [r for r in scored.requests if r.verdict], missing, lowest=settings.min_probability)
    return certificate_of(file, requests, scored, searcher.version, settings, now=now)


def certificate_of(
    file: str,
    requests: Sequence[Request],
    scored: Scored,
    version: Version | None,
    settings: Certification,
    *,
    now: datetime.datetime,
) -> Certificate:
    """Return the certificate of scored requests; one without a verdict counts as wrong.

    Args:
        file: name of the requests, for messages.
        requests: all of them, those that are in the index word for word included.
        scored: the others, with their probabilities.
        version: of the index.
        settings: promise and life.
        now: the time.

    Raises:
        QprError: the verdicts do not show the promise, or the version is that of no artefact.
    """
    wrong = np.array([request.verdict != "right" for request in scored.requests], bool)
    in_order = divide([request.name for request in scored.requests])
    outcome = certify(scored.scores, wrong, in_order, settings, lowest=settings.min_probability)
    if outcome.chosen is None:
        again = further_try(settings) if outcome.tests else settings  # without a test nothing could be shown by chance
        further = missing_requests(scored.scores, wrong, again, lowest=settings.min_probability)
        candidates = int((scored.scores[in_order] >= settings.min_probability).sum())
        reason = _not_shown(file, len(scored.requests), outcome, settings, further, candidates=candidates, again=again)
        raise QprError(reason)
    chosen = outcome.chosen
    if version is None:
        raise QprError(f"{file}: was scored by an index that was not opened from a folder. Open it by its URL")
    days = [request.asked_at.date() for request in requests]
    return Certificate(
        version=version,
        version_digest=version.digest,
        alpha=settings.alpha,
        delta=settings.delta,
        threshold=chosen.threshold,
        answered=chosen.answered,
        wrong=chosen.wrong,
        upper_bound=bound_of(chosen, settings.delta),
        coverage=chosen.answered / outcome.tested,
        requests=len(scored.requests),
        exact=scored.exact,
        order=outcome.order,
        tested=outcome.tested,
        tests=list(outcome.tests),
        first_day=min(days),
        last_day=max(days),
        labellers=sorted({request.labeller for request in scored.requests if request.labeller}),
        labelled_digest=labelled_digest(scored.requests),
        created=now,
        expires=expiry_of(requests, settings.days),
        by_value=counts_by_value(scored, wrong, in_order, chosen.threshold) if requests[0].filters else None,
    )


def _not_shown(
    file: str,
    requests: int,
    outcome: Outcome,
    settings: Certification,
    further: int | None,
    *,
    candidates: int,
    again: Promise,
) -> str:
    """Return the reason for no certificate, with the number of missing verdicts.

    Args:
        file: name of the requests.
        requests: number of them that the index does not have word for word.
        outcome: of their test.
        settings: the promise.
        further: number of missing requests, None if no number is expected to suffice.
        candidates: number of requests that choose the thresholds and whose probability permits an answer.
        again: the promise of a try with more requests.
    """
    promise = promise_text(settings.alpha, settings.delta)
    judged = f"{counted(requests, 'judged request')} do not show {promise}"
    if not outcome.tests:
        lowest = settings.min_probability
        enough = f"a probability of at least {lowest}" if lowest else "a probability"
        choose = f"{outcome.order:,} of them choose the threshold, and {candidates:,} of these have {enough}"
        cause = f"{choose}; at least {smallest_sample(settings.alpha, settings.delta):,} are needed"
    else:
        first = outcome.tests[0]
        cause = f"the best {first.answered:,} of the test part have {counted(first.wrong, 'wrong answer')}"
    if further is None:
        unreached = settings.min_probability and not candidates
        advice = "No number of further verdicts is expected to. Improve the index, or judge new requests "
        advice += "with a lower --min-probability" if unreached else "for a higher --alpha"
    else:
        advice = f"About {further:,} further requests are missing, if they turn out alike"
        if again.delta < settings.delta:
            advice += f", for another try with --delta {again.delta:g}: at the same --delta it could succeed by chance"
    return f"{file}: {judged}: {cause}. {advice}. Without a certificate only questions of the index itself are answered"


def _table(url: str, certificate: Certificate) -> rich.table.Table:
    rows: dict[str, Any] = {
        "promise": promise_text(certificate.alpha, certificate.delta),
        "minimum probability": f"{certificate.threshold:.4f}",
        "requests answered": f"{certificate.answered:,} of {certificate.tested:,} ({percent(certificate.coverage)})",
        "wrong among them": certificate.wrong,
        "upper bound": percent(certificate.upper_bound),
        "in the index word for word": certificate.exact,
        "asked": f"{certificate.first_day} to {certificate.last_day}",
        "labellers": ", ".join(certificate.labellers),
        "expires": f"{certificate.expires:%Y-%m-%d}",
    }
    return two_columns(url, rows | value_rows(certificate))
