import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.index.shard_merge import nearest
from model.index.shard_stack import FEW, ShardStack
from model.index.shards import build_shard, open_shard, train

DIMENSION = 8


def build(factory, seed, *, rows=400, shards=3, distinct=400):
    """Return opened shards and their ids; with few distinct vectors many rows are equally near."""
    random = np.random.default_rng(seed)
    pool = random.normal(size=(distinct, DIMENSION)).astype(np.float32)
    vectors = pool[random.integers(0, distinct, rows)]
    ids = np.sort(random.choice(np.arange(-5 * rows, 5 * rows), rows, replace=False))
    trained = train(factory, vectors)
    parts = [np.flatnonzero(ids % shards == number) for number in range(shards)]
    return [open_shard(build_shard(trained, vectors[part])) for part in parts], [ids[part] for part in parts], pool


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    queries=st.integers(0, FEW + 2),
    k=st.integers(1, 60),
    probes=st.integers(1, 7),
    factory=st.sampled_from(["IVF5,Flat", "IVF5_HNSW4,Flat"]),
    distinct=st.sampled_from([3, 60, 400]),
)
def test_a_stack_finds_what_its_shards_find_to_the_last_bit(seed, queries, k, probes, factory, distinct):
    shards, ids, pool = build(factory, seed, distinct=distinct)
    stack = ShardStack.of(shards, ids)
    asked = pool[np.random.default_rng(seed).integers(0, len(pool), queries)] + np.float32(seed % 2) / 8
    found, expected = (search(asked, k=k, probes=probes) for search in (stack.nearest, by_shard(shards, ids)))
    for name in ("distances", "ids", "rows"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name


def by_shard(shards, ids):
    return lambda asked, **options: nearest(shards, ids, asked, **options)


@pytest.mark.parametrize("factory", ["Flat", "IVF5,SQ8", "IVF5,PQ2x4"])
def test_shards_without_lists_or_of_codes_are_no_stack(factory):
    shards, ids, _ = build(factory, 1)
    assert ShardStack.of(shards, ids) is None


def test_one_shard_or_one_with_deleted_rows_is_no_stack():
    shards, ids, _ = build("IVF5,Flat", 1)
    assert ShardStack.of(shards[:1], ids[:1]) is None
    part = dataclasses.replace(shards[0], live=np.ones(len(shards[0]), bool))
    assert ShardStack.of([part, *shards[1:]], ids) is None
