"""Builder of the FAISS shards of one index; it pickles, so that it can travel to workers.

factory or None -> ShardBuilder -> training sample, trained index, shards
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from model.index.factory import check_questions, default_factory, factory_of_shards, in_sample, sample_size
from model.index.shards import build_shard, train
from schemas.arrays import Bools, Int64s, Matrix


@dataclasses.dataclass(frozen=True)
class ShardBuilder:
    """FAISS shards that share one training.

    Attributes:
        dimension: of the vectors.
        factory: FAISS factory string of the index; None: `default_factory` of the number of questions.
    """

    dimension: int
    factory: str | None = None

    def factory_for(self, questions: int) -> str:
        """Return the factory of an index of this many questions."""
        return self.factory or default_factory(questions, self.dimension)

    def in_sample(self, question_ids: Int64s, questions: int) -> Bools:
        """Return a mask of the ids that are in the training sample of an index of ``questions``."""
        size = sample_size(factory_of_shards(self.factory_for(questions)))
        return in_sample(question_ids, size=size, questions=questions)

    def train(self, vectors: Matrix, questions: int) -> bytes:
        """Return a trained empty index, serialised.

        Args:
            vectors: of the training sample, in order of question id.
            questions: number of questions of the whole index.

        Raises:
            QprError: the sample is too small for the factory.
        """
        factory = factory_of_shards(self.factory_for(questions))
        check_questions(factory, len(vectors))
        return train(factory, vectors)

    def build(self, trained: bytes, vectors: Iterable[Matrix]) -> bytes:
        """Return the file of a shard; row i holds vector i of the parts, one after the other."""
        return build_shard(trained, vectors)
