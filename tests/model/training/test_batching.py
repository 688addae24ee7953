from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.training.batching import batch_count, batches, unique_batch_count, unique_batches


def epoch_of(pairs: int, *, size: int, seed: int = 0, epoch: int = 1) -> list[list[int]]:
    return [batch.tolist() for batch in batches(pairs, size=size, seed=seed, epoch=epoch)]


@pytest.mark.parametrize(
    ("pairs", "size", "lengths"),
    [
        (7, 3, [3, 3]),
        (8, 3, [3, 3, 2]),
        (6, 3, [3, 3]),
        (2, 5, [2]),
        (1, 2, []),
        (0, 2, []),
    ],  # 7: a lone pair is left out
)
def test_every_pair_comes_once_and_a_lone_last_one_is_left_out(pairs, size, lengths):
    found = epoch_of(pairs, size=size)
    assert [len(batch) for batch in found] == lengths
    assert batch_count(pairs, size=size) == len(lengths)
    seen = sorted(itertools.chain(*found))
    assert len(set(seen)) == len(seen) == sum(lengths)
    assert set(seen) <= set(range(pairs))


def test_order_depends_on_seed_and_epoch_alone():
    first = epoch_of(50, size=10)
    np.random.default_rng().random()
    assert epoch_of(50, size=10) == first
    assert epoch_of(50, size=10, epoch=2) != first
    assert epoch_of(50, size=10, seed=1) != first


SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=9)


def drawn(clusters, *, per_cluster=4, size=6, seed=0, epoch=1):
    return list(unique_batches(clusters, per_cluster=per_cluster, size=size, seed=seed, epoch=epoch))


@given(SIZES, st.none() | st.integers(1, 15), st.integers(2, 20), st.randoms(use_true_random=False))
def test_unique_batches_lose_no_drawn_pair_and_hold_no_cluster_twice(sizes, per_cluster, size, random):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    random.shuffle(clusters)
    found = drawn(clusters, per_cluster=per_cluster, size=size)
    assert len(found) == unique_batch_count(clusters, per_cluster=per_cluster, size=size) > 0
    for batch in found:
        assert 2 <= len(batch) <= size
        assert len(set(clusters[batch])) == len(batch)
    seen = np.concatenate(found)
    assert len(set(seen.tolist())) == len(seen)
    wanted = np.minimum(np.bincount(clusters), per_cluster or len(clusters))
    if wanted.sum() >= 2 * max(-(-wanted.sum() // size), wanted.max()):  # else lone pairs are left out
        assert np.bincount(clusters[seen]).tolist() == wanted.tolist()
        assert max(map(len, found)) - min(map(len, found)) <= 1


def test_without_a_limit_every_pair_comes_every_epoch():
    clusters = np.repeat(np.arange(40), np.arange(40) % 5 + 1)
    for epoch in (1, 2):
        found = drawn(clusters, per_cluster=None, size=32, epoch=epoch)
        assert sorted(np.concatenate(found).tolist()) == list(range(120))
        assert {len(batch) for batch in found} == {
            24
        }  # 120 pairs would fit 4 batches of 32, but clusters of 5 pairs need 5


def test_a_lone_pair_is_left_out():
    clusters = np.array([0] * 5 + [1] * 2)
    found = drawn(clusters, per_cluster=9)
    # 7 pairs in 5 batches, as cluster 0 has 5: two batches of a pair of each, three of a lone pair
    assert [sorted(clusters[batch].tolist()) for batch in found] == [[0, 1], [0, 1]]


def test_draws_depend_on_seed_and_epoch_alone_and_reach_every_pair():
    clusters = np.repeat(np.arange(5), 10)
    first = np.concatenate(drawn(clusters))
    np.random.default_rng().random()
    assert np.concatenate(drawn(clusters)).tolist() == first.tolist()
    assert np.concatenate(drawn(clusters, epoch=2)).tolist() != first.tolist()
    assert np.concatenate(drawn(clusters, seed=1)).tolist() != first.tolist()
    epochs = [np.concatenate(drawn(clusters, epoch=epoch)) for epoch in range(200)]
    counts = np.bincount(np.concatenate(epochs), minlength=50)
    assert counts.min() > 50  # each of 10 pairs is among the 4 in 80 of 200 epochs, give or take 7
    assert counts.max() < 110
