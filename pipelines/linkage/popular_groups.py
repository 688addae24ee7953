"""Popular groups: large groups of paraphrases, found in a sample of a large answer's questions.

Questions of one large answer -> popular_groups -> Popular: the popular group of each row, if any
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import Questions, compare_all
from pipelines.linkage.scoring.pair_model import LinkModel, mean_within
from schemas.ragged import ranks_in_runs, starts_of_runs

SAMPLE: Final = 500
"""Number of questions of the sample, which are linked first."""

COMPLETED: Final = 300
"""Maximum number of questions of a group that is found without a sample.

All pairs of a component of the remaining questions are compared, at most 300 * 299 / 2."""

POPULAR: Final = 8
"""Minimum number of questions of the sample in a popular group.

The group must also have at least the share of the sample that `COMPLETED` questions have of the answer."""

EXAMPLES: Final = 8
"""Maximum number of examples of a popular group, its most frequent questions; fewer if there are many groups."""

BLOCK: Final = 256
"""Number of other questions compared at a time, with each other and with the examples of all groups."""


class Popular(NamedTuple):
    """The popular groups of an answer.

    Attributes:
        number: (R,) int64 number of each row's group, from 0; -1 for a row without a group.
        confidence: (G,) mean probability of the sample's pairs within each group.
    """

    number: np.ndarray
    confidence: np.ndarray


class Scored(NamedTuple):
    """Pairs of rows and their match probabilities."""

    left: np.ndarray
    right: np.ndarray
    probability: np.ndarray


def popular_groups(questions: Questions, model: LinkModel) -> Popular:
    """Return the popular groups of one answer.

    `SAMPLE` questions are linked like an answer of that size. Each other question is assigned to the popular group with
    whose examples its mean probability is highest, if this mean is at least the model's threshold.
    """

    def score(rows: np.ndarray) -> Scored:
        compared = compare_all(questions.take(rows))
        probability = model.pairs.probability(compared.features, compared.answers)
        return Scored(rows[compared.left], rows[compared.right], probability)

    sample = np.arange(min(SAMPLE, len(questions)))
    pairs = score(sample)
    group = model.groups(*pairs, rows=len(sample))
    sizes = np.bincount(group, minlength=len(sample))
    number = np.full(len(questions), -1)
    is_popular = sizes[group] >= max(POPULAR, COMPLETED * len(sample) / len(questions))
    names, number[: len(sample)][is_popular] = np.unique(group[is_popular], return_inverse=True)
    examples = _examples(number, questions.members["events"].to_numpy())
    others = np.flatnonzero(number < 0)
    for start in range(0, len(others) if len(examples) else 0, BLOCK):
        block = others[start : start + BLOCK]
        number[block] = _joined(block, examples, number, score(np.union1d(block, examples)), model.threshold)
    return Popular(number, mean_within(group, *pairs)[names])


def _examples(number: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Return the ascending rows of the examples of all groups; with a block these are at most `ALL_PAIRS` rows."""
    rows = np.flatnonzero(number >= 0)
    limit = min(EXAMPLES, (ALL_PAIRS - BLOCK) // (int(number.max()) + 1)) if len(rows) else 0
    order = rows[np.lexsort((rows, -events[rows], number[rows]))]
    return np.sort(order[ranks_in_runs(starts_of_runs(number[order]), len(order)) < limit])


def _joined(block: np.ndarray, examples: np.ndarray, number: np.ndarray, pairs: Scored, threshold: float) -> np.ndarray:
    """Return the number of the group to which each row of the block is assigned, -1 for none."""
    row, other = np.concatenate([pairs.left, pairs.right]), np.concatenate([pairs.right, pairs.left])
    to_example = np.flatnonzero(np.isin(row, block) & np.isin(other, examples))
    sums = np.zeros((len(block), int(number.max()) + 1))
    place = np.searchsorted(block, row[to_example]), number[other[to_example]]
    np.add.at(sums, place, np.tile(pairs.probability, 2)[to_example])
    means = sums / np.bincount(number[examples])
    return np.where(means.max(axis=1) >= threshold, means.argmax(axis=1), -1)
