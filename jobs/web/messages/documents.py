"""Responses as plain objects for JSON, and their types for the OpenAPI document.

Hit -> hit_document; Answer -> answer_document; row of an id table -> question_document

64-bit ids are strings, since JavaScript rounds integers beyond 2**53.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, get_args

import pydantic
from typing_extensions import TypedDict  # pydantic reads that of typing from Python 3.12 on

from model.search.results import Reason
from schemas.text import answer_key

if TYPE_CHECKING:
    from model.search.results import Answer, Hit

_GUARD = "guard:"
_Guard = Annotated[
    str,
    pydantic.WithJsonSchema(
        {
            "type": "string",
            "enum": [reason.removeprefix(_GUARD) for reason in get_args(Reason) if reason.startswith(_GUARD)],
        }
    ),
]
"""Name of a guard; the reasons have them all."""


class WhyDocument(TypedDict):
    """Reasons for a hit."""

    shared_words: list[str]
    dense_rank: int | None
    lexical_rank: int | None
    contributions: dict[str, float]
    guard: _Guard | None


class HitDocument(TypedDict):
    """A question of the index that matches."""

    rank: int
    question_id: str
    text: str
    answer: str | None
    answer_id: str | None
    cluster_id: str | None
    events: int | None
    probability: float | None
    why: WhyDocument


class HitsDocument(TypedDict):
    """The hits of one question."""

    question: str
    hits: list[HitDocument]


class SearchDocument(TypedDict):
    """The response to a search."""

    version: str
    results: list[HitsDocument]


class AnswerDocument(TypedDict):
    """The answer to one question, or an abstention."""

    question: str
    answered: bool
    reason: Literal[Reason, "blocked"]
    answer: str | None
    hit: HitDocument | None
    certificate: str | None
    hits: NotRequired[list[HitDocument]]


class AnswersDocument(TypedDict):
    """The response to questions to answer."""

    version: str
    results: list[AnswerDocument]


class IndexedQuestion(TypedDict):
    """A question of the index."""

    question_id: str
    text: str
    answer: str | None
    answer_id: str | None
    cluster_id: str | None
    events: int | None
    blocked: bool


class QuestionDocument(IndexedQuestion):
    """The response to a look-up of a question."""

    version: str


class ClusterDocument(TypedDict):
    """The response to a look-up of a cluster; of a large one it lists the first questions."""

    version: str
    cluster_id: str
    size: int
    questions: list[IndexedQuestion]


class FaultDocument(TypedDict):
    """The response to a request that is refused."""

    error: str


_WITHOUT_CERTIFICATE = frozenset({"exact", "no_hit", "no_certificate", "answer_ended", "no_answer"})
"""Reasons in which no certificate has a part."""


def hit_document(hit: Hit, rank: int) -> HitDocument:
    """Return a hit for JSON."""
    why = hit.why
    return {
        "rank": rank,
        "question_id": str(hit.question_id),
        "text": hit.text,
        "answer": hit.answer,
        "answer_id": answer_key(hit.answer_id, hit.answer),
        "cluster_id": None if hit.cluster_id is None else str(hit.cluster_id),
        "events": hit.events,
        "probability": hit.probability,
        "why": {
            "shared_words": list(why.shared_words),
            "dense_rank": why.dense_rank,
            "lexical_rank": why.lexical_rank,
            "contributions": dict(why.contributions),
            "guard": why.guard,
        },
    }


def hit_documents(hits: Sequence[Hit], k: int, *, blocked: frozenset[str]) -> list[HitDocument]:
    """Return the first k hits whose answer is not blocked, ranked from 1."""
    kept = [hit for hit in hits if answer_key(hit.answer_id, hit.answer) not in blocked] if blocked else hits
    return [hit_document(hit, rank) for rank, hit in enumerate(kept[:k], start=1)]


def answer_document(answer: Answer, *, blocked: frozenset[str], alarm: bool) -> AnswerDocument:
    """Return an answer or an abstention for JSON.

    Args:
        answer: of a searcher.
        blocked: ids of answers; a blocked one becomes an abstention without its hit.
        alarm: the certificate permits nothing any more.
    """
    hit, question = answer.hit, answer.question
    if blocked and hit is not None and answer_key(hit.answer_id, hit.answer) in blocked:
        return AnswerDocument(
            question=question, answered=False, reason="blocked", answer=None, hit=None, certificate=None
        )
    ended = alarm and answer.reason not in _WITHOUT_CERTIFICATE
    answered = answer.answered and not ended
    return {
        "question": question,
        "answered": answered,
        "reason": "alarm" if ended else answer.reason,
        "answer": hit.answer if answered and hit else None,
        "hit": None if hit is None else hit_document(hit, 1),
        "certificate": None if ended else answer.certificate,
    }


def question_document(row: Mapping[str, Any], *, blocked: frozenset[str]) -> IndexedQuestion:
    """Return a row of an id table for JSON; a blocked answer is left out."""
    answer_id = answer_key(row["answer_id"], row["answer"])
    hidden = answer_id in blocked
    return {
        "question_id": str(row["question_id"]),
        "text": row["text"],
        "answer": None if hidden else row["answer"],
        "answer_id": answer_id,
        "cluster_id": None if row["cluster_id"] is None else str(row["cluster_id"]),
        "events": row["events"],
        "blocked": hidden,
    }
