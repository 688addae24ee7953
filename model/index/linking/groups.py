"""Groups of near vectors by k-means.

flat shards -> grouped -> Groups; rows -> vectors_at -> their vectors
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from model.index.shards import Matrix, Shard

Ints = npt.NDArray[np.int64]

IN_A_GROUP: Final = 512
"""Vectors of a group on the mean; their codes and links in a graph take 270 kB."""

_SAMPLED, _ROUNDS, _SEED, _AT_ONCE = 64, 6, 1234, 16_384


class Groups(NamedTuple):
    """Groups of vectors.

    Attributes:
        centroids: (groups, dimension).
        of_row: (rows,) number of the group of each row.
    """

    centroids: Matrix
    of_row: Ints


def grouped(shards: Sequence[Shard]) -> Groups:
    """Return groups of the vectors of flat shards, of which there is at least one.

    The same shards give the same groups if matrix products are made in one thread.
    """
    rows, dimension = sum(map(len, shards)), shards[0].layout.dimension
    groups = max(1, rows // IN_A_GROUP)
    sample = np.linspace(0, rows - 1, min(rows, _SAMPLED * groups)).astype(np.int64)
    settings: Any = faiss.ClusteringParameters()
    settings.niter, settings.seed, settings.max_points_per_centroid = _ROUNDS, _SEED, _SAMPLED
    settings.min_points_per_centroid = 1
    centroids: Any = faiss.IndexFlatL2(dimension)
    faiss.Clustering(dimension, groups, settings).train(vectors_at(shards, sample), centroids)
    nearest = [centroids.search(block, 1)[1][:, 0] for block in _blocks(shards)]
    return Groups(centroids.reconstruct_n(0, groups), np.concatenate(nearest))


def vectors_at(shards: Sequence[Shard], rows: Ints) -> Matrix:
    """Return the vectors in some rows of flat shards, (n, dimension); rows are numbered through all of them."""
    vectors = np.empty((len(rows), shards[0].layout.dimension), np.float32)
    for first, shard in zip(itertools.accumulate(map(len, shards), initial=0), shards, strict=False):
        here = np.flatnonzero((rows >= first) & (rows < first + len(shard)))
        vectors[here] = shard.vectors[rows[here] - first]
    return vectors


def _blocks(shards: Sequence[Shard]) -> Iterator[Matrix]:
    for shard in shards:
        for start in range(0, len(shard), _AT_ONCE):
            yield shard.vectors[start : start + _AT_ONCE]
