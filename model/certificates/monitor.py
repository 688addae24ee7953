"""The watch over a certificate in use: some of the given answers are judged every day.

verdicts on given answers -> record -> Monitor beside the certificate -> alarm: from then on exact questions only
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Final, NamedTuple

import pydantic

from model.certificates.certificate import Loaded, load_certificate
from model.certificates.version import Version
from schemas.artifacts import storage
from schemas.artifacts.conditional_writes import ConflictError, create, replace
from schemas.artifacts.manifest import first_fault
from schemas.errors import QprError
from schemas.statistics.e_processes import ALARM, excess_evidence

_ATTEMPTS: Final = 5


class AuditVerdict(NamedTuple):
    """A person's verdict on a given answer.

    Attributes:
        name: id of the drawn answer.
        is_wrong: the answer is wrong, or that cannot be decided.
    """

    name: str
    is_wrong: bool


class ContradictionError(QprError):
    """A verdict on an answer that was counted with the other verdict before."""


class Monitor(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Verdicts so far on answers that a certificate permitted.

    The answers to judge are drawn at random from all given ones of a day. The result may be looked at after each
    verdict: a promise that holds on each day ever raises an alarm with a chance of at most 1 %.

    Attributes:
        certificate: digest of the certificate.
        alpha: promised maximum share of wrong answers.
        audits: number of verdicts.
        wrong: number of wrong answers, unclear ones included.
        highest: highest evidence so far that more than alpha are wrong.
        judged: ids of the judged answers; each counts once.
        judged_wrong: ids of the wrong ones among them; files of earlier releases lack some or all.
        alarmed: time of the alarm; None: there was none.
    """

    certificate: str = pydantic.Field(pattern="^[0-9a-f]{64}$")
    alpha: float = pydantic.Field(gt=0, lt=1)
    audits: int = pydantic.Field(default=0, ge=0)
    wrong: int = pydantic.Field(default=0, ge=0)
    highest: float = pydantic.Field(default=1, ge=0, allow_inf_nan=False)
    judged: tuple[str, ...] = ()
    judged_wrong: tuple[str, ...] = ()
    alarmed: pydantic.AwareDatetime | None = None

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Monitor:
        if self.wrong > self.audits:
            raise ValueError("more answers are wrong than were judged")
        if len(self.judged_wrong) > self.wrong or not set(self.judged_wrong) <= set(self.judged):
            raise ValueError("judged_wrong names other answers than those that were counted as wrong")
        if (self.highest >= ALARM) != (self.alarmed is not None):
            raise ValueError("the evidence and the time of the alarm do not fit each other")
        return self

    def after(self, verdicts: Iterable[AuditVerdict], now: datetime.datetime) -> Monitor:
        """Return the state after further verdicts, in their order; one that was counted before is left out.

        Args:
            verdicts: on answers that were drawn at random from the given ones.
            now: present time, kept if the verdicts raise the alarm.

        Raises:
            ContradictionError: an answer was counted with the other verdict before.
        """
        audits, wrong, highest, known = self.audits, self.wrong, self.highest, self._verdicts()
        added = dict[str, bool]()
        for verdict in verdicts:
            if verdict.name in known:
                _check_same(verdict, known[verdict.name])
                continue
            known[verdict.name] = added[verdict.name] = verdict.is_wrong
            audits, wrong = audits + 1, wrong + verdict.is_wrong
            highest = max(highest, float(excess_evidence(wrong, audits, self.alpha)))
        alarmed = self.alarmed or (now if highest >= ALARM else None)
        counts = {"audits": audits, "wrong": wrong, "highest": highest, "judged": tuple(known)}
        judged_wrong = (*self.judged_wrong, *(name for name, is_wrong in added.items() if is_wrong))
        return self.model_copy(update={**counts, "judged_wrong": judged_wrong, "alarmed": alarmed})

    def _verdicts(self) -> dict[str, bool | None]:
        """Return for each judged answer whether it is wrong; None where a file of an earlier release lacks it."""
        wrong, other = frozenset(self.judged_wrong), False if len(self.judged_wrong) == self.wrong else None
        return {name: True if name in wrong else other for name in self.judged}

    @property
    def evidence(self) -> float:
        """Return the present evidence that more than alpha are wrong."""
        return float(excess_evidence(self.wrong, self.audits, self.alpha))

    @property
    def alarm(self) -> bool:
        """Return whether the evidence ever reached `ALARM`; only a new certificate ends the alarm."""
        return self.highest >= ALARM


def monitor_url(certificate: str) -> str:
    """Return the URL of the state of a certificate at a URL: a file beside its folder."""
    return f"{certificate.rstrip('/')}.monitor.json"


def load_watched(url: str, version: Version) -> Loaded:
    """Read the certificate at an fsspec URL and its state; every byte and all its figures are checked.

    Args:
        url: of the certificate.
        version: of the opened answerer.

    Raises:
        QprError: there is none, it or its state was edited or damaged, or it is of another version.
    """
    loaded = load_certificate(url)
    loaded.check(version)
    return loaded._replace(alarm=read_monitor(url, digest=loaded.digest, alpha=loaded.certificate.alpha).alarm)


def read_monitor(certificate: str, *, digest: str, alpha: float) -> Monitor:
    """Return the state beside a certificate; a new one if there is none, or if it is of the certificate before.

    Args:
        certificate: URL of the certificate.
        digest: of the certificate.
        alpha: its promise.

    Raises:
        QprError: the file is damaged or cannot be read.
    """
    return _parsed(
        certificate, storage.read_if_there(monitor_url(certificate)), Monitor(certificate=digest, alpha=alpha)
    )


def last_monitor(certificate: str) -> Monitor | None:
    """Return the state beside a certificate, whichever one it is of; None if there is none or it is damaged."""
    content = storage.read_if_there(monitor_url(certificate))
    try:
        return None if content is None else Monitor.model_validate_json(content)
    except pydantic.ValidationError:
        return None


def record(
    certificate: str, verdicts: Iterable[AuditVerdict], *, digest: str, alpha: float, now: datetime.datetime
) -> Monitor:
    """Add verdicts to the state beside a certificate and return it.

    Args:
        certificate: URL of the certificate.
        verdicts: on answers that were drawn at random from those that it permitted.
        digest: of the certificate.
        alpha: its promise.
        now: present time.

    Raises:
        ContradictionError: an answer was counted with the other verdict before; nothing is added.
        QprError: the file is damaged or cannot be written, or other processes change it all the time.
    """
    url, listed = monitor_url(certificate), list(verdicts)
    for attempt in range(_ATTEMPTS):
        before = storage.read_if_there(url)
        state = _parsed(certificate, before, Monitor(certificate=digest, alpha=alpha)).after(listed, now)
        content = (state.model_dump_json(indent=2) + "\n").encode()
        if content == before:
            return state
        try:
            create(url, content) if before is None else replace(url, content, expected=before)
        except ConflictError:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        return state
    raise AssertionError


def _check_same(verdict: AuditVerdict, counted_as: bool | None) -> None:
    """Refuse a verdict on an answer that was counted with the other one: it would change nothing without a word."""
    if counted_as not in (None, verdict.is_wrong):
        now, before = ("wrong", "right") if verdict.is_wrong else ("right", "wrong")
        raise ContradictionError(
            f"request_id {verdict.name[:40]!a} is {now} here and was counted as {before} before. A counted verdict "
            "stays until a new certificate is made: restore it here, or run `qpr certify` with new requests"
        )


def _parsed(certificate: str, content: bytes | None, new: Monitor) -> Monitor:
    if content is None:
        return new
    try:
        state = Monitor.model_validate_json(content)
    except pydantic.ValidationError as error:
        url, fault = monitor_url(certificate), first_fault(error)
        raise QprError(f"{url}: damaged: {fault}. Restore it from a copy, or certify again") from error
    return state if (state.certificate, state.alpha) == (new.certificate, new.alpha) else new
