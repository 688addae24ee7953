"""Results of a search: a hit with its reasons, an answer or an abstention with its reason.

Ranking, rows of an id table -> Searcher -> Hit, Why; Hit -> Answer
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from schemas.text import answer_key

Reason = Literal[
    "exact",
    "certified",
    "below_confidence",
    "guard:symbols",
    "guard:numbers",
    "guard:negation",
    "guard:order",
    "guard:entity",
    "guard:action",
    "guard:answer_type",
    "no_certificate",
    "expired",
    "alarm",
    "answer_ended",
    "no_answer",
    "no_hit",
]
"""Grounds of an answer or an abstention: the question itself is in the index, the certificate permits the answer, its
probability is below the certified threshold, a guard fired, there is no certificate, it has expired or audits of given
answers raised the alarm, the validity of the answer has ended since the certificate was made, the best candidate has no
answer, or no question of the index was found."""


@dataclasses.dataclass(frozen=True, eq=False)
class Why:
    """Reasons for a hit. Equal ones have equal values, also where one of them computes these when they are read.

    Attributes:
        shared_words: distinct words of the query that the hit has too, in the order of the query.
        dense_rank: its rank by the distance of the vectors, from 1; None where it is not among the nearest.
        lexical_rank: its rank by BM25, from 1; None where BM25 did not find it or was not used.
        contributions: of the features of the confidence model to the probability, in log odds.
        guard: the guard that fired; None if none did, and for hits that are compared with no question: those of a
            search, and all but the first of an answer.
    """

    shared_words: tuple[str, ...] = ()
    dense_rank: int | None = None
    lexical_rank: int | None = None
    contributions: Mapping[str, float] = dataclasses.field(default_factory=dict)
    guard: str | None = None

    def guarded(self, guard: str | None) -> Why:
        """Return the same reasons with another guard."""
        return Why(self.shared_words, self.dense_rank, self.lexical_rank, self.contributions, guard)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Why) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((self.dense_rank, self.lexical_rank, self.guard))  # a dict of contributions has no hash

    def _values(self) -> tuple[Any, ...]:
        return self.shared_words, self.dense_rank, self.lexical_rank, dict(self.contributions), self.guard


@dataclasses.dataclass(frozen=True)
class Hit:
    """One question that a search returned.

    Attributes:
        rank: from 1.
        question_id: 64-bit id of the question, the hash of its normal form.
        text: the question.
        answer: its answer, None where the index has none.
        answer_id: id of the answer in the table that was indexed, None where it had none.
        cluster_id: cluster of paraphrases, None where the question is in none.
        events: number of log rows with it, None if unknown.
        probability: that it is a paraphrase of the query, or that its answer is the right one if that was learned from
            wordings of answers, in [0, 1]; None where the index has no confidence model.
        why: the reasons for it.
    """

    rank: int
    question_id: int
    text: str
    answer: str | None
    answer_id: str | None
    cluster_id: int | None
    events: int | None
    probability: float | None = None
    why: Why = Why()

    @property
    def judged_id(self) -> str:
        """Return the name of the answer in a file of judged requests: its id, or else the hash of its text.

        A question without an answer is its own.
        """
        return answer_key(self.answer_id, self.answer) or str(self.question_id)

    @classmethod
    def of(cls, record: dict[str, Any], rank: int, probability: float | None, why: Why) -> Hit:
        """Return the hit of a record with all other fields; the record becomes part of it.

        A frozen dataclass sets each field by a call of its own, which takes five times as long.
        """
        hit = object.__new__(cls)
        record |= {"rank": rank, "probability": probability, "why": why}
        object.__setattr__(hit, "__dict__", record)
        return hit


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a question, or an abstention.

    Attributes:
        question: as it was asked.
        answered: the hit may be given as the answer.
        reason: for answering or abstaining.
        hit: the best candidate, also of an abstention; None where nothing was found.
        certificate: digest of the certificate that permits the answer; None where none was needed or there is none.
        hits: the first ones, the best candidate among them; empty unless they were asked for.
    """

    question: str
    answered: bool
    reason: Reason
    hit: Hit | None
    certificate: str | None = None
    hits: tuple[Hit, ...] = ()
