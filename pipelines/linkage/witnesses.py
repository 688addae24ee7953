"""Nearest questions of each question, arranged as evidence for the linkage of its answer.

NEIGHBOURS -> standings_of -> STANDINGS -> agreement_of -> LogAgreement
MEMBERS, STANDINGS, LogAgreement -> witnesses_of -> Witnesses
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from pipelines.intermediate import STANDINGS, VECTOR
from pipelines.neighbours.embeddings import Encode, vectors_of_questions, with_vectors
from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.similarity import question_vectors
from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix
from schemas.ragged import sizes_of_runs, starts_of_runs

NEAREST: Final = 20
"""Number of neighbours of a question with its answer, and the number with other answers."""

SUPPORTING: Final = 10
"""Number of nearest questions, whatever their answer, that support an answer or contradict it."""

CONTRADICTED: Final = 0.15
"""Minimum support of a question whose neighbours do not contradict its answer; chosen on written help-desk logs."""


MANY: Final = 20
"""Minimum number of questions of an answer of many questions."""


class LogAgreement(NamedTuple):
    """Agreement of the nearest questions of a log in their answers; the fields add up over parts of a log.

    Attributes:
        questions: number of questions that have a neighbour and share their answer with another question.
        agreeing: number of these whose nearest question has the same answer.
        contradicted: number of these with a support below `CONTRADICTED`.
        of_many: number of these whose answer has at least `MANY` of them.
    """

    questions: int = 0
    agreeing: int = 0
    contradicted: int = 0
    of_many: int = 0

    @property
    def share(self) -> float:
        """Share of questions whose nearest question has the same answer; one half of no questions."""
        return (self.agreeing + 1) / (self.questions + 2)

    @property
    def contradicted_share(self) -> float:
        """Share of questions whose neighbours contradict their answer."""
        return self.contradicted / max(self.questions, 1)

    @property
    def of_many_share(self) -> float:
        """Share of questions whose answer has many questions."""
        return self.of_many / max(self.questions, 1)


@dataclasses.dataclass(frozen=True)
class Witnesses:
    """The neighbours of R questions.

    Attributes:
        vectors: (R, D) rows of `neighbours.similarity.question_vectors`, or int8 vectors of an encoder.
        same: (R, `NEAREST`) float32 similarities of the nearest questions with the same answer, falling, 0 for none.
        other: (R, `NEAREST`) float32 similarities of those with other answers, falling, 0 for none.
        support: (R,) share of the question's own answer in the squared similarities of its `SUPPORTING` nearest
            questions, compared with the strongest other answer; one half of a question without neighbours.
        log: agreement of the whole log.
    """

    vectors: sparse.csr_array | np.ndarray
    same: np.ndarray
    other: np.ndarray
    support: np.ndarray
    log: LogAgreement

    def take(self, rows: np.ndarray) -> Witnesses:
        """Return the neighbours of some of the rows."""
        return Witnesses(self.vectors[rows], self.same[rows], self.other[rows], self.support[rows], self.log)

    @property
    def by_vectors(self) -> bool:
        """True if questions were compared by an encoder's vectors."""
        return isinstance(self.vectors, np.ndarray)

    @property
    def agreeing(self) -> np.ndarray:
        """(R,) bool, whether the nearest question has the same answer; of equally near ones any may."""
        return _nearest_agrees(self.same, self.other)


class Evidence(NamedTuple):
    """Neighbours of the questions of some answers.

    Attributes:
        standings: STANDINGS of these questions.
        log: agreement of the whole log.
        vectors: ``question_id`` and ``vector`` of these questions, by which they were compared; None: by their words.
    """

    standings: pa.Table
    log: LogAgreement
    vectors: pa.Table | None = None

    def vectors_of(self, members: pa.Table) -> np.ndarray | None:
        """Return the (R, D) int8 vector of each row of ``members``."""
        return None if self.vectors is None else vectors_of_questions(self.vectors, members["question_id"].to_numpy())


def evidence_among(members: pa.Table, weights: TokenWeights, encode: Encode | None = None) -> Evidence:
    """Return the neighbours of the questions of a whole log, all of which are compared.

    Args:
        members: MEMBERS of all questions.
        weights: weights of the words of the log.
        encode: encoder of the texts, by whose vectors they are compared; None: by their words.
    """
    members = members if encode is None else with_vectors(members, encode)
    standings = standings_of(exact_nearest(members, weights, k=NEAREST))
    vectors = None if encode is None else members.select(["question_id", VECTOR.name])
    return Evidence(standings, agreement_of(standings), vectors)


def find_witnesses(members: pa.Table, weights: TokenWeights, evidence: Evidence | None = None) -> Witnesses:
    """Return the neighbours of each row, found among these rows where there is no evidence of the whole log."""
    evidence = evidence_among(members, weights) if evidence is None else evidence
    return witnesses_of(members, evidence.standings, weights, evidence.log, evidence.vectors_of(members))


def witnesses_of(
    members: pa.Table,
    standings: pa.Table,
    weights: TokenWeights,
    log: LogAgreement,
    vectors: np.ndarray | None = None,
) -> Witnesses:
    """Return the neighbours of each row.

    Args:
        members: (R,) MEMBERS, one row a question and answer.
        standings: STANDINGS of these and maybe of other questions, in any order.
        weights: weights of the words of the log.
        log: agreement of the whole log.
        vectors: (R, D) int8 vectors of the rows, if questions were compared by these.
    """
    places = _places(members)
    order = np.argsort(places)
    wanted = _places(standings)
    found = order[np.minimum(np.searchsorted(places[order], wanted), max(len(order) - 1, 0))] if len(order) else wanted
    known = places[found] == wanted if len(order) else np.zeros(0, bool)
    same, other = (np.zeros((len(members), NEAREST), np.float32) for _ in range(2))
    support = np.full(len(members), 0.5)
    same[found[known]], other[found[known]] = (_similarities(standings, name)[known] for name in ("same", "other"))
    support[found[known]] = standings["support"].to_numpy()[known]
    compared_by = question_vectors(members["text"], weights) if vectors is None else vectors
    return Witnesses(compared_by, same, other, support, log)


def standings_of(neighbours: pa.Table) -> pa.Table:
    """Return the STANDINGS of the questions of a NEIGHBOURS table.

    Args:
        neighbours: NEIGHBOURS ordered by answer, question and falling similarity, all of each question present.
    """
    question, answer = (neighbours[name].to_numpy() for name in ("question_id", "answer_id"))
    similarity, of_other = neighbours["similarity"].to_numpy(), neighbours["neighbour_answer_id"].to_numpy()
    starts = starts_of_runs(answer, question)
    sizes = sizes_of_runs(starts, len(answer))
    row = np.repeat(np.arange(len(starts)), sizes)
    is_same = answer == of_other
    tables = [_ranked(row, similarity, of_kind, starts) for of_kind in (is_same, ~is_same)]
    place = np.arange(len(row)) - starts[row]
    nearest = np.flatnonzero(place < SUPPORTING)
    squared, whose = np.zeros((len(starts), SUPPORTING)), np.zeros((len(starts), SUPPORTING), np.int64)
    squared[row[nearest], place[nearest]] = similarity[nearest].astype(float) ** 2
    whose[row[nearest], place[nearest]] = of_other[nearest]
    columns = [question[starts], answer[starts]]
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(table.ravel()), NEAREST) for table in tables]
    return pa.table([*columns, *lists, _support(squared, whose, answer[starts])], schema=STANDINGS)


def agreement_of(standings: pa.Table) -> LogAgreement:
    """Return the agreement of the questions of a STANDINGS table, all rows of each answer present."""
    agreeing = _nearest_agrees(_similarities(standings, "same"), _similarities(standings, "other"))
    support = standings["support"].to_numpy()
    sizes = np.unique(standings["answer_id"].to_numpy(), return_counts=True)[1]
    of_many = int(sizes[sizes >= MANY].sum())
    return LogAgreement(len(standings), int(agreeing.sum()), int((support < CONTRADICTED).sum()), of_many)


def total_agreement(parts: Iterable[LogAgreement]) -> LogAgreement:
    """Return the agreement of a log of disjoint parts."""
    return LogAgreement(*(sum(values) for values in zip(LogAgreement(), *parts, strict=True)))


def _places(table: pa.Table) -> np.ndarray:
    """Return a hash of each question under its answer."""
    places: np.ndarray = mix(table["question_id"].to_numpy(), 0) ^ mix(table["answer_id"].to_numpy(), 1)
    return places


def _similarities(standings: pa.Table, name: str) -> np.ndarray:
    """Return a column of similarities as (S, `NEAREST`) float32."""
    similarities: np.ndarray = standings[name].combine_chunks().flatten().to_numpy().reshape(-1, NEAREST)
    return similarities


def _nearest_agrees(same: np.ndarray, other: np.ndarray) -> np.ndarray:
    agrees: np.ndarray = (same[:, 0] >= other[:, 0]) & (same[:, 0] > 0)
    return agrees


def _ranked(row: np.ndarray, similarity: np.ndarray, of_kind: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the first `NEAREST` similarities of a kind of each row."""
    before = np.cumsum(of_kind) - of_kind
    rank = before - before[starts[row]] if len(row) else before
    kept = of_kind & (rank < NEAREST)
    table = np.zeros((len(starts), NEAREST), np.float32)
    table[row[kept], rank[kept]] = similarity[kept]
    return table


def _support(squared: np.ndarray, whose: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return the support of each row.

    Args:
        squared: (S, `SUPPORTING`) squared similarities of the nearest questions, 0 for none.
        whose: (S, `SUPPORTING`) their answers.
        answer: (S,) the row's own answer.
    """
    of_own = whose == answer[:, None]
    own, of_others = (squared * of_own).sum(axis=1), squared * ~of_own
    strongest = np.zeros(len(answer))
    for column in whose.T:
        np.maximum(strongest, (of_others * (whose == column[:, None])).sum(axis=1), out=strongest)
    either = own + strongest
    support: np.ndarray = np.where(either > 0, own / np.maximum(either, 1e-12), 0.5)
    return support
