"""Codes of the vectors of flat shards, in a graph or inverted lists that are searched fast (`model.index.refinement`).

flat shards, ids, factory -> build_codes -> bytes; bytes -> Codes
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from model.index.factory import check_questions, in_sample, is_graph, sample_size
from model.index.linking.build import build_graph
from model.index.linking.vectors import Counted, blocks_of
from model.index.shards import Shard, build_shard, emptied, train
from schemas.arrays import Int64s, Matrix

_ROWS: Final = 16_384
"""Vectors that are coded at a time; another number could give other bytes."""


@dataclasses.dataclass(frozen=True)
class Codes:
    """Opened codes of the vectors of consecutive flat shards, those of one segment.

    Attributes:
        shard: the codes; its row i is row i of the concatenation of these shards.
        first: number of the first of these shards.
        stop: number after that of the last of them.
    """

    shard: Shard
    first: int
    stop: int


def build_codes(
    factory: str, shards: Sequence[Shard], question_ids: Sequence[Int64s], coded: Counted | None = None
) -> bytes:
    """Return the codes of all vectors of flat shards, serialised.

    Args:
        factory: of the index, of codes that are refined.
        shards: flat.
        question_ids: of each shard; they decide which vectors train the codes, and in which order.
        coded: function that takes the number of vectors that have been coded.

    Raises:
        QprError: there are too few questions for the lists.
        UsageError: FAISS cannot build the factory.
    """
    questions = sum(map(len, shards))
    check_questions(factory, questions)
    masks = [in_sample(ids, size=sample_size(factory), questions=questions) for ids in question_ids]
    order = np.argsort(np.concatenate([ids[mask] for ids, mask in zip(question_ids, masks, strict=True)]))
    sample = np.concatenate([shard.vectors[mask] for shard, mask in zip(shards, masks, strict=True)])[order]
    return _built(factory, train(factory, sample), shards, coded)


def like_codes(factory: str, codes: bytes | memoryview, shards: Sequence[Shard], coded: Counted | None = None) -> bytes:
    """Return the codes of other vectors, by the training of codes of the same factory, serialised."""
    return _built(factory, emptied(codes), shards, coded)


def _built(factory: str, trained: bytes, shards: Sequence[Shard], coded: Counted | None) -> bytes:
    if is_graph(factory):
        return build_graph(trained, shards, coded)
    return build_shard(trained, _counted(shards, coded), same_parts=True)


def _counted(shards: Sequence[Shard], coded: Counted | None) -> Iterator[Matrix]:
    for first, block in blocks_of(shards, _ROWS):
        yield block
        if coded is not None:
            coded(first + len(block))
