"""Vectors of a test, and graphs of them."""

from __future__ import annotations

import numpy as np

from model.index.linking.build import build_graph
from model.index.shards import Shard, build_shard, open_shard, train
from schemas.arrays import Matrix


def random_vectors(count: int, dimension: int = 8, seed: int = 0) -> Matrix:
    """Return vectors of normally distributed numbers."""
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


def flat(*parts: Matrix) -> list[Shard]:
    """Return flat shards of matrices."""
    return [open_shard(build_shard(train("Flat", part[:0]), part)) for part in parts]


def built(factory: str, vectors: Matrix, trained_by: Matrix | None = None) -> bytes:
    """Return the graph of some vectors, trained by these or by others."""
    return build_graph(train(factory, vectors if trained_by is None else trained_by), flat(vectors))
