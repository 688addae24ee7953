"""Blocking: candidate pairs among the questions of an answer.

answers and parts of questions -> candidates -> pairs of rows
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.linkage.comparison.part_weights import Parts
from schemas.ragged import ranges, ranks_in_runs, runs_of, sort_distinct, starts_of_runs

ALL_PAIRS: Final = 1_000
"""Maximum number of questions of an answer at which all of its pairs are compared: all pairs of 5,166 questions took 89
CPU seconds and 8 GB (decision 12)."""

RAREST: Final = 5
"""Number of rarest stems by which a question of a larger answer is looked up."""

WINDOW: Final = 4
"""Number of questions with the same rare stem with which a question is compared.

The number of pairs of a larger answer is therefore linear in its questions."""

SAMPLED: Final = 16
"""Number of random pairs a question from which the similarities inside a larger answer are estimated. Compared
pairs are more alike, and match probabilities by their similarities were far too low (decision 12)."""


SAMPLED_ROWS: Final = 1 << 16
"""Maximum number of questions of an answer that have random pairs: a million pairs show its similarities."""


def candidates(sizes: np.ndarray, stems: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and the right row of each pair, left < right, ordered by answer, left and right row.

    Args:
        sizes: (A,) number of rows of each answer; the rows of an answer are consecutive.
        stems: stems of those rows.
    """
    large = np.repeat(sizes > ALL_PAIRS, sizes)
    left, right = _in_full(sizes, sizes <= ALL_PAIRS)
    if not large.any():
        return left, right
    more_left, more_right = _sharing_rare_stems(np.flatnonzero(large), stems)
    if not len(left):  # as for an answer of millions of questions, whose pairs need not be copied
        return more_left, more_right
    left, right = np.concatenate([left, more_left]), np.concatenate([right, more_right])
    order = np.argsort(left, kind="stable")  # pairs of one left row come from one of the two, in order
    return left[order], right[order]


def sampled(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a sample of the pairs of each answer of more than `ALL_PAIRS` questions: each row with the next `SAMPLED`.

    Rows are ordered by question, which is a hash, so the next rows are random ones. The last row is followed by the
    first. Of an answer of more than `SAMPLED_ROWS` questions only these have pairs.

    Returns:
        The left and the right row of each pair, left < right, ordered by answer.
    """
    starts = np.cumsum(sizes) - sizes
    rank = ranks_in_runs(starts, int(sizes.sum()))
    rows = np.flatnonzero(np.repeat(sizes > ALL_PAIRS, sizes) & (rank < SAMPLED_ROWS))
    start, size = (np.repeat(values, sizes)[rows][:, None] for values in (starts, sizes))
    following = start + (rows[:, None] - start + np.arange(1, SAMPLED + 1)) % size
    row, next_row = np.repeat(rows, SAMPLED), following.ravel()
    return np.minimum(row, next_row), np.maximum(row, next_row)


def _in_full(sizes: np.ndarray, chosen: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs within each run of rows; a mask ``chosen`` limits them to some of the runs."""
    last = np.repeat(np.cumsum(sizes), sizes) - 1
    rows = np.arange(len(last))
    following = last - rows if chosen is None else np.where(np.repeat(chosen, sizes), last - rows, 0)
    return np.repeat(rows, following), ranges(rows + 1, following)


def with_all_pairs_of(component: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the given pairs and all pairs within each component, each pair once, ordered by left and right row.

    Args:
        component: (R,) number of each row's component.
        left: (P,) rows.
        right: (P,) other rows, greater than ``left``.
    """
    order = np.argsort(component, kind="stable")
    inside_left, inside_right = _in_full(runs_of(component[order])[1])
    inside = order[inside_left] * len(order) + order[inside_right]
    return _distinct(np.concatenate([left * len(order) + right, inside]), len(order))


def _sharing_rare_stems(rows: np.ndarray, stems: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of ``rows`` that share a rare stem and are at most `WINDOW` places apart in its posting list.

    Posting lists are ordered by the rarest stems of the rows, so rows that share several rare stems are close together.
    """
    matrix = stems.rows if len(rows) == stems.rows.shape[0] else stems.rows[rows]
    row, part = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(matrix.indptr)), matrix.indices
    shared = stems.counts[part] > 1
    row, part = row[shared], part[shared]
    order = np.lexsort((part, stems.counts[part], row))
    row, part = row[order], part[order]
    del order, shared
    starts = starts_of_runs(row)
    rank = ranks_in_runs(starts, len(row))
    rarest = np.full((len(rows), RAREST), -1, part.dtype)
    kept = rank < RAREST
    row, part, rank = row[kept], part[kept], rank[kept]
    rarest[row, rank] = part
    similar_are_near = np.empty(len(rows), np.int64)
    similar_are_near[np.lexsort(rarest.T[::-1])] = np.arange(len(rows))
    order = np.lexsort((similar_are_near[row], part))
    row, part = row[order], part[order]
    codes = []
    for step in range(1, WINDOW + 1):
        same = np.flatnonzero(part[step:] == part[:-step])
        first, second = row[same].astype(np.int64), row[same + step].astype(np.int64)
        codes.append(np.minimum(first, second) * len(rows) + np.maximum(first, second))
    pairs = np.concatenate(codes)
    del codes
    left, right = _distinct(pairs, len(rows))
    return rows[left], rows[right]


def _distinct(pairs: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and the right row of each distinct pair, from left rows times ``rows`` plus right ones."""
    pairs = sort_distinct(pairs)
    left = pairs // max(rows, 1)
    pairs -= left * rows
    return left, pairs
