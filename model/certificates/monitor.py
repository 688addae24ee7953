"""The watch over a certificate in use: some of the given answers are judged every day.

verdicts on given answers -> Monitor.after -> Monitor -> alarm: from then on exact questions only are answered
"""

from __future__ import annotations

import pydantic

from schemas.artifacts import storage
from schemas.artifacts.manifest import first_fault
from schemas.errors import QprError
from schemas.statistics.e_processes import ALARM, excess_evidence


class Monitor(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Verdicts so far on answers that a certificate permitted.

    The answers to judge are drawn at random from all given ones. The result may be looked at after each verdict: a
    promise that holds ever raises an alarm with a chance of at most 1 %.

    Attributes:
        certificate: digest of the certificate.
        alpha: promised maximum share of wrong answers.
        audits: number of verdicts.
        wrong: number of wrong answers, "cannot tell" included.
        highest: highest evidence so far that more than alpha are wrong.
    """

    certificate: str = pydantic.Field(pattern="^[0-9a-f]{64}$")
    alpha: float = pydantic.Field(gt=0, lt=1)
    audits: int = pydantic.Field(default=0, ge=0)
    wrong: int = pydantic.Field(default=0, ge=0)
    highest: float = pydantic.Field(default=1, ge=0, allow_inf_nan=False)

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Monitor:
        if self.wrong > self.audits:
            raise ValueError("more answers are wrong than were judged")
        return self

    def after(self, *verdicts: bool) -> Monitor:
        """Return the state after further verdicts, in their order; True is a wrong answer."""
        state = self
        for is_wrong in verdicts:
            audits, wrong = state.audits + 1, state.wrong + is_wrong
            evidence = float(excess_evidence(wrong, audits, state.alpha))
            highest = max(state.highest, evidence)
            state = state.model_copy(update={"audits": audits, "wrong": wrong, "highest": highest})
        return state

    @property
    def evidence(self) -> float:
        """Return the present evidence that more than alpha are wrong."""
        return float(excess_evidence(self.wrong, self.audits, self.alpha))

    @property
    def alarm(self) -> bool:
        """Return whether the evidence ever reached `ALARM`; only a new certificate ends the alarm."""
        return self.highest >= ALARM


def read_monitor(url: str, *, certificate: str, alpha: float) -> Monitor:
    """Return the state in a file, a new one if there is no file.

    Args:
        url: of the file.
        certificate: digest of the certificate in use.
        alpha: its promise.

    Raises:
        QprError: the file is damaged, or is about another certificate.
    """
    content = storage.read_if_there(url)
    if content is None:
        return Monitor(certificate=certificate, alpha=alpha)
    try:
        state = Monitor.model_validate_json(content)
    except pydantic.ValidationError as error:
        raise QprError(f"{url}: damaged: {first_fault(error)}. Restore it, or certify again") from error
    if (state.certificate, state.alpha) != (certificate, alpha):
        raise QprError(
            f"{url}: watches certificate {state.certificate[:12]}, not {certificate[:12]}. Name another file"
        )
    return state
