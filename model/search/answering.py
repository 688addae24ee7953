"""Decisions about the best hit of a question: answer or abstain, and why.

question, best hit, certificate -> decide -> Answer
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, cast

from model.search.results import Answer, Hit, Reason
from model.text.asked import checked_number
from schemas.errors import UsageError
from schemas.text import answer_key, key

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded
    from model.index.index import Index


MOST_HITS: Final = 20
"""Hits beside an answer: as many neighbours as its probability compares."""


def decide(question: str, hit: Hit | None, certificate: Loaded | None, now: datetime.datetime, index: Index) -> Answer:
    """Return the answer to a question, or the abstention.

    A question that is in the index word for word needs no certificate. Another one is answered if the certificate has
    not expired, its audits raised no alarm, no guard fired and the probability is at least the certified threshold.
    A hit without an answer answers nothing, unless the index has no answers, so that questions stand for them.

    Args:
        question: as it was asked.
        hit: the best one, with its guard; None without one.
        certificate: of the searched version; None without one.
        now: present time.
        index: that was searched.
    """
    if hit is None:
        return Answer(question, answered=False, reason="no_hit", hit=None)
    if index.has_answers and answer_key(hit.answer_id, hit.answer) is None:
        return Answer(question, answered=False, reason="no_answer", hit=hit)
    if is_same(question, hit):
        return Answer(question, answered=True, reason="exact", hit=hit)
    reason = _reason(hit, certificate, now)
    permit = certificate.digest if certificate and reason == "certified" else None
    return Answer(question, answered=permit is not None, reason=reason, hit=hit, certificate=permit)


def decide_many(
    questions: Sequence[str],
    hits_by_question: Sequence[Sequence[Hit]],
    certificate: Loaded | None,
    now: datetime.datetime,
    index: Index,
) -> list[Answer]:
    """Return the answer to each question, or the abstention, with all its hits; the arguments are those of `decide`."""
    answers = []
    for question, hits in zip(questions, hits_by_question, strict=True):
        same = bool(hits) and is_same(question, hits[0])
        first = with_guard(question, hits[0]) if hits and not same else hits[0] if hits else None
        answer = decide(question, first, certificate, now, index)
        answers.append(dataclasses.replace(answer, hits=(*([first] if first else []), *hits[1:])))
    return answers


def is_same(question: str, hit: Hit) -> bool:
    """Return whether a hit is the question itself."""
    return key(hit.text) == key(question)


def without_ended(answer: Answer, is_valid: Callable[[Hit], bool]) -> Answer:
    """Return an answer without hits whose validity has ended; it abstains if its best candidate is one of them."""
    hits = tuple(filter(is_valid, answer.hits))
    if answer.hit is None or is_valid(answer.hit):
        return dataclasses.replace(answer, hits=hits)
    return Answer(answer.question, answered=False, reason="answer_ended", hit=None, hits=hits)


def checked_hits(hits: int) -> int:
    """Return the number of hits that answers are to have.

    Raises:
        UsageError: it is no whole number, negative or over `MOST_HITS`.
    """
    hits = checked_number(hits, "hits")
    if not 0 <= hits <= MOST_HITS:
        raise UsageError(f"hits of an answer: has to be a number from 0 to {MOST_HITS}, got {hits}")
    return hits


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
