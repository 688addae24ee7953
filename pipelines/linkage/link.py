"""Split what got one answer into groups of paraphrases.

MEMBERS of whole answers, TokenWeights, LinkModel -> link -> the group of every row
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from pipelines.grouping import sizes_of_runs, starts_of_runs
from pipelines.linkage.agglomeration import agglomerate
from pipelines.linkage.candidates import ALL_PAIRS, RAREST, candidates
from pipelines.linkage.cosine import COSINES, cosines
from pipelines.linkage.features import NAMES, features
from pipelines.linkage.wording import wording
from pipelines.token_weights import TokenWeights

PAIRS_AT_ONCE: Final = 300_000
"""About so many pairs of questions are in memory at a time; an answer is never cut."""


class Probability(Protocol):
    """What a kind of model must do."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability that each pair, a row of features of one of ``answers``, is one of paraphrases."""


@dataclasses.dataclass(frozen=True)
class LinkModel:
    """A model and where to cut.

    Attributes:
        pairs: gives a pair's features a probability.
        threshold: mean probability between two groups at which they are still one.
        cosine: whether figures of the encoder's cosine are the last features.
        least_of_two: probability that a group of two must have; one pair alone speaks for it.
    """

    pairs: Probability
    threshold: float
    cosine: bool = False
    least_of_two: float = 0.0

    def groups(self, left: np.ndarray, right: np.ndarray, probability: np.ndarray, *, rows: int) -> np.ndarray:
        """Return the smallest row of the group of each of ``rows`` rows, given the probability of pairs of them."""
        return agglomerate(
            left, right, probability, rows=rows, threshold=self.threshold, least_of_two=self.least_of_two
        )


class Compared(NamedTuple):
    """The candidate pairs of some whole answers.

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


class Linked(NamedTuple):
    """Which rows belong together.

    Attributes:
        group: (R,) int64, the first row of each row's group; a row alone is its own.
        confidence: (R,) mean probability of the candidate pairs within each row's group; 0 for a row alone.
    """

    group: np.ndarray
    confidence: np.ndarray


def link(members: pa.Table, weights: TokenWeights, model: LinkModel, *, vectors: np.ndarray | None = None) -> Linked:
    """Split each answer's questions into groups of paraphrases.

    Args:
        members: MEMBERS ordered by cluster and question, all rows of each answer present.
        weights: of the log's tokens.
        model: what to make of a pair.
        vectors: (R, D) of the questions, any length, where the model uses their cosine.
    """
    rows = len(members)
    group, total, count = np.arange(rows), np.zeros(rows), np.zeros(rows, np.int64)
    for left, right, answers, found in compare(members, weights, vectors=vectors if model.cosine else None):
        probability = model.pairs.probability(found, answers)
        first, last = left.min(), right.max() + 1  # answers are contiguous: work on their rows alone
        part = model.groups(left - first, right - first, probability, rows=last - first)
        group[first:last] = part + first
        within = group[left] == group[right]
        total += np.bincount(group[left[within]], probability[within], rows)
        count += np.bincount(group[left[within]], minlength=rows)
    confidence = total / np.maximum(count, 1)
    return Linked(group, confidence[group])


def compare(members: pa.Table, weights: TokenWeights, *, vectors: np.ndarray | None = None) -> Iterator[Compared]:
    """Yield the candidate pairs of whole answers with their features, about `PAIRS_AT_ONCE` a time.

    Args:
        members: MEMBERS ordered by cluster and question, all rows of each answer present.
        weights: of the log's tokens.
        vectors: (R, D) of the questions, for the last features: what `cosine.COSINES` names.
    """
    starts = starts_of_runs(members["cluster_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(members))
    answer_of_row = np.repeat(np.arange(len(sizes)), sizes)
    for part in _portions(starts, sizes):
        answers = answer_of_row[part] - answer_of_row[part.start]
        texts, events = (members[name].slice(part.start, len(answers)) for name in ("text", "events"))
        words = wording(texts, answers, weights)
        left, right = candidates(np.bincount(answers), words.stems)
        if not len(left):
            continue
        found = features(words, left, right, answer_of_row=answers, events=events.to_numpy())
        if vectors is not None:
            found = np.column_stack([found, cosines(vectors[part], left, right, answer_of_row=answers)])
        left, right = left + part.start, right + part.start
        yield Compared(left, right, answer_of_row[left], found)


def compare_all(members: pa.Table, weights: TokenWeights, *, vectors: np.ndarray | None = None) -> Compared:
    """Return all that `compare` yields at once: for learning and measuring, where the pairs fit in memory."""
    width = len(NAMES) + (0 if vectors is None else len(COSINES))
    none = np.zeros(0, np.int64)
    nothing = Compared(none, none, none, np.zeros((0, width), np.float32))
    return Compared(*map(np.concatenate, zip(nothing, *compare(members, weights, vectors=vectors), strict=True)))


def _portions(starts: np.ndarray, sizes: np.ndarray) -> Iterator[slice]:
    """Yield runs of rows of whole answers."""
    effort = np.cumsum(np.where(sizes > ALL_PAIRS, sizes * RAREST * 8, sizes * (sizes - 1) // 2) + 1)
    part = effort // PAIRS_AT_ONCE
    bounds = [*starts.tolist(), int(sizes.sum())]
    for first, last in itertools.pairwise([*starts_of_runs(part).tolist(), len(sizes)]):
        yield slice(bounds[first], bounds[last])
