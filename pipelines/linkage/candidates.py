"""Which pairs of questions of an answer are worth a look.

answers and parts of questions -> candidates -> pairs of rows
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.grouping import ranks_in_runs, starts_of_runs
from pipelines.linkage.parts import Parts

ALL_PAIRS: Final = 1_000
"""Answers up to this many questions are compared question by question."""

RAREST: Final = 5
"""By so many of its rarest stems a question of a larger answer is looked up."""

WINDOW: Final = 8
"""And compared with so many of the next that share the stem; so the pairs are linear in the questions."""


def candidates(sizes: np.ndarray, stems: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and the right row of each pair, left < right, ordered by answer and left and right row.

    Args:
        sizes: (A,) how many rows each answer has, one after the other.
        stems: of those rows.
    """
    starts = np.cumsum(sizes) - sizes
    large = np.repeat(sizes > ALL_PAIRS, sizes)
    last = np.repeat(starts + sizes, sizes) - 1
    rows = np.arange(len(large))
    following = np.where(large, 0, last - rows)
    left = np.repeat(rows, following)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(following) - following, following)
    if not large.any():
        return left, right
    more_left, more_right = _sharing_rare_stems(np.flatnonzero(large), stems)
    left, right = np.concatenate([left, more_left]), np.concatenate([right, more_right])
    order = np.argsort(left, kind="stable")  # pairs of one left row come from one of the two, in order
    return left[order], right[order]


def _sharing_rare_stems(rows: np.ndarray, stems: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of ``rows`` that meet in the posting list of a rare stem, near one another."""
    matrix = stems.rows[rows]
    row, part = np.repeat(np.arange(len(rows)), np.diff(matrix.indptr)), matrix.indices
    shared = stems.counts[part] > 1
    row, part = row[shared], part[shared]
    order = np.lexsort((part, stems.counts[part], row))
    row, part = row[order], part[order]
    starts = starts_of_runs(row)
    rank = ranks_in_runs(starts, len(row))
    rarest = np.full((len(rows), RAREST), -1, np.int64)
    kept = rank < RAREST
    row, part, rank = row[kept], part[kept], rank[kept]
    rarest[row, rank] = part
    similar_are_near = np.empty(len(rows), np.int64)
    similar_are_near[np.lexsort(rarest.T[::-1])] = np.arange(len(rows))
    order = np.lexsort((similar_are_near[row], part))
    row, part = row[order], part[order]
    found = []
    for step in range(1, WINDOW + 1):
        same = np.flatnonzero(part[step:] == part[:-step])
        one, two = row[same], row[same + step]
        found.append(np.minimum(one, two) * len(rows) + np.maximum(one, two))
    pairs = np.unique(np.concatenate(found))
    return rows[pairs // len(rows)], rows[pairs % len(rows)]
