"""Evidence of a sequence of certificates that promise the same: verdicts on answers that they permitted.

AuditVerdict, Monitor -> Monitor.after -> Monitor, maybe with an alarm
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

import pydantic

from schemas.artifacts.manifest import Sha256
from schemas.errors import QprError
from schemas.statistics.e_processes import ALARM
from schemas.statistics.later_excess import later_excess_evidence

_EARLIER: Final = ("certificate", "audits", "wrong", "judged", "judged_wrong")
"""Fields of the only certificate of a file of earlier releases."""


class AuditVerdict(NamedTuple):
    """A person's verdict on a given answer.

    Attributes:
        name: id of the drawn answer.
        is_wrong: the answer is wrong, or that cannot be decided.
        certificate: digest of the certificate that permitted it.
    """

    name: str
    is_wrong: bool
    certificate: str


class ContradictionError(QprError):
    """A verdict on an answer that was counted with the other verdict before."""


class Audited(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Verdicts on answers of one certificate.

    Attributes:
        certificate: its digest.
        created: time of its certification; None in files of earlier releases.
        audits: number of verdicts.
        wrong: number of wrong answers, unclear ones included.
        judged: ids of the judged answers; each counts once.
        judged_wrong: ids of the wrong ones among them; files of earlier releases lack some or all.
    """

    certificate: Sha256
    created: pydantic.AwareDatetime | None = None
    audits: int = pydantic.Field(default=0, ge=0)
    wrong: int = pydantic.Field(default=0, ge=0)
    judged: tuple[str, ...] = ()
    judged_wrong: tuple[str, ...] = ()

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Audited:
        if self.wrong > self.audits:
            raise ValueError("more answers are wrong than were judged")
        if len(self.judged_wrong) > self.wrong or not set(self.judged_wrong) <= set(self.judged):
            raise ValueError("judged_wrong names other answers than those that were counted as wrong")
        return self

    def verdicts(self) -> dict[str, bool | None]:
        """Return for each judged answer whether it is wrong; None where a file of an earlier release lacks it."""
        wrong, unlisted = frozenset(self.judged_wrong), False if len(self.judged_wrong) == self.wrong else None
        return {name: True if name in wrong else unlisted for name in self.judged}

    def plus(self, names: dict[str, bool]) -> Audited:
        """Return the state after verdicts on further answers: for each id whether the answer is wrong."""
        wrong = [name for name, is_wrong in names.items() if is_wrong]
        news = {"audits": self.audits + len(names), "wrong": self.wrong + len(wrong)}
        ids = {"judged": (*self.judged, *names), "judged_wrong": (*self.judged_wrong, *wrong)}
        return self.model_copy(update=news | ids)


class Monitor(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Verdicts so far on answers that a sequence of certificates permitted, which all promise the same.

    The answers to judge are drawn at random from all given ones of a day. The result may be looked at after each
    verdict: a promise that holds on each day ever raises an alarm with a chance of at most 1 %, however many
    certificates follow each other. An alarm ends all certificates up to then; a later one begins without evidence.

    Attributes:
        format: of the file; those of earlier releases, each of one certificate, have none.
        alpha: promised maximum share of wrong answers.
        certificates: those since the last alarm, in the order in which they began.
        highest: highest evidence since then that more than alpha are wrong.
        alarmed: time of the last alarm; None: there was none.
    """

    format: Literal[2] = 2
    alpha: float = pydantic.Field(gt=0, lt=1)
    certificates: tuple[Audited, ...] = ()
    highest: float = pydantic.Field(default=1, ge=0, allow_inf_nan=False)
    alarmed: pydantic.AwareDatetime | None = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_earlier_release(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "certificate" not in data:
            return data
        of_certificate = {name: data[name] for name in _EARLIER if name in data}
        remaining = {name: value for name, value in data.items() if name not in of_certificate}
        return {**remaining, "certificates": [of_certificate]}

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Monitor:
        if len({audited.certificate for audited in self.certificates}) < len(self.certificates):
            raise ValueError("a certificate is listed twice")
        if self.highest >= ALARM and self.alarmed is None:
            raise ValueError("the evidence and the time of the alarm do not fit each other")
        return self

    def ends(self, certificate: str, created: datetime.datetime) -> bool:
        """Return whether an alarm has ended a certificate, by its digest and the time of its certification."""
        is_listed = self.of(certificate) is not None
        return (is_listed and self.highest >= ALARM) or (self.alarmed is not None and created <= self.alarmed)

    def of(self, certificate: str) -> Audited | None:
        """Return the verdicts on answers of a certificate, by its digest; None: they are not counted here."""
        return next((audited for audited in self.certificates if audited.certificate == certificate), None)

    def including(self, further: Audited, created: datetime.datetime) -> Monitor:
        """Return the state with one more certificate; after an alarm a later certificate begins without evidence.

        A certificate that is listed, or that an alarm ended before it was listed, changes nothing.

        Args:
            further: the certificate, maybe with verdicts.
            created: time of its certification.
        """
        if self.of(further.certificate) is not None or self.ends(further.certificate, created):
            return self
        if self.highest >= ALARM:
            return Monitor(alpha=self.alpha, alarmed=self.alarmed, certificates=(further,))
        return self.model_copy(update={"certificates": (*self.certificates, further)})

    def after(self, verdicts: Iterable[AuditVerdict], now: datetime.datetime) -> Monitor:
        """Return the state after further verdicts, in their order; one that was counted before is left out.

        Args:
            verdicts: on answers that were drawn at random from the given ones.
            now: present time, kept if the verdicts raise the alarm.

        Raises:
            ContradictionError: an answer was counted with the other verdict before.
            QprError: a verdict is about a certificate that is not listed.
        """
        places = {audited.certificate: place for place, audited in enumerate(self.certificates)}
        counted_before = [audited.verdicts() for audited in self.certificates]
        added = [dict[str, bool]() for _ in self.certificates]
        wrong, audits = self._counts()
        highest = self.highest
        for verdict in verdicts:
            if (place := places.get(verdict.certificate)) is None:
                fault = "its verdicts are not counted any more, since an alarm. Leave them out"
                raise QprError(f"certificate {verdict.certificate[:12]!a}: {fault}")
            if verdict.name in counted_before[place]:
                _check_same(verdict, counted_before[place][verdict.name])
                continue
            counted_before[place][verdict.name] = added[place][verdict.name] = verdict.is_wrong
            audits[place] += 1
            wrong[place] += verdict.is_wrong
            highest = max(highest, float(later_excess_evidence(wrong, audits, self.alpha)))
        alarmed = self.alarmed
        if self.highest < ALARM <= highest:  # not before the certificates: a clock may be slow
            alarmed = max([now, *(audited.created for audited in self.certificates if audited.created)])
        certificates = tuple(audited.plus(names) for audited, names in zip(self.certificates, added, strict=True))
        return self.model_copy(update={"certificates": certificates, "highest": highest, "alarmed": alarmed})

    def _counts(self) -> tuple[list[int], list[int]]:
        return [audited.wrong for audited in self.certificates], [audited.audits for audited in self.certificates]

    @property
    def audits(self) -> int:
        """Return the number of verdicts since the last alarm."""
        return sum(self._counts()[1])

    @property
    def wrong(self) -> int:
        """Return the number of wrong answers among them."""
        return sum(self._counts()[0])

    @property
    def evidence(self) -> float:
        """Return the present evidence that more than alpha are wrong."""
        return float(later_excess_evidence(*self._counts(), self.alpha))


def _check_same(verdict: AuditVerdict, counted_as: bool | None) -> None:
    """Refuse a verdict on an answer that was counted with the other one: it would change nothing without a word."""
    if counted_as not in (None, verdict.is_wrong):
        now, before = ("wrong", "right") if verdict.is_wrong else ("right", "wrong")
        raise ContradictionError(
            f"request_id {verdict.name[:40]!a} is {now} here and was counted as {before} before. A counted verdict "
            "stays until a certificate is made after an alarm: restore it here"
        )
