"""Nearest questions of each question, arranged as evidence for the linkage of its answer.

MEMBERS, NEIGHBOURS, LogAgreement -> witnesses_of -> Witnesses
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.similarity import question_vectors
from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix
from schemas.ragged import ranks_in_runs, starts_of_runs, sums_of_runs

NEAREST: Final = 20
"""Number of neighbours of a question with its answer, and the number with other answers."""

SUPPORTING: Final = 10
"""Number of nearest questions, whatever their answer, that support an answer or contradict it."""

CONTRADICTED: Final = 0.15
"""Minimum support of a question whose neighbours do not contradict its answer; chosen on written help-desk logs."""


class LogAgreement(NamedTuple):
    """Agreement of the nearest questions of a log in their answers; the fields add up over parts of a log.

    Attributes:
        questions: number of questions that have a neighbour and share their answer with another question.
        agreeing: number of these whose nearest question has the same answer.
        contradicted: number of these with a support below `CONTRADICTED`.
    """

    questions: int = 0
    agreeing: int = 0
    contradicted: int = 0

    @property
    def share(self) -> float:
        """Share of questions whose nearest question has the same answer; one half of no questions."""
        return (self.agreeing + 1) / (self.questions + 2)

    @property
    def contradicted_share(self) -> float:
        """Share of questions whose neighbours contradict their answer."""
        return self.contradicted / max(self.questions, 1)


@dataclasses.dataclass(frozen=True)
class Witnesses:
    """The neighbours of R questions.

    Attributes:
        vectors: (R, D) rows of `neighbours.similarity.question_vectors`.
        same: (R, `NEAREST`) float32 similarities of the nearest questions with the same answer, falling, 0 for none.
        other: (R, `NEAREST`) float32 similarities of those with other answers, falling, 0 for none.
        support: (R,) share of the question's own answer in the squared similarities of its `SUPPORTING` nearest
            questions, compared with the strongest other answer; one half of a question without neighbours.
        log: agreement of the whole log.
    """

    vectors: sparse.csr_array
    same: np.ndarray
    other: np.ndarray
    support: np.ndarray
    log: LogAgreement

    def take(self, rows: np.ndarray) -> Witnesses:
        """Return the neighbours of some of the rows."""
        return Witnesses(self.vectors[rows], self.same[rows], self.other[rows], self.support[rows], self.log)

    @property
    def agreeing(self) -> np.ndarray:
        """(R,) bool, whether the nearest question has the same answer; of equally near ones any may."""
        return _nearest_agrees(self.same, self.other)


class Evidence(NamedTuple):
    """Neighbours of the questions of some answers.

    Attributes:
        neighbours: NEIGHBOURS of these questions.
        log: agreement of the whole log.
    """

    neighbours: pa.Table
    log: LogAgreement


def find_witnesses(members: pa.Table, weights: TokenWeights, evidence: Evidence | None = None) -> Witnesses:
    """Return the neighbours of each row, found among these rows where there is no evidence of the whole log."""
    if evidence is None:
        neighbours = exact_nearest(members, weights, k=NEAREST)
        evidence = Evidence(neighbours, agreement_of(neighbours))
    return witnesses_of(members, evidence.neighbours, weights, evidence.log)


def witnesses_of(members: pa.Table, neighbours: pa.Table, weights: TokenWeights, log: LogAgreement) -> Witnesses:
    """Return the neighbours of each row.

    Args:
        members: (R,) MEMBERS, one row a question and answer.
        neighbours: NEIGHBOURS of these and maybe of other questions, in any order.
        weights: weights of the words of the log.
        log: agreement of the whole log.
    """
    places = _places(members["question_id"].to_numpy(), members["answer_id"].to_numpy())
    order = np.argsort(places)
    wanted = _places(neighbours["question_id"].to_numpy(), neighbours["answer_id"].to_numpy())
    found = order[np.minimum(np.searchsorted(places[order], wanted), max(len(order) - 1, 0))] if len(order) else wanted
    known = places[found] == wanted if len(order) else np.zeros(0, bool)
    same, other, support = _of_rows(found[known], neighbours.filter(pa.array(known)), rows=len(members))
    return Witnesses(question_vectors(members["text"], weights), same, other, support, log)


def agreement_of(neighbours: pa.Table) -> LogAgreement:
    """Return the agreement of the questions of a NEIGHBOURS table, which holds all neighbours of each of them."""
    places = _places(neighbours["question_id"].to_numpy(), neighbours["answer_id"].to_numpy())
    names, row = np.unique(places, return_inverse=True)
    same, other, support = _of_rows(row, neighbours, rows=len(names))
    agreeing = _nearest_agrees(same, other)
    return LogAgreement(len(names), int(agreeing.sum()), int((support < CONTRADICTED).sum()))


def total_agreement(parts: Iterable[LogAgreement]) -> LogAgreement:
    """Return the agreement of a log of disjoint parts."""
    return LogAgreement(*(sum(values) for values in zip(LogAgreement(), *parts, strict=True)))


def _places(questions: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return a hash of each question under its answer."""
    places: np.ndarray = mix(questions, 0) ^ mix(answers, 1)
    return places


def _of_rows(row: np.ndarray, neighbours: pa.Table, *, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``same``, ``other`` and ``support`` of `Witnesses`; ``row`` is the row of each of the neighbours."""
    similarity, of_other = neighbours["similarity"].to_numpy(), neighbours["neighbour_answer_id"].to_numpy()
    is_same = neighbours["answer_id"].to_numpy() == of_other
    same, other = (_ranked(row[kept], similarity[kept], rows=rows) for kept in (is_same, ~is_same))
    return same, other, _support(row, similarity, np.where(is_same, 0, of_other), is_same, rows=rows)


def _nearest_agrees(same: np.ndarray, other: np.ndarray) -> np.ndarray:
    agrees: np.ndarray = (same[:, 0] >= other[:, 0]) & (same[:, 0] > 0)
    return agrees


def _ranked(row: np.ndarray, similarity: np.ndarray, *, rows: int) -> np.ndarray:
    order = np.lexsort((-similarity, row))
    rank = ranks_in_runs(starts_of_runs(row[order]), len(order))
    kept = rank < NEAREST
    table = np.zeros((rows, NEAREST), np.float32)
    table[row[order][kept], rank[kept]] = similarity[order][kept]
    return table


def _support(
    row: np.ndarray, similarity: np.ndarray, answer: np.ndarray, is_same: np.ndarray, *, rows: int
) -> np.ndarray:
    """Return the support of each row; ``answer`` is that of the neighbour, and 0 where it is the row's own."""
    order = np.lexsort((answer, -similarity, row))
    order = order[ranks_in_runs(starts_of_runs(row[order]), len(order)) < SUPPORTING]
    order = order[np.lexsort((answer[order], ~is_same[order], row[order]))]
    row, answer, is_same = row[order], answer[order], is_same[order]
    starts = starts_of_runs(row, is_same.astype(np.int64), answer)
    sums = sums_of_runs(similarity[order].astype(float) ** 2, starts)
    own, strongest = np.zeros(rows), np.zeros(rows)
    mine = is_same[starts]
    own[row[starts][mine]] = sums[mine]
    np.maximum.at(strongest, row[starts][~mine], sums[~mine])
    either = own + strongest
    support: np.ndarray = np.where(either > 0, own / np.maximum(either, 1e-12), 0.5)
    return support
