"""Similarities of the nearest questions of each question, and how often these agree in their answers.

NEIGHBOURS -> standings_of -> STANDINGS -> agreement_of -> LogAgreement
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import STANDINGS
from pipelines.linkage.log_profile import NONE, pairs_of_answers, profile_of
from pipelines.neighbours.similarity import LEVELS
from schemas.ragged import offsets_of, runs_of

NEAREST: Final = 20
"""Number of neighbours of a question with its answer, and the number with other answers."""

SUPPORTING: Final = NEAREST
"""Number of nearest questions, whatever their answer, that support an answer or contradict it; with ten, twice as many
right questions of help desks are contradicted."""

SUPPORTS: Final = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""Upper ends of the classes by which the supports of a log's questions are counted; the last class has all above."""

CONTRADICTED: Final = 0.15
"""Maximum support of a question whose neighbours contradict its answer; chosen on written help-desk logs."""

Supports = tuple[int, ...]
"""Numbers of questions by class of their support, one more than `SUPPORTS`."""

NO_SUPPORTS: Final[Supports] = (0,) * (len(SUPPORTS) + 1)

_AT_ONCE: Final = 2**17
"""Number of questions whose similarities are read at a time; bounds memory."""

MANY: Final = 20
"""Minimum number of questions of an answer of many questions."""

REACHED: Final = 6
FEWEST_REACHED: Final = 3
"""A question of an answer is compared with its nth nearest ones too: n is a sixth of the answer's questions, from 3 to
`NEAREST`."""

MAX_FREQUENT: Final = 20
"""Number of the most frequent answers whose agreement is kept: all with a twentieth of the questions are among them."""


class FrequentAnswer(NamedTuple):
    """One of the most frequent answers of a log.

    Attributes:
        answer_id: of the answer.
        questions: number of its questions that have a neighbour.
        agreeing: number of these whose nearest question has the same answer.
        supports: number of these by their support.
        surrounded: number of these whose nth nearest question with the answer is no farther than the nth with another.
    """

    answer_id: int
    questions: int
    agreeing: int
    supports: Supports = NO_SUPPORTS
    surrounded: int = 0


class LogAgreement(NamedTuple):
    """Agreement of the nearest questions of a log in their answers; the fields add up over parts of a log.

    Attributes:
        questions: number of questions that have a neighbour and share their answer with another question.
        agreeing: number of these whose nearest question has the same answer.
        supports: number of these by their support.
        of_many: number of these whose answer has at least `MANY` of them.
        profile: similarities of these by the size of their answer, see `log_profile.profile_of`.
        pairs: number of pairs of these that a sample of all answers would have, see `log_profile.pairs_of_answers`.
        agreeing_of_many: number of those in ``of_many`` whose nearest question has the same answer.
        supports_of_many: number of those by their support.
        surrounded_of_many: number of those whose nth nearest question with their answer is no farther than the nth
            with another, see `REACHED`.
        frequent: the answers with the most questions, at most `MAX_FREQUENT`.
    """

    questions: int = 0
    agreeing: int = 0
    supports: Supports = NO_SUPPORTS
    of_many: int = 0
    profile: tuple[int, ...] = NONE
    pairs: int = 0
    agreeing_of_many: int = 0
    supports_of_many: Supports = NO_SUPPORTS
    surrounded_of_many: int = 0
    frequent: tuple[FrequentAnswer, ...] = ()

    @property
    def share(self) -> float:
        """Share of questions whose nearest question has the same answer; one half of no questions."""
        return (self.agreeing + 1) / (self.questions + 2)

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
    starts, sizes = runs_of(answer, question)
    row = np.repeat(np.arange(len(starts)), sizes)
    is_same = answer == of_other
    lists = [_ranked(row, similarity, of_kind, starts) for of_kind in (is_same, ~is_same)]
    place = np.arange(len(row)) - starts[row]
    nearest = np.flatnonzero(place < SUPPORTING)
    squared, whose = np.zeros((len(starts), SUPPORTING)), np.zeros((len(starts), SUPPORTING), np.int64)
    squared[row[nearest], place[nearest]] = similarity[nearest].astype(float) ** 2
    whose[row[nearest], place[nearest]] = of_other[nearest]
    columns = [question[starts], answer[starts]]
    return pa.table([*columns, *lists, _support(squared, whose, answer[starts])], schema=STANDINGS)


def agreement_of(standings: pa.Table) -> LogAgreement:
    """Return the agreement of the questions of a STANDINGS table, all rows of each answer present."""
    support = classes_of(standings["support"].to_numpy())
    ids, answer, sizes = np.unique(standings["answer_id"].to_numpy(), return_inverse=True, return_counts=True)
    agreeing, surrounded, profiles = np.zeros(len(answer), bool), np.zeros(len(answer), bool), [NONE]
    for rows, same, other in similarities_of(standings):
        agrees, size = nearest_agrees(same, other), sizes[answer[rows]]
        several = size > 1
        profiles.append(profile_of(same[several], other[several], agrees[several], size[several]))
        agreeing[rows], surrounded[rows] = agrees, nearest_agrees(same, other, places_reached(size))
    agreeing_of, surrounded_of = (np.bincount(answer[rows], minlength=len(ids)) for rows in (agreeing, surrounded))
    supports_of = np.zeros((len(ids), len(NO_SUPPORTS)), np.int64)
    np.add.at(supports_of, (answer, support), 1)
    many, largest = sizes >= MANY, np.argsort(-sizes, kind="stable")[:MAX_FREQUENT]
    columns = [values[largest].tolist() for values in (ids, sizes, agreeing_of)]
    columns += [list(map(tuple, supports_of[largest].tolist())), surrounded_of[largest].tolist()]
    return LogAgreement(
        questions=len(standings),
        agreeing=int(agreeing.sum()),
        supports=tuple(supports_of.sum(axis=0).tolist()),
        of_many=int(sizes[many].sum()),
        profile=total_of(profiles),
        pairs=int(pairs_of_answers(sizes).sum()),
        agreeing_of_many=int(agreeing_of[many].sum()),
        supports_of_many=tuple(supports_of[many].sum(axis=0).tolist()),
        surrounded_of_many=int(surrounded_of[many].sum()),
        frequent=tuple(FrequentAnswer(*row) for row in zip(*columns, strict=True)),
    )


def total_agreement(parts: Iterable[LogAgreement]) -> LogAgreement:
    """Return the agreement of a log of disjoint parts."""
    every = [LogAgreement(), *parts]
    columns = dict(zip(LogAgreement._fields, zip(*every, strict=True), strict=True))
    profile, supports, of_many = (total_of(columns.pop(name)) for name in ("profile", "supports", "supports_of_many"))
    frequent = itertools.chain(*columns.pop("frequent"))
    largest = sorted(frequent, key=lambda answer: (-answer.questions, answer.answer_id))[:MAX_FREQUENT]
    sums = {name: sum(counts) for name, counts in columns.items()}
    return LogAgreement(**sums, profile=profile, supports=supports, supports_of_many=of_many, frequent=tuple(largest))


def total_of(counts: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return the sums of numbers at equal places."""
    return tuple(map(sum, zip(*counts, strict=True)))


def classes_of(support: np.ndarray) -> np.ndarray:
    """Return the class of each support, 0 to `len(SUPPORTS)`."""
    classes: np.ndarray = np.searchsorted(SUPPORTS, support, side="left")
    return classes


def contradicted_share(supports: Supports) -> float:
    """Return the share of questions whose neighbours contradict their answer."""
    return sum(supports[: SUPPORTS.index(CONTRADICTED) + 1]) / max(sum(supports), 1)


def similarities_of(standings: pa.Table) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield some rows of STANDINGS at a time, and their similarities ``same`` and ``other``: (rows, `NEAREST`) float32.

    They are falling, and 0 for none.
    """
    for start in range(0, len(standings), _AT_ONCE):
        some = standings.slice(start, _AT_ONCE)
        yield slice(start, start + len(some)), _similarities(some["same"]), _similarities(some["other"])


def _similarities(lists: pa.ChunkedArray) -> np.ndarray:
    lengths = pc.list_value_length(lists).to_numpy()
    levels = pc.list_flatten(lists).to_numpy()
    similarities = np.zeros((len(lengths), NEAREST), np.float32)
    similarities[np.arange(NEAREST) < lengths[:, None]] = (levels.astype(np.float32) + 1) / LEVELS
    return similarities


def nearest_agrees(same: np.ndarray, other: np.ndarray, place: np.ndarray | int = 0) -> np.ndarray:
    """Return whether in each row of falling similarities the one at a place is positive and no less in ``same``."""
    own, others = (similarities[np.arange(len(same)), place] for similarities in (same, other))
    agrees: np.ndarray = (own >= others) & (own > 0)
    return agrees


def places_reached(sizes: np.ndarray) -> np.ndarray:
    """Return n - 1, counted among the similarities of one kind, for questions of answers of these sizes."""
    places: np.ndarray = np.minimum(np.clip(sizes // REACHED, FEWEST_REACHED, NEAREST), np.maximum(sizes - 1, 1)) - 1
    return places


def _ranked(row: np.ndarray, similarity: np.ndarray, of_kind: np.ndarray, starts: np.ndarray) -> pa.ListArray:
    """Return the first `NEAREST` similarities of a kind of each row, as STANDINGS have them."""
    before = np.cumsum(of_kind) - of_kind
    rank = before - before[starts[row]] if len(row) else before
    kept = of_kind & (rank < NEAREST)
    ends = offsets_of(np.bincount(row[kept], minlength=len(starts))).astype(np.int32)
    levels = (similarity[kept] * np.float32(LEVELS)).astype(np.int64) - 1  # 1 to `LEVELS`, which 16 bits hold from 0 on
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(levels.astype(np.uint16)))


def _support(squared: np.ndarray, whose: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return the support of each row.

    Args:
        squared: (S, `SUPPORTING`) squared similarities of the nearest questions, 0 for none.
        whose: (S, `SUPPORTING`) their answers.
        answer: (S,) the row's own answer.
    """
    of_own = whose == answer[:, None]
    own = (squared * of_own).sum(axis=1)
    of_others, whose = np.ascontiguousarray(np.where(of_own, 0.0, squared).T), np.ascontiguousarray(whose.T)
    strongest = np.zeros(len(answer))
    for place, (first, other) in enumerate(zip(of_others, whose, strict=True)):
        total = first.copy()  # complete where the question is the first of its answer
        for similarity, later in zip(of_others[place + 1 :], whose[place + 1 :], strict=True):
            total += np.where(later == other, similarity, 0.0)
        np.maximum(strongest, total, out=strongest)
    either = own + strongest
    support: np.ndarray = np.where(either > 0, own / np.maximum(either, 1e-12), 0.5)
    return support
