"""Similarities of the nearest questions of each question, and how often these agree in their answers.

NEIGHBOURS -> standings_of -> STANDINGS -> agreement_of -> LogAgreement
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.intermediate import STANDINGS
from pipelines.linkage.log_profile import NONE, pairs_of_answers, profile_of
from schemas.ragged import sizes_of_runs, starts_of_runs

NEAREST: Final = 20
"""Number of neighbours of a question with its answer, and the number with other answers."""

SUPPORTING: Final = 10
"""Number of nearest questions, whatever their answer, that support an answer or contradict it."""

CONTRADICTED: Final = 0.15
"""Minimum support of a question whose neighbours do not contradict its answer; chosen on written help-desk logs."""

MANY: Final = 20
"""Minimum number of questions of an answer of many questions."""


MAX_FREQUENT: Final = 20
"""Number of the most frequent answers whose agreement is kept: all with a twentieth of the questions are among them."""


class FrequentAnswer(NamedTuple):
    """One of the most frequent answers of a log.

    Attributes:
        answer_id: of the answer.
        questions: number of its questions that have a neighbour.
        agreeing: number of these whose nearest question has the same answer.
        contradicted: number of these with a support below `CONTRADICTED`.
    """

    answer_id: int
    questions: int
    agreeing: int
    contradicted: int = 0


class LogAgreement(NamedTuple):
    """Agreement of the nearest questions of a log in their answers; the fields add up over parts of a log.

    Attributes:
        questions: number of questions that have a neighbour and share their answer with another question.
        agreeing: number of these whose nearest question has the same answer.
        contradicted: number of these with a support below `CONTRADICTED`.
        of_many: number of these whose answer has at least `MANY` of them.
        profile: similarities of these by the size of their answer, see `log_profile.profile_of`.
        pairs: number of pairs of these that a sample of all answers would have, see `log_profile.pairs_of_answers`.
        agreeing_of_many: number of those in ``of_many`` whose nearest question has the same answer.
        contradicted_of_many: number of those with a support below `CONTRADICTED`.
        frequent: the answers with the most questions, at most `MAX_FREQUENT`.
    """

    questions: int = 0
    agreeing: int = 0
    contradicted: int = 0
    of_many: int = 0
    profile: tuple[int, ...] = NONE
    pairs: int = 0
    agreeing_of_many: int = 0
    contradicted_of_many: int = 0
    frequent: tuple[FrequentAnswer, ...] = ()

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
    same, other = similarities_in(standings, "same"), similarities_in(standings, "other")
    agreeing, contradicted = nearest_agrees(same, other), standings["support"].to_numpy() < CONTRADICTED
    ids, answer, sizes = np.unique(standings["answer_id"].to_numpy(), return_inverse=True, return_counts=True)
    several = sizes[answer] > 1
    profile = profile_of(same[several], other[several], agreeing[several], sizes[answer][several])
    of_answers = [np.bincount(answer[rows], minlength=len(ids)) for rows in (agreeing, contradicted)]
    of_many = [int(counts[sizes >= MANY].sum()) for counts in (sizes, *of_answers)]
    largest = np.argsort(-sizes, kind="stable")[:MAX_FREQUENT]
    columns = [values[largest].tolist() for values in (ids, sizes, *of_answers)]
    return LogAgreement(
        questions=len(standings),
        agreeing=int(agreeing.sum()),
        contradicted=int(contradicted.sum()),
        of_many=of_many[0],
        profile=profile,
        pairs=int(pairs_of_answers(sizes).sum()),
        agreeing_of_many=of_many[1],
        contradicted_of_many=of_many[2],
        frequent=tuple(FrequentAnswer(*row) for row in zip(*columns, strict=True)),
    )


def total_agreement(parts: Iterable[LogAgreement]) -> LogAgreement:
    """Return the agreement of a log of disjoint parts."""
    every = [LogAgreement(), *parts]
    columns = dict(zip(LogAgreement._fields, zip(*every, strict=True), strict=True))
    profile = tuple(map(sum, zip(*columns.pop("profile"), strict=True)))
    frequent = itertools.chain(*columns.pop("frequent"))
    largest = sorted(frequent, key=lambda answer: (-answer.questions, answer.answer_id))[:MAX_FREQUENT]
    return LogAgreement(
        **{name: sum(counts) for name, counts in columns.items()}, profile=profile, frequent=tuple(largest)
    )


def similarities_in(standings: pa.Table, name: str) -> np.ndarray:
    """Return column ``name`` of STANDINGS as (S, `NEAREST`) float32."""
    similarities: np.ndarray = standings[name].combine_chunks().flatten().to_numpy().reshape(-1, NEAREST)
    return similarities


def nearest_agrees(same: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return whether the nearest question of each row has the same answer, from falling similarities of both kinds."""
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
