"""Training pairs: all unordered pairs of a cluster's questions, or a fair part of them.

MEMBERS ordered by cluster and question -> pair -> PAIRS
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import pyarrow as pa

from schemas.hashing import mix
from schemas.ragged import runs_of
from schemas.tables import PAIRS, conform, take_rows

BLOCK: Final = 1 << 15
"""Pairs hashed at a time: the arrays stay in a processor's cache, which is twice as fast as 2**20 pairs at a time."""

MARGIN: Final = 8.0
"""Standard deviations by which more hashes than needed are expected under the bound: one try is enough."""


def pair(members: pa.Table, max_pairs: int) -> pa.Table:
    """Return the unordered pairs of each cluster, the smaller id first.

    A cluster with more than ``max_pairs`` keeps those whose index among its pairs has the smallest hash, so the choice
    is even over its questions and depends on nothing but the cluster. Memory is linear in the questions and the pairs
    returned; time is quadratic in the questions of such a cluster.

    Args:
        members: MEMBERS, ordered by ``cluster_id`` and ``question_id``.
        max_pairs: upper bound for a cluster.
    """
    ids = members["cluster_id"].to_numpy()
    starts, sizes = runs_of(ids)
    lefts, rights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():  # clusters of one size share their pair indices
        of_size, count = starts[sizes == size], math.comb(size, 2)
        if count <= max_pairs:
            first, second = _places(np.arange(count), size)
            lefts.append((of_size[:, None] + first).ravel())
            rights.append((of_size[:, None] + second).ravel())
            continue
        for start in of_size.tolist():
            first, second = _places(smallest_hashes(count, max_pairs, salt=int(ids[start])), size)
            lefts.append(start + first)
            rights.append(start + second)
    left, right = np.concatenate(lefts), np.concatenate(rights)
    order = np.lexsort((right, left))
    ends = members.select(["question_id", "text", "cluster_id"])
    left_ends, right_ends = take_rows(ends, left[order]), take_rows(ends, right[order])
    return conform(
        pa.table(
            {
                "question_id_1": left_ends["question_id"],
                "text_1": left_ends["text"],
                "question_id_2": right_ends["question_id"],
                "text_2": right_ends["text"],
                "cluster_id": left_ends["cluster_id"],
            }
        ),
        PAIRS,
    )


def smallest_hashes(count: int, chosen: int, *, salt: int) -> np.ndarray:
    """Return the ``chosen`` numbers under ``count`` with the smallest hashes, in memory for those alone.

    Hashes of different numbers differ: `mix` is invertible.
    """
    expected = chosen + MARGIN * math.sqrt(chosen) + MARGIN**2
    while True:
        bound = min(int(2**64 / count * expected), 2**64 - 1)
        blocks = (_under(np.arange(start, min(start + BLOCK, count)), bound, salt) for start in range(0, count, BLOCK))
        numbers = np.concatenate([np.zeros(0, np.int64), *(block for block in blocks if len(block))])
        if len(numbers) >= chosen:
            return np.asarray(numbers[np.argsort(mix(numbers, salt))[:chosen]])
        expected *= 2


def _under(numbers: np.ndarray, bound: int, salt: int) -> np.ndarray:
    return numbers[mix(numbers, salt) <= np.uint64(bound)]


def _places(indices: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both places of pairs of ``size`` questions, which are counted like the cells above a square's diagonal."""
    row = np.arange(size)
    starts = row * (2 * size - row - 1) // 2
    first = np.searchsorted(starts, indices, side="right") - 1
    return first, indices - starts[first] + first + 1
