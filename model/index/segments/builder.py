"""Builder of the shards of a later segment, on the centroids of the first; it pickles like `ShardBuilder`.

a shard of the first segment -> SegmentBuilder -> shards
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from model.index.segments.layout import FLAT_SEGMENT_BELOW
from model.index.shards import build_shard, emptied, train
from schemas.arrays import Bools, Int64s, Matrix
from schemas.artifacts.manifest import File, read_verified


@dataclasses.dataclass(frozen=True)
class SegmentBuilder:
    """FAISS shards that are flat, or share the training of an index.

    Attributes:
        url: the index.
        shard: one of its shards with lists; None where it has none.
    """

    url: str
    shard: File | None

    def in_sample(self, question_ids: Int64s, _: int) -> Bools:
        """Return a mask of the ids that are in a training sample: none, since nothing is trained."""
        return np.zeros(len(question_ids), bool)

    def train(self, vectors: Matrix, questions: int) -> bytes:
        """Return an empty index, serialised: flat for a segment of under `FLAT_SEGMENT_BELOW` questions.

        Args:
            vectors: (0, dimension).
            questions: of the segment.

        Raises:
            QprError: the shard cannot be read.
        """
        if self.shard is None or questions < FLAT_SEGMENT_BELOW:
            return train("Flat", vectors)
        return emptied(read_verified(self.url, self.shard))

    def build(self, trained: bytes, vectors: Iterable[Matrix]) -> bytes:
        """Return the file of a shard; row i holds vector i of the parts, one after the other."""
        return build_shard(trained, vectors)
