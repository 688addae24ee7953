"""The vectors of several flat shards, whose rows are numbered through all of them.

flat shards -> blocks_of -> blocks of vectors; rows -> vectors_at, exact_distances
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from faiss import swig_ptr

from model.index.arithmetic import one_thread
from model.index.shards import Shard
from schemas.arrays import Int64s, Matrix

Counted = Callable[[int], object]


def blocks_of(shards: Sequence[Shard], size: int) -> Iterator[tuple[int, Matrix]]:
    """Yield the number of the first row of a block and its vectors, at most ``size`` of one shard at a time."""
    for start, shard in zip(_starts(shards), shards, strict=False):
        for first in range(0, len(shard), size):
            yield start + first, shard.vectors[first : first + size]


def vectors_at(shards: Sequence[Shard], rows: Int64s) -> Matrix:
    """Return the vectors in some rows, (n, dimension)."""
    vectors = np.empty((len(rows), shards[0].layout.dimension), np.float32)
    for first, shard in zip(_starts(shards), shards, strict=False):
        in_shard = np.flatnonzero((rows >= first) & (rows < first + len(shard)))
        vectors[in_shard] = shard.vectors[rows[in_shard] - first]
    return vectors


def exact_distances(shards: Sequence[Shard], vectors: Matrix, rows: Int64s) -> Matrix:
    """Return the (n, k) squared distances of vectors from those in some rows, infinite for row -1.

    Args:
        shards: flat.
        vectors: (n, dimension), contiguous.
        rows: (n, k), contiguous.
    """
    distances, own = np.full(rows.shape, np.inf, np.float32), rows.copy()
    of_shard, unsigned = np.empty_like(distances), own.view(np.uint64)
    arguments = len(vectors), swig_ptr(vectors), rows.shape[1], swig_ptr(of_shard), swig_ptr(own)
    with one_thread():  # in a batch of 64 each question took .02 ms, and .15 where threads spin while they wait
        for first, shard in zip(_starts(shards), shards, strict=False):
            np.subtract(rows, first, out=own)
            own[unsigned >= len(shard)] = -1  # FAISS takes these for infinitely far
            shard.faiss.compute_distance_subset(*arguments)
            np.minimum(distances, of_shard, out=distances)
    return distances


def _starts(shards: Sequence[Shard]) -> Iterator[int]:
    """Return the first row of each shard, and the number of all rows."""
    return itertools.accumulate(map(len, shards), initial=0)
