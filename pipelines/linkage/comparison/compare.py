"""Comparison of the questions of each answer.

MEMBERS of whole answers, TokenWeights, Witnesses -> Questions -> compare -> Compared: pairs of rows and their features
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.linkage.comparison.agreement_features import AGREEMENT, AGREEMENT_OF_WORDS, agreement_features
from pipelines.linkage.comparison.blocking import ALL_PAIRS, RAREST, WINDOW, candidates
from pipelines.linkage.comparison.cosine_features import COSINES, cosine_features
from pipelines.linkage.comparison.pair_features import NAMES, features_in_parts
from pipelines.linkage.comparison.tokenization import Wording, wording
from pipelines.linkage.comparison.word_alignment import ALIGNED, alignments
from pipelines.linkage.comparison.word_differences import DifferenceWeights
from pipelines.linkage.witnesses import Witnesses
from pipelines.neighbours.embeddings import Encode
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import pairs_in_runs, runs_of, starts_of_runs

PAIRS_AT_ONCE: Final = 1 << 17
"""Approximate number of pairs in memory at a time; the pairs of an answer are never divided."""


@dataclasses.dataclass(frozen=True)
class Questions:
    """The questions of whole answers, and all by which they are compared.

    Attributes:
        members: (R,) MEMBERS ordered by answer and question, all rows of each answer present.
        weights: weights of the words of the log.
        vectors: (R, D) vectors of the questions, of any length, for the features `cosine_features.COSINES`; None:
            without these.
        witnesses: neighbours of the questions, for the features `agreement_features.AGREEMENT`; None: without these.
        encode: encoder of single words, for the features `word_alignment.ALIGNED`; None: without these.
        differences: weights of the words by which questions differ, whose sum is the last feature; None: without it.
    """

    members: pa.Table
    weights: TokenWeights
    vectors: np.ndarray | None = None
    witnesses: Witnesses | None = None
    encode: Encode | None = None
    differences: DifferenceWeights | None = None

    def __len__(self) -> int:
        return len(self.members)

    def take(self, rows: np.ndarray) -> Questions:
        """Return some of the rows, ascending; MEMBERS of consecutive ones are not copied."""
        if len(rows) == len(self):
            return self
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1:  # consecutive rows, which are not copied
            return self.slice(slice(int(rows[0]), int(rows[-1]) + 1))
        members = self.members.take(pa.array(rows))
        vectors = None if self.vectors is None else self.vectors[rows]
        witnesses = None if self.witnesses is None else self.witnesses.take(rows)
        return dataclasses.replace(self, members=members, vectors=vectors, witnesses=witnesses)

    def slice(self, part: slice) -> Questions:
        """Return consecutive rows; MEMBERS are not copied."""
        members = self.members.slice(part.start, part.stop - part.start)
        vectors = None if self.vectors is None else self.vectors[part]
        witnesses = None if self.witnesses is None else self.witnesses.take(np.arange(part.start, part.stop))
        return dataclasses.replace(self, members=members, vectors=vectors, witnesses=witnesses)


class Compared(NamedTuple):
    """Candidate pairs of whole answers, and their features.

    Attributes:
        left: (P,) rows, ordered by answer.
        right: (P,) other rows of the same answers.
        answers: (P,) int64 number of the pair's answer.
        features: (P, F) float32.
    """

    left: np.ndarray
    right: np.ndarray
    answers: np.ndarray
    features: np.ndarray


def compare(questions: Questions) -> Iterator[Compared]:
    """Yield the candidate pairs of whole answers with their features, about `PAIRS_AT_ONCE` pairs at a time."""
    starts, sizes = runs_of(questions.members["answer_id"].to_numpy())
    answer_of_row = np.repeat(np.arange(len(sizes)), sizes)
    for rows in _portions(starts, sizes):
        part, answers = questions.slice(rows), answer_of_row[rows] - answer_of_row[rows.start]
        words = wording(part.members["text"], answers, part.weights)
        left, right = candidates(np.bincount(answers), words.stems)
        if not len(left):
            continue
        features = _joined(compare_pairs(part, words, left, right, answer_of_row=answers))
        yield Compared(left + rows.start, right + rows.start, answers[left] + answer_of_row[rows.start], features)


def compare_pairs(
    questions: Questions, words: Wording, left: np.ndarray, right: np.ndarray, *, answer_of_row: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the features of pairs in their order, `pair_features.AT_ONCE` pairs at a time.

    They are (pairs, F) float32, column after column in memory, as scorers read them. The columns of
    `features_in_parts`, `agreement_features`, the same by words if there are two kinds of neighbours,
    `cosine_features`, `alignments` and the scores of differences follow each other.

    Args:
        questions: of whole answers, R rows.
        words: their parts.
        left: (P,) rows, ordered by answer.
        right: (P,) rows of the same answers.
        answer_of_row: (R,) number of each row's answer, ascending from 0.
    """
    events = questions.members["events"].to_numpy()
    witnesses, vectors = questions.witnesses, questions.vectors
    further = _width(questions) - len(NAMES)
    compared = witnesses and witnesses.with_question_vectors(questions.members["text"], questions.weights)
    near = None if vectors is None else cosine_features(vectors, left, right, answer_of_row=answer_of_row)
    aligned = None
    if questions.encode is not None:
        aligned = alignments(words, questions.encode, left, right)
    parts = features_in_parts(words, left, right, answer_of_row=answer_of_row, events=events, further=further)
    for part, features in parts:
        filled = len(NAMES)
        for neighbours, names in _kinds_of(compared):
            of_kind = agreement_features(
                neighbours, left[part], right[part], answer_of_row=answer_of_row, questions=questions.weights.questions
            )
            features[:, filled : filled + len(names)] = of_kind[:, : len(names)]
            filled += len(names)
        if near is not None:
            features[:, filled : filled + len(COSINES)] = near[part]
            filled += len(COSINES)
        if aligned is not None:
            features[:, filled : filled + len(ALIGNED)] = aligned[part]
        if questions.differences is not None:
            features[:, -1] = questions.differences.scores(words, left[part], right[part])
        yield features


def compare_all(questions: Questions) -> Compared:
    """Return all pairs of `compare` in one object, for samples whose pairs fit in memory."""
    none = np.zeros(0, np.int64)
    parts = [Compared(none, none, none, np.zeros((0, _width(questions)), np.float32)), *compare(questions)]
    left, right, answers, features = zip(*parts, strict=True)
    return Compared(np.concatenate(left), np.concatenate(right), np.concatenate(answers), _joined(features))


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the features of all parts, column after column in memory."""
    first, *others = parts
    return np.concatenate([part.T for part in (first, *others)], axis=1).T if others else first


def _kinds_of(witnesses: Witnesses | None) -> Iterator[tuple[Witnesses, tuple[str, ...]]]:
    """Yield the neighbours, and those by words beside them, with the names of their features."""
    if witnesses is not None:
        yield witnesses, AGREEMENT
        if witnesses.words is not None:
            yield witnesses.words, AGREEMENT_OF_WORDS


def _width(questions: Questions) -> int:
    """Return the number of features."""
    of_neighbours = sum(len(names) for _, names in _kinds_of(questions.witnesses))
    of_vectors = 0 if questions.vectors is None else len(COSINES)
    of_words = 0 if questions.encode is None else len(ALIGNED)
    return len(NAMES) + of_neighbours + of_vectors + of_words + (questions.differences is not None)


def _portions(starts: np.ndarray, sizes: np.ndarray) -> Iterator[slice]:
    """Yield slices of rows of whole answers with about `PAIRS_AT_ONCE` pairs each."""
    # 1 for an answer without a pair, so that a portion of such answers is bounded too
    effort = np.cumsum(np.where(sizes > ALL_PAIRS, sizes * RAREST * WINDOW, pairs_in_runs(sizes)) + 1)
    part = effort // PAIRS_AT_ONCE
    bounds = [*starts.tolist(), int(sizes.sum())]
    for first, last in itertools.pairwise([*starts_of_runs(part).tolist(), len(sizes)]):
        yield slice(bounds[first], bounds[last])
