"""Decisions about the best hit of a question: answer or abstain, and why.

question, best hit, certificate -> decide -> Answer
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import TYPE_CHECKING, cast

from model.search.results import Answer, Hit, Reason
from schemas.text import question_id

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded


def decide(question: str, hit: Hit | None, certificate: Loaded | None, now: datetime.datetime) -> Answer:
    """Return the answer to a question, or the abstention.

    A question that is in the index word for word needs no certificate. Another one is answered if the certificate has
    not expired, its audits raised no alarm, no guard fired and the probability is at least the certified threshold.

    Args:
        question: as it was asked.
        hit: the best one, with its guard; None without one.
        certificate: of the searched version; None without one.
        now: present time.
    """
    if hit is None:
        return Answer(question, answered=False, reason="no_hit", hit=None)
    if hit.question_id == question_id(question):
        return Answer(question, answered=True, reason="exact", hit=hit)
    reason = _reason(hit, certificate, now)
    permit = certificate.digest if certificate and reason == "certified" else None
    return Answer(question, answered=permit is not None, reason=reason, hit=hit, certificate=permit)


def with_guard(question: str, hit: Hit) -> Hit:
    """Return a hit with the first guard that sees another question in it."""
    from model.guards.registry import fires  # 20 ms, which a search without answers does not need

    return dataclasses.replace(hit, why=hit.why.guarded(fires(question, hit.text)))


def _reason(hit: Hit, certificate: Loaded | None, now: datetime.datetime) -> Reason:
    if certificate is None:
        return "no_certificate"
    if certificate.alarm:
        return "alarm"
    if certificate.certificate.is_expired(now):
        return "expired"
    if hit.why.guard is not None:
        return cast(Reason, f"guard:{hit.why.guard}")
    if hit.probability is None or hit.probability < certificate.certificate.threshold:
        return "below_confidence"
    return "certified"
