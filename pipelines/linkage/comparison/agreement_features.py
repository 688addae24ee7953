"""Features of two questions of one answer that compare their similarity with their neighbours of other answers.

similarities of pairs, Witnesses -> agreement_features -> (P, len(AGREEMENT)) float32
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.linkage.log_profile import COLUMNS, FIFTH, SIZES, shares_of
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.witnesses import Witnesses
from pipelines.neighbours.nearest import similarity_of
from schemas.compiled import load_loops

AGREEMENT: Final = (
    "similarity",
    "others_nearer_min", "others_nearer_max", "mates_nearer_min", "mates_nearer_max", "nearer_min", "nearer_max",
    "agreement_min", "agreement_max", "agreement_mean",
    "above_others_min", "above_others_max", "above_fifth_min", "above_fifth_max", "best_other_min", "best_other_max",
    "log_agreement", "log_outranked", "log_below_10", *(f"size_{name}" for name in COLUMNS),
    "small_log",
)  # fmt: skip
"""Names of the columns; ``_min`` and ``_max`` are the minimum and maximum of the two questions.

``others_nearer`` and ``mates_nearer`` are the logarithms of the numbers of neighbours with other answers and with the
same answer that are at least as near as the pair's other question, ``nearer`` of their sum, and ``agreement`` is the
share of the same answer among them. ``above_others`` is the pair's similarity minus that of the nearest question with
another answer, ``above_fifth`` minus that of the fifth. ``log_agreement`` is the share of the log's questions whose
nearest question has the same answer. ``log_`` and ``size_`` are the means of `log_profile.COLUMNS` over the log and
over answers with about as many questions: what an answer is worth in this log. ``small_log`` is 1 in a log of fewer
than `SMALL_LOG` questions, else 0."""

AGREEMENT_OF_WORDS: Final = tuple(f"words_{name}" for name in AGREEMENT[:-1])
"""The same columns without the last, by words, of questions that are compared by an encoder's vectors too."""

SMALL_LOG: Final = 5_000
"""Number of questions below which neighbours, all of which are compared, are far and few."""

OF_LOG: Final = ("outranked", "below_10")
"""Columns of the log's profile that are features beside its agreement."""

CHUNK: Final = 1 << 18
"""Number of pairs whose neighbours are counted together; bounds memory."""

_ROUNDING: Final = 1e-6
"""Difference up to which similarities count as equal: less than their steps, 2^-16, more than a float32's rounding."""


def agreement_features(
    witnesses: Witnesses, left: np.ndarray, right: np.ndarray, *, answer_of_row: np.ndarray, questions: int
) -> np.ndarray:
    """Compare pairs of questions with the neighbours of both.

    Args:
        witnesses: neighbours of R rows.
        left: (P,) rows.
        right: (P,) other rows of the same answers.
        answer_of_row: (R,) number of each row's answer, from 0.
        questions: number of questions of the log.

    Returns:
        (P, len(AGREEMENT)) float32, column after column in memory.
    """
    pair = similarity_of(witnesses.vectors, left, right)
    sides = [_of_side(witnesses, rows, pair) for rows in (left, right)]
    columns = [pair]
    for of_left, of_right in zip(*sides, strict=True):
        columns += [np.minimum(of_left, of_right), np.maximum(of_left, of_right)]
    after = AGREEMENT.index("agreement_mean")
    columns.insert(after, (columns[after - 2] + columns[after - 1]) / 2)
    columns += _of_log(witnesses.log, answer_of_row[left], answer_of_row)
    columns.append(np.full(len(left), float(questions < SMALL_LOG)))
    return np.stack(columns, dtype=np.float32, casting="same_kind").T


def _of_side(witnesses: Witnesses, rows: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return others nearer, mates nearer, both, agreement, margins to the first and fifth other, and the first other.

    If all known neighbours with other answers are nearer, there may be more, and only the pair itself agrees.
    """
    others, mates = (_count_nearer(table, rows, pair) for table in (witnesses.other, witnesses.same))
    mates = np.maximum(mates, 1)
    full = others >= witnesses.other.shape[1]
    agreement = np.where(full, 1 / (1 + others), mates / (mates + others))
    first, fifth = witnesses.other[rows, 0], witnesses.other[rows, FIFTH]
    counts = (np.log1p(others), np.log1p(mates), np.log1p(mates + others))
    return (*counts, agreement, pair - first, pair - fifth, first)


def _count_nearer(table: np.ndarray, rows: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return (P,) float64 numbers of similarities in a row's neighbours that are at least as high as the pair's."""
    counts = np.empty(len(rows))
    if (loops := load_loops("pipelines.neighbours.numba_kernels", len(rows))) is not None:
        loops.count_at_least(table, rows, np.maximum(pair - _ROUNDING, _ROUNDING), counts)
        return counts
    for start in range(0, len(rows), CHUNK):
        part = slice(start, start + CHUNK)
        counts[part] = (table[rows[part]] >= np.maximum(pair[part, None] - _ROUNDING, _ROUNDING)).sum(axis=1)
    return counts


def _of_log(log: LogAgreement, answer: np.ndarray, answer_of_row: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the features of the log and of its answers of the size of each pair's (P,) answer."""
    of_sizes, of_log = shares_of(log.profile)
    size = np.searchsorted(SIZES, np.bincount(answer_of_row), side="right")
    of_pair = np.take(of_sizes.T.astype(np.float32), size[answer], axis=1)
    whole = (log.share, *(of_log[COLUMNS.index(name)] for name in OF_LOG))
    return (*(np.full(len(answer), value, np.float32) for value in whole), *of_pair)
