"""Hits of a search, with reasons that are computed when they are read.

questions, Found, records of an index, Judgement -> hits_of -> lists of Hit, Why
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from model.search.results import Hit, Why
from schemas.text import words_of

if TYPE_CHECKING:
    from model.confidence.confidence import Confidence, Judgement
    from model.index.index import Index
    from model.search.found import Found


class QuestionWords:
    """The distinct words of a question, cut once for all of its hits, and only if a hit's words are read."""

    def __init__(self, question: str) -> None:
        self._question = question

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """The words in the order of the question."""
        return tuple(dict.fromkeys(words_of(self._question)))


class FoundWhy(Why):
    """Reasons of which the words and contributions, half of the time of a search, are computed when they are read.

    `dataclasses.replace`, a copy and a pickle of them are a plain `Why`, all of whose values are computed.
    """

    def __new__(cls, *values: Any, **named: Any) -> Why:  # type: ignore[misc]  # called by dataclasses.replace
        """Return plain reasons with these values; `found_why` makes the others."""
        return Why(*values, **named)

    def __reduce__(self) -> tuple[type[Why], tuple[Any, ...]]:
        return Why, self._values()

    def __repr__(self) -> str:
        return repr(Why(*self._values()))

    def guarded(self, guard: str | None) -> Why:
        """Return the same reasons with another guard; what was not read stays to be computed."""
        return _lazy(self.__dict__ | {"guard": guard})

    @property  # a cached one takes a lock in Python 3.11, a sixth of the time of the documents of a search
    def shared_words(self) -> tuple[str, ...]:
        """The distinct words of the question that the hit has too."""
        fields = self.__dict__
        if "_shared" not in fields:
            fields["_shared"] = tuple(filter(set(words_of(fields["_text"])).__contains__, fields["_question"].words))
        shared: tuple[str, ...] = fields["_shared"]
        return shared

    @property
    def contributions(self) -> Mapping[str, float]:
        """The contributions of the features to the probability, in log odds."""
        judged: tuple[Judgement, int, int] | None = self.__dict__["_judged"]
        return {} if judged is None else judged[0].reasons(*judged[1:])


def found_why(
    question: QuestionWords, text: str, dense_rank: int, lexical_rank: int, judged: tuple[Judgement, int, int] | None
) -> Why:
    """Return the reasons for a hit.

    Args:
        question: that was asked.
        text: of the hit.
        dense_rank: as of `Why`; 0 for none.
        lexical_rank: as of `Why`; 0 for none.
        judged: judgement of all hits, and row and column of this one; None for a hit that was not judged.
    """
    return _lazy(
        {
            "dense_rank": dense_rank or None,
            "lexical_rank": lexical_rank or None,
            "guard": None,
            "_question": question,
            "_text": text,
            "_judged": judged,
        }
    )


def _lazy(fields: dict[str, Any]) -> Why:
    why: Why = object.__new__(FoundWhy)
    object.__setattr__(why, "__dict__", fields)  # the class is frozen
    return why


def judgement_of(
    found: Found,
    confidence: Confidence | None,
    index: Index,
    asked: Sequence[str],
    records: Sequence[Mapping[str, Any]],
) -> Judgement | None:
    """Return the judgement of found hits, made here unless the search has made it; None without a confidence model."""
    if confidence is None or found.judgement is not None:
        return found.judgement
    from model.search.judging import judged  # a search without a confidence model starts without it

    return judged(confidence, index, asked, found, records)


def hits_of(
    asked: Sequence[str],
    found: Found,
    records: Sequence[dict[str, Any]],
    judgement: Judgement | None,
) -> list[list[Hit]]:
    """Return the hits of each question.

    Args:
        asked: the questions.
        found: their rankings.
        records: `Index.records` of the questions of the rankings, one ranking after the other; they become the hits.
        judgement: of these hits; None without a confidence model, or without a hit.
    """
    rest, hits = iter(records), []
    arrays = found.own_ids, found.ranking.found, found.dense_ranks, found.lexical_ranks
    ranked = zip(asked, *(array.tolist() for array in arrays), strict=True)
    for query, (text, own_id, hit_flags, dense, lexical) in enumerate(ranked):
        words = QuestionWords(text)
        probabilities = None if judgement is None else judgement.probabilities[query].tolist()
        of_query: list[Hit] = []
        for place, is_found in enumerate(hit_flags):
            if not is_found:
                continue
            record = next(rest)
            same = record["question_id"] == own_id
            judged = None if judgement is None or same else (judgement, query, place)
            why = found_why(words, record["text"], dense[place], lexical[place], judged)
            likely = None if probabilities is None else 1.0 if same else probabilities[place]
            of_query.append(Hit.of(record, len(of_query) + 1, likely, why))
        hits.append(of_query)
    return hits


def same_questions(index: Index, asked: Sequence[str], *, judges: bool) -> list[Hit | None]:
    """Return the question of the index with the key of each question asked, None where there is none.

    Args:
        index: where it is looked up.
        asked: the questions.
        judges: hits have a probability.
    """
    rows = index.rows_of(np.array([index.row_id(text) for text in asked], np.int64))
    records = iter(index.records(rows[rows >= 0]))
    pairs = zip(asked, rows.tolist(), strict=True)
    return [None if row < 0 else same_question(text, next(records), 1.0 if judges else None) for text, row in pairs]


def same_question(question: str, record: dict[str, Any], probability: float | None) -> Hit:
    """Return the question of the index that has the key of another one, as its hit."""
    why = found_why(QuestionWords(question), record["text"], 0, 0, None)
    return Hit.of(record, 1, probability, why)
