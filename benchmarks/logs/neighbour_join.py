"""Nearest questions by the join of the pipeline, step by step on tables, without Beam.

ASKED, weights -> nearest_by_join -> NEIGHBOURS
"""

from __future__ import annotations

import collections
from collections.abc import Iterable

import pyarrow as pa

from pipelines.engine.shuffle import concatenate, split_by_shard
from pipelines.neighbours import join
from pipelines.neighbours.described import describe
from pipelines.neighbours.pairs import merge_nearest
from pipelines.questions.token_frequencies import TokenWeights

QUESTIONS_A_SHARD = 80_000
_ORDER = [("answer_id", "ascending"), ("question_id", "ascending"), ("similarity", "descending")]


def by_shard(tables: Iterable[pa.Table], key: str, shards: int) -> list[pa.Table]:
    """Return the tables divided into shards by the hash of a column."""
    return [concatenate(parts) for parts in _parts(tables, key, shards).values()]


def _parts(tables: Iterable[pa.Table], key: str, shards: int) -> dict[int, list[bytes]]:
    parts = collections.defaultdict(list)
    for table in tables:
        for shard, part in split_by_shard(table, key, shards):
            parts[shard].append(part)
    return parts


def joined(tables: list[pa.Table], weights: TokenWeights, k: int, shards: int) -> tuple[pa.Table, int]:
    """Return the NEIGHBOURS of all steps and the number of shuffled bytes."""
    compared: list[pa.Table] = []
    placed: list[pa.Table] = []
    for table in tables:
        described = describe(table, weights)
        compared += join.nearest_of_answers(described, weights, k=k)
        placed += join.place_in_shards(described.keyed, weights, shards=shards)
    by_stem = _parts(placed, "shard", shards)
    shards_of_stems = map(concatenate, by_stem.values())
    for table in shards_of_stems:
        compared += join.compare_placed(table, weights, k=k, shards=shards)
    neighbours = _parts(compared, "question_id", shards)
    merged = pa.concat_tables(merge_nearest(concatenate(parts), k) for parts in neighbours.values())
    shuffled = sum(len(part) for by_shard in (by_stem, neighbours) for parts in by_shard.values() for part in parts)
    return merged, shuffled


def nearest_by_join(members: pa.Table, weights: TokenWeights, *, k: int) -> pa.Table:
    """Return the nearest questions of each question by the join of the pipeline, which is not exact."""
    shards = max(1, round(len(members) / QUESTIONS_A_SHARD))
    return joined(by_shard([members], "answer_id", shards), weights, k, shards)[0].sort_by(_ORDER)
