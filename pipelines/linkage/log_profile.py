"""Profile of a log: the similarities of questions to others with their answer, by the number of questions of it.

similarities of the nearest questions -> profile_of -> (SIZES, COLUMNS) sums, which add up over parts of a log
numbers of questions of answers -> pairs_of_answers -> numbers of pairs in a sample of all
sums -> shares_of -> means of each size and of the whole log
"""

from __future__ import annotations

from typing import Final

import numpy as np

from schemas.ragged import pairs_in_runs

SIZES: Final = (3, 5, 10)
"""Numbers of questions of an answer from which on the next profile counts: 2, 3 to 4, 5 to 9, and more."""

BELOW: Final = (0.1, 0.2, 0.35)
"""Similarities below which a question is far from the nearest one with its answer; chosen on similarities by words."""

MATES: Final = (1, 2, 4, 9)
"""Ranks of the neighbours with the same answer whose similarity counts; of fewer the last."""

FIFTH: Final = 4
"""Place of the fifth nearest question with another answer."""

MOST_OF_ANSWER: Final = 100
"""Maximum number of questions of an answer in a sample of pairs; of more the first are taken, by their ids."""

COLUMNS: Final = (
    "agreement", "outranked", *(f"below_{round(100 * limit)}" for limit in BELOW),
    *(f"mate_{rank}" for rank in MATES), "mate_last", "other_1", "other_5", "margin",
)  # fmt: skip
"""Means over the questions of answers of one size: the share whose nearest question has the same answer; whose nearest
question with the same answer is farther than the fifth with another; whose similarity to it is below each of `BELOW`;
the similarities of the neighbours with the same answer of each of `MATES` and of the last known one, of the first and
fifth with another answer, and the difference of the two first ones where it is positive."""

MILLION: Final = 1_000_000
"""Sums are whole millionths, so that they are the same in any order."""

PRIOR: Final = 20.0
"""Number of questions with the means of the log that are added to those of a size."""

NONE: Final = (0,) * (len(SIZES) + 1) * (len(COLUMNS) + 1)
"""Profile of no question."""


def profile_of(same: np.ndarray, other: np.ndarray, agrees: np.ndarray, size: np.ndarray) -> tuple[int, ...]:
    """Return numbers of questions and sums of `COLUMNS` in millionths, size after size.

    Args:
        same: (R, K) similarities of the nearest questions with the same answer, falling, 0 for none.
        other: (R, K) similarities of those with other answers.
        agrees: (R,) whether the nearest question has the same answer.
        size: (R,) number of questions of the answer, at least 2.
    """
    rows, last = np.arange(len(same)), np.minimum(size - 2, same.shape[1] - 1)
    mates = [same[rows, np.minimum(rank - 1, last)] for rank in MATES]
    values = [
        agrees,
        same[:, 0] < other[:, FIFTH],
        *(same[:, 0] < limit for limit in BELOW),
        *mates,
        same[rows, last],
        other[:, 0],
        other[:, FIFTH],
        np.maximum(same[:, 0] - other[:, 0], 0),
    ]
    of_size = np.searchsorted(SIZES, size, side="right")
    sums = np.zeros((len(SIZES) + 1, 1 + len(COLUMNS)), np.int64)
    sums[:, 0] = np.bincount(of_size, minlength=len(sums))
    for place, column in enumerate(values, 1):
        np.add.at(sums[:, place], of_size, np.rint(column.astype(np.float64) * MILLION).astype(np.int64))
    return tuple(sums.ravel().tolist())


def shares_of(profile: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the (SIZES + 1, COLUMNS) means of each size and the (COLUMNS,) means of the log; without questions .5."""
    sums = np.array(profile, np.float64).reshape(len(SIZES) + 1, 1 + len(COLUMNS))
    counts, totals = sums[:, :1], sums[:, 1:] / MILLION
    of_log = (totals.sum(axis=0) + 1) / (counts.sum() + 2)
    return (totals + PRIOR * of_log) / (counts + PRIOR), of_log


def pairs_of_answers(questions: np.ndarray) -> np.ndarray:
    """Return the (A,) number of pairs of each answer in a sample, from its (A,) number of questions."""
    return pairs_in_runs(np.minimum(questions, MOST_OF_ANSWER))
