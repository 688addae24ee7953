"""Graphs of the vectors of a test."""

from __future__ import annotations

from model.index.linking.build import build_graph
from model.index.shards import Matrix, Shard, build_shard, open_shard, train


def flat(*parts: Matrix) -> list[Shard]:
    """Return flat shards of matrices."""
    return [open_shard(build_shard(train("Flat", part[:0]), part)) for part in parts]


def built(factory: str, vectors: Matrix, trained_by: Matrix | None = None) -> bytes:
    """Return the graph of some vectors, trained by these or by others."""
    return build_graph(train(factory, vectors if trained_by is None else trained_by), flat(vectors))
