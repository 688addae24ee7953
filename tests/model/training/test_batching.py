from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.training.batching import batches, epoch_batches, fitted, unique_batches
from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs


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
    assert len(found) == len(drawn(clusters, per_cluster=per_cluster, size=size, epoch=2)) > 0
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


def pairs_of(sizes):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    numbers = np.arange(len(clusters))
    return Pairs(pa.array([str(number) for number in range(2 * len(numbers))]), 2 * numbers, 2 * numbers + 1, clusters)


PAIRS = pairs_of([4, 3, 2, 2, 1])


def fit(**options):
    said: list[str] = []
    return fitted(TrainingSettings(**options), PAIRS, inform=said.append), said


@pytest.mark.parametrize(
    ("options", "pairs", "unique"),
    [
        ({"batch_size": 3}, 12, False),
        ({"batch_size": 3, "unique_clusters": True}, 12, True),
        ({"batch_size": 3, "pairs_per_cluster": 2}, 9, True),
        ({"batch_size": 3, "pairs_per_cluster": 2, "unique_clusters": True}, 9, True),
    ],
)
def test_an_epoch_has_the_reported_length_and_batches_repeat_clusters_only_if_allowed(options, pairs, unique):
    settings = TrainingSettings(**options)
    met = False
    for epoch in range(20):
        found = [*epoch_batches(PAIRS, settings, epoch=epoch)]
        assert len(found) == len([*epoch_batches(PAIRS, settings, epoch=1)])
        assert len(set(np.concatenate(found).tolist())) == sum(map(len, found)) == pairs
        met |= any(len(set(PAIRS.clusters[batch])) < len(batch) for batch in found)
    assert met != unique


def test_a_batch_that_fits_is_left_alone_and_nothing_reported():
    for options in ({"batch_size": 5}, {"batch_size": 3, "unique_clusters": True}):
        assert fit(**options) == (TrainingSettings(**options), [])


def test_a_batch_larger_than_the_pairs_or_the_clusters_is_reduced():
    settings, said = fit(batch_size=13)
    assert settings.batch_size == 12
    assert said == [
        "batch size reduced from 13 to 12, the number of train pairs",
        "a batch holds pairs of at most 5 clusters, fewer than its pairs; --unique-clusters lets each come once",
    ]
    assert fit(batch_size=6) == (TrainingSettings(batch_size=6), said[1:])
    settings, said = fit(batch_size=6, pairs_per_cluster=2)
    assert settings.batch_size == 5
    assert said == ["batch size reduced from 6 to 5, the number of train clusters, each of which comes once in a batch"]


LARGE_CLUSTER = [
    ([4, 3, 2, 2, 1], {"batch_size": 5}, 3, "4 pairs", "4 steps. Set"),  # 12 pairs would fit 3 batches of 5
    ([9, 3, 2, 2, 1], {"batch_size": 1024, "pairs_per_cluster": 4}, 3, "4 pairs", "4 steps. Lower"),
    ([3, *[1] * 843], {"batch_size": 1024}, 282, "3 pairs", "3 steps. Set"),
    ([150, 1, 1, 1, 1], {"batch_size": 5}, 2, "150 pairs", "4 steps, and 146 pairs alone in a batch are left out. Set"),
    ([3, 1, 1], {"batch_size": 9}, 2, "3 pairs", "2 steps, and 1 pair alone in a batch is left out. Set"),
]


@pytest.mark.parametrize(("sizes", "options", "largest", "pairs", "steps"), LARGE_CLUSTER)
def test_a_cluster_that_decides_the_number_of_batches_is_reported(sizes, options, largest, pairs, steps):
    said: list[str] = []
    given, data = TrainingSettings(unique_clusters=True, **options), pairs_of(sizes)
    settings = fitted(given, data, inform=said.append)
    reduced = (
        f"batch size reduced from {options['batch_size']:,} to {largest}: the largest cluster has {pairs} an epoch"
    )
    assert said == [
        f"{reduced}, at most one in a batch, so an epoch takes {steps} --pairs-per-cluster for larger batches"
    ]
    found = [*epoch_batches(data, settings, epoch=1)]
    assert max(map(len, found)) == settings.batch_size == largest
    assert len(found) == int(steps.split()[0])
    as_given = [*epoch_batches(data, given, epoch=1)]
    assert [batch.tolist() for batch in found] == [batch.tolist() for batch in as_given]


@pytest.mark.parametrize(("size", "sizes"), [(2, [150, 150]), (6, [2, 2, 1, 1, 1])])
def test_batches_that_no_cluster_makes_smaller_are_not_reported(size, sizes):
    said: list[str] = []
    given = TrainingSettings(batch_size=size, unique_clusters=True)
    assert fitted(given, pairs_of(sizes), inform=said.append) == given
    assert said == []
