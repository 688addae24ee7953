"""Results of a search: objects for programs, arrays for evaluation and reranking.

Ranking, rows of an id table -> hits_of -> lists of Hit
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from schemas.errors import UsageError

Ints = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Hit:
    """One question that a search returned.

    Attributes:
        rank: from 1.
        score: negative squared distance of the two vectors, 0 is best; with a reranker the reranker's own. Higher is
            better.
        question_id: 64-bit id of the question, the hash of its normal form.
        text: the question.
        answer: its answer, None where the index has none.
        answer_id: id of the answer in the table that was indexed, None where it had none.
        cluster_id: cluster of paraphrases, None where the question is in none.
        events: number of log rows with it, None if unknown.
    """

    rank: int
    score: float
    question_id: int
    text: str
    answer: str | None
    answer_id: str | None
    cluster_id: int | None
    events: int | None


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Ranked questions of n queries, padded where there are fewer than k.

    Attributes:
        ids: (n, k) question ids, -1 where padded.
        scores: (n, k) float32, negative squared Euclidean distance (Bonadiman et al. 2019, eq. 3); bigger is better,
            -inf where padded.
        rows: (n, k) row numbers for `Index.questions`, -1 where padded.
    """

    ids: Ints
    scores: npt.NDArray[np.float32]
    rows: Ints

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Return (n, k) where there is a hit and no padding."""
        return self.rows >= 0


def hits_of(ranking: Ranking, questions: pa.Table) -> list[list[Hit]]:
    """Return the hits of each query.

    Args:
        ranking: of the queries.
        questions: `Index.questions` of ``ranking.rows`` where it is not padded, one query after the other.
    """
    found = iter(questions.to_pylist())
    return [
        [Hit(rank, score, **next(found)) for rank, score in enumerate(scores[there].tolist(), start=1)]
        for there, scores in zip(ranking.found, ranking.scores, strict=True)
    ]


def check_questions(questions: object) -> list[str]:
    """Return the questions given to `Index.search_many`.

    Raises:
        UsageError: they are one str, no sequence, or contain something else than str.
    """
    if isinstance(questions, str) or not isinstance(questions, Iterable):
        kind = type(questions).__name__
        raise UsageError(f"search_many takes a list of questions, got {kind}. Write index.search(question) for one")
    listed = list(questions)
    for number, question in enumerate(listed):
        if not isinstance(question, str):
            kind = type(question).__name__
            raise UsageError(f"search_many takes a list of str, item {number} is of type {kind}. Convert it to str")
    return listed


def check_question(question: object) -> str:
    """Return the question given to `Index.search`.

    Raises:
        UsageError: it is not a str.
    """
    if not isinstance(question, str):
        kind = type(question).__name__
        raise UsageError(f"search takes one question as a str, got {kind}. Write index.search_many([...]) for several")
    return question
