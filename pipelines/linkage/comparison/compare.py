"""Comparison of the questions of each answer.

MEMBERS of whole answers, TokenWeights -> compare -> Compared: pairs of rows and their features
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.linkage.comparison.agreement_features import AGREEMENT, agreement_features
from pipelines.linkage.comparison.blocking import ALL_PAIRS, RAREST, WINDOW, candidates
from pipelines.linkage.comparison.cosine_features import COSINES, cosines
from pipelines.linkage.comparison.pair_features import NAMES, features
from pipelines.linkage.comparison.tokenization import Wording, wording
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import sizes_of_runs, starts_of_runs

PAIRS_AT_ONCE: Final = 300_000
"""Approximate number of pairs in memory at a time; the pairs of an answer are never divided."""


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


def compare(
    members: pa.Table,
    weights: TokenWeights,
    *,
    vectors: np.ndarray | None = None,
    witnesses: Witnesses | None = None,
) -> Iterator[Compared]:
    """Yield the candidate pairs of whole answers with their features, about `PAIRS_AT_ONCE` pairs at a time.

    Args:
        members: MEMBERS ordered by cluster and question, all rows of each answer present.
        weights: weights of the log's tokens.
        vectors: (R, D) vectors of the questions, for the features `cosine_features.COSINES`; None: without these.
        witnesses: neighbours of the questions, for the features `agreement_features.AGREEMENT`; None: without these.
    """
    starts = starts_of_runs(members["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(members))
    answer_of_row = np.repeat(np.arange(len(sizes)), sizes)
    for part in _portions(starts, sizes):
        answers = answer_of_row[part] - answer_of_row[part.start]
        texts, events = (members[name].slice(part.start, len(answers)) for name in ("text", "events"))
        words = wording(texts, answers, weights)
        left, right = candidates(np.bincount(answers), words.stems)
        if not len(left):
            continue
        found = compare_pairs(
            words,
            left,
            right,
            answer_of_row=answers,
            events=events.to_numpy(),
            vectors=None if vectors is None else vectors[part],
            witnesses=None if witnesses is None else witnesses.take(np.arange(part.start, part.stop)),
        )
        yield Compared(left + part.start, right + part.start, answers[left] + answer_of_row[part.start], found)


def compare_pairs(
    words: Wording,
    left: np.ndarray,
    right: np.ndarray,
    *,
    answer_of_row: np.ndarray,
    events: np.ndarray,
    vectors: np.ndarray | None,
    witnesses: Witnesses | None = None,
) -> np.ndarray:
    """Return the features of pairs, (P, F) float32, column after column in memory, as scorers read them.

    The arguments are those of `features`, `agreement_features` and `cosines`; their columns follow each other.
    """
    found = [features(words, left, right, answer_of_row=answer_of_row, events=events)]
    if witnesses is not None:
        found.append(agreement_features(witnesses, left, right, answer_of_row=answer_of_row))
    if vectors is not None:
        found.append(cosines(vectors, left, right, answer_of_row=answer_of_row))
    return np.column_stack(found) if len(found) > 1 else found[0]


def compare_all(
    members: pa.Table,
    weights: TokenWeights,
    *,
    vectors: np.ndarray | None = None,
    witnesses: Witnesses | None = None,
) -> Compared:
    """Return all pairs of `compare` in one object, for samples whose pairs fit in memory."""
    width = len(NAMES) + (len(AGREEMENT) if witnesses else 0) + (0 if vectors is None else len(COSINES))
    none = np.zeros(0, np.int64)
    parts = [Compared(none, none, none, np.zeros((0, width), np.float32))]
    parts += compare(members, weights, vectors=vectors, witnesses=witnesses)
    left, right, answers, found = zip(*parts, strict=True)
    features_in_columns = np.concatenate([of_part.T for of_part in found], axis=1).T
    return Compared(np.concatenate(left), np.concatenate(right), np.concatenate(answers), features_in_columns)


def _portions(starts: np.ndarray, sizes: np.ndarray) -> Iterator[slice]:
    """Yield slices of rows of whole answers with about `PAIRS_AT_ONCE` pairs each."""
    effort = np.cumsum(np.where(sizes > ALL_PAIRS, sizes * RAREST * WINDOW, sizes * (sizes - 1) // 2) + 1)
    part = effort // PAIRS_AT_ONCE
    bounds = [*starts.tolist(), int(sizes.sum())]
    for first, last in itertools.pairwise([*starts_of_runs(part).tolist(), len(sizes)]):
        yield slice(bounds[first], bounds[last])
