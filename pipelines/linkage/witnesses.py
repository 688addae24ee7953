"""Nearest questions of each question, arranged as evidence for the linkage of its answer.

MEMBERS, STANDINGS, LogAgreement -> witnesses_of -> Witnesses
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from pipelines.intermediate import STANDINGS, VECTOR
from pipelines.linkage.standings import (
    NEAREST,
    LogAgreement,
    agreement_of,
    nearest_agrees,
    similarities_of,
    standings_of,
)
from pipelines.neighbours.embeddings import Encode, vectors_of_questions, with_vectors
from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.similarity import question_vectors
from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix


@dataclasses.dataclass(frozen=True)
class Witnesses:
    """The neighbours of R questions.

    Attributes:
        vectors: (R, D) int8 vectors of an encoder, or rows of `neighbours.similarity.question_vectors`; None: the
            latter, before `with_question_vectors`.
        same: (R, `NEAREST`) float32 similarities of the nearest questions with the same answer, falling, 0 for none.
        other: (R, `NEAREST`) float32 similarities of those with other answers, falling, 0 for none.
        support: (R,) share of the question's own answer in the squared similarities of its `SUPPORTING` nearest
            questions, compared with the strongest other answer; one half of a question without neighbours.
        log: agreement of the whole log.
        words: the same rows' neighbours by words, where these are by an encoder's vectors and a model uses both.
        place: (R,) place of each row in ``same`` and ``other``, or their length for none; None: they have all rows.
    """

    vectors: sparse.csr_array | np.ndarray | None
    same: np.ndarray
    other: np.ndarray
    support: np.ndarray
    log: LogAgreement
    words: Witnesses | None = None
    place: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Witnesses:
        """Return the neighbours of some of the rows, all of which have similarities."""
        words = None if self.words is None else self.words.take(rows)
        vectors = None if self.vectors is None else self.vectors[rows]
        places = rows if self.place is None else self.place[rows]
        return Witnesses(vectors, self.same[places], self.other[places], self.support[rows], self.log, words)

    def with_similarities_of(self, rows: np.ndarray) -> Witnesses:
        """Return the same without the similarities of the other rows, which take 160 bytes a row.

        Args:
            rows: (R,) whether the row keeps them.
        """
        if rows.all():
            return self
        words = None if self.words is None else self.words.with_similarities_of(rows)
        place = np.where(rows, np.cumsum(rows) - 1, np.count_nonzero(rows)).astype(np.int32)
        return dataclasses.replace(self, same=self.same[rows], other=self.other[rows], words=words, place=place)

    def with_question_vectors(self, texts: pa.ChunkedArray, weights: TokenWeights) -> Witnesses:
        """Return the same with vectors, by the words of the questions where there are none.

        A row depends on its text alone, so they are computed only of the questions that are compared, which are few in
        a log with answers of one question or of very many.

        Args:
            texts: (R,) texts of the questions.
            weights: weights of the words of the log.
        """
        words = None if self.words is None else self.words.with_question_vectors(texts, weights)
        vectors = question_vectors(texts, weights) if self.vectors is None else self.vectors
        return dataclasses.replace(self, vectors=vectors, words=words)

    @property
    def by_vectors(self) -> bool:
        """True if questions were compared by an encoder's vectors."""
        return isinstance(self.vectors, np.ndarray)

    @property
    def has_other(self) -> np.ndarray:
        """(R,) bool, whether a question with another answer is near; False for a row without similarities."""
        near = self.other[:, 0] > 0
        return near if self.place is None else np.append(near, False)[self.place]

    @property
    def agreeing(self) -> np.ndarray:
        """(R,) bool, whether the nearest question has the same answer; of equally near ones any may."""
        return nearest_agrees(self.same, self.other)


class Evidence(NamedTuple):
    """Neighbours of the questions of some answers.

    Attributes:
        standings: returns STANDINGS of these questions, which so are in memory only while they are read.
        log: agreement of the whole log.
        vectors: ``question_id`` and ``vector`` of these questions, by which they were compared; None: by their words.
        words: the same by words, where these are by vectors and a model uses both.
    """

    standings: Callable[[], pa.Table]
    log: LogAgreement
    vectors: pa.Table | None = None
    words: Evidence | None = None

    def vectors_of(self, members: pa.Table) -> np.ndarray | None:
        """Return the (R, D) int8 vector of each row of ``members``."""
        return None if self.vectors is None else vectors_of_questions(self.vectors, members["question_id"].to_numpy())


def evidence_of(
    standings: Sequence[Callable[[], pa.Table] | None], agreement: Mapping[int, LogAgreement], vectors: pa.Table | None
) -> Evidence:
    """Return the neighbours of the questions of some answers of a log.

    Args:
        standings: return STANDINGS of these questions, then those by words if a model uses both; None: no question has
            any.
        agreement: agreement of the whole log, by the place of its kind in ``standings``; missing: no question has any.
        vectors: ``question_id`` and ``vector`` of these questions, by which they were compared; None: by their words.
    """
    evidence, *words = (
        Evidence(read or STANDINGS.empty_table, agreement.get(kind, LogAgreement()))
        for kind, read in enumerate(standings)
    )
    return evidence._replace(vectors=vectors, words=words[0] if words else None)


def evidence_among(
    members: pa.Table,
    weights: TokenWeights,
    encode: Encode | None = None,
    *,
    words_too: bool = False,
    nearest: Callable[..., pa.Table] = exact_nearest,
) -> Evidence:
    """Return the neighbours of the questions of a whole log.

    Args:
        members: MEMBERS of all questions.
        weights: weights of the words of the log.
        encode: encoder of the texts, by whose vectors they are compared; None: by their words.
        words_too: compare them by their words beside the vectors.
        nearest: finds the neighbours, as `exact_nearest` does.
    """
    by_words = evidence_among(members, weights, nearest=nearest) if words_too and encode is not None else None
    members = members if encode is None else with_vectors(members, encode)
    standings = standings_of(nearest(members, weights, k=NEAREST))
    vectors = None if encode is None else members.select(["question_id", VECTOR.name])
    return Evidence(lambda: standings, agreement_of(standings), vectors, by_words)


def find_witnesses(members: pa.Table, weights: TokenWeights, evidence: Evidence | None = None) -> Witnesses:
    """Return the neighbours of each row, found among these rows where there is no evidence of the whole log."""
    evidence = evidence_among(members, weights) if evidence is None else evidence
    witnesses = witnesses_of(members, evidence.standings(), evidence.log, evidence.vectors_of(members))
    words = None if evidence.words is None else find_witnesses(members, weights, evidence.words)
    return dataclasses.replace(witnesses, words=words)


def witnesses_of(
    members: pa.Table,
    standings: pa.Table,
    log: LogAgreement,
    vectors: np.ndarray | None = None,
) -> Witnesses:
    """Return the neighbours of each row.

    Args:
        members: (R,) MEMBERS, one row a question and answer.
        standings: STANDINGS of these and maybe of other questions, in any order.
        log: agreement of the whole log.
        vectors: (R, D) int8 vectors of the rows, if questions were compared by these.
    """
    places = _places(members)
    order = np.argsort(places)
    sought = _places(standings)
    row = order[np.minimum(np.searchsorted(places[order], sought), max(len(order) - 1, 0))] if len(order) else sought
    present = places[row] == sought if len(order) else np.zeros(0, bool)
    same, other = (np.zeros((len(members), NEAREST), np.float32) for _ in range(2))
    support = np.full(len(members), 0.5)
    for some, nearest, nearest_other in similarities_of(standings):
        rows = present[some]
        place = row[some][rows]
        same[place], other[place] = nearest[rows], nearest_other[rows]
    support[row[present]] = standings["support"].to_numpy()[present]
    return Witnesses(vectors, same, other, support, log)


def _places(table: pa.Table) -> np.ndarray:
    """Return a hash of each question under its answer."""
    places: np.ndarray = mix(table["question_id"].to_numpy(), 0) ^ mix(table["answer_id"].to_numpy(), 1)
    return places
