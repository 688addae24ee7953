"""Groups of near vectors by k-means.

flat shards -> grouped -> Groups
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import faiss
import numpy as np

from model.index.linking.vectors import blocks_of, vectors_at
from model.index.shards import Shard
from schemas.arrays import Int64s, Matrix

IN_A_GROUP: Final = 512
"""Vectors of a group on the mean; their codes and links in a graph take 270 kB."""

_SAMPLED, _ROUNDS, _SEED, _AT_ONCE = 64, 6, 1234, 16_384
"""Vectors sampled for each group, rounds and seed of k-means, and vectors whose group is sought at a time. Of 60,000
vectors the mean squared distance from the centroids was 3 % larger than with FAISS's 256 and 25, in 6 % of the time."""


class Groups(NamedTuple):
    """Groups of vectors.

    Attributes:
        centroids: (groups, dimension).
        of_row: (rows,) number of the group of each row.
    """

    centroids: Matrix
    of_row: Int64s


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
    nearest = [centroids.search(block, 1)[1][:, 0] for _, block in blocks_of(shards, _AT_ONCE)]
    return Groups(centroids.reconstruct_n(0, groups), np.concatenate(nearest))
