from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from model.training.epoch_batches import batches_an_epoch, epoch_batches, fitted
from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs


def pairs_of(sizes):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    numbers = np.arange(len(clusters))
    return Pairs(pa.array([str(number) for number in range(2 * len(numbers))]), 2 * numbers, 2 * numbers + 1, clusters)


PAIRS = pairs_of([4, 3, 2, 2, 1])


def fit(**options):
    said: list[str] = []
    return fitted(TrainingSettings(**options), PAIRS, say=said.append), said


@pytest.mark.parametrize(
    ("options", "pairs", "unique"),
    [
        ({"batch_size": 3}, 12, False),
        ({"batch_size": 3, "unique_clusters": True}, 12, True),
        ({"batch_size": 3, "pairs_per_cluster": 2}, 9, True),
        ({"batch_size": 3, "pairs_per_cluster": 2, "unique_clusters": True}, 9, True),
    ],
)
def test_an_epoch_is_as_long_as_said_and_clusters_meet_only_where_they_may(options, pairs, unique):
    settings = TrainingSettings(**options)
    met = False
    for epoch in range(20):
        found = [*epoch_batches(PAIRS, settings, epoch=epoch)]
        assert len(found) == batches_an_epoch(PAIRS, settings)
        assert len(set(np.concatenate(found).tolist())) == sum(map(len, found)) == pairs
        met |= any(len(set(PAIRS.clusters[batch])) < len(batch) for batch in found)
    assert met != unique


def test_a_batch_that_fits_is_left_alone_and_nothing_said():
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


def test_a_cluster_that_makes_many_small_steps_is_said():
    # 12 pairs in batches of 5 are 3, but the largest cluster has 4: too few steps to speak of
    assert fit(batch_size=5, unique_clusters=True)[1] == []
    said: list[str] = []
    fitted(TrainingSettings(batch_size=5, unique_clusters=True), pairs_of([150, 1, 1, 1, 1]), say=said.append)
    assert said == [
        "an epoch takes 150 steps of at most 2 pairs, not 5: one cluster has 150 pairs, one for each step. "
        "Set --pairs-per-cluster"
    ]
    even: list[str] = []
    fitted(TrainingSettings(batch_size=2, unique_clusters=True), pairs_of([150, 150]), say=even.append)
    assert even == []
