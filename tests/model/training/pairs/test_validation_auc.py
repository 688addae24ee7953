from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from model.training.pairs.validation_auc import sample_non_pairs, validation_auc
from model.training.training_pairs import Pairs


def pairs_of(sizes: list[int]) -> Pairs:
    """All pairs of clusters of these sizes; questions are numbered cluster by cluster."""
    rows, start = [], 0
    for cluster, size in enumerate(sizes):
        rows += [(i, j, cluster) for i in range(start, start + size) for j in range(i + 1, start + size)]
        start += size
    first, second, clusters = np.array(rows, np.int64).reshape(-1, 3).T
    return Pairs(pa.array([f"q{i}" for i in range(start)]), first, second, clusters)


@given(st.lists(st.integers(2, 6), min_size=2, max_size=6), st.integers(0, 99))
def test_there_are_as_many_non_pairs_and_all_cross_clusters(sizes, seed):
    pairs = pairs_of(sizes)
    first, second = sample_non_pairs(pairs, seed=seed)
    cluster_of = np.repeat(np.arange(len(sizes)), sizes)
    assert len(first) == len(second) == len(pairs)
    assert (cluster_of[first] != cluster_of[second]).all()


def test_every_question_of_another_cluster_can_be_drawn():
    pairs = pairs_of([12, 2, 3])
    draws = [sample_non_pairs(pairs, seed=seed) for seed in range(40)]  # 40 * 70 draws of 2 * (12 * 5 + 2 * 3) = 132
    seen = {pair for draw in draws for pair in zip(*draw, strict=True)}
    assert len(seen) == 132


def test_the_sample_depends_on_the_seed_alone():
    pairs = pairs_of([5, 5, 5])
    draws = [np.stack(sample_non_pairs(pairs, seed=seed)) for seed in (1, 1, 2)]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()


def test_one_cluster_has_no_non_pair():
    assert [len(part) for part in sample_non_pairs(pairs_of([4]), seed=0)] == [0, 0]


def test_a_question_of_two_clusters_is_not_drawn_against_its_paraphrases():
    # question 1 is in both clusters {0, 1} and {1, 2}: only 0 and 2 are no paraphrases
    pairs = Pairs(pa.array(["a", "b", "c"]), np.array([0, 1]), np.array([1, 2]), np.array([0, 1]))
    for seed in range(20):
        assert {frozenset(p) for p in zip(*sample_non_pairs(pairs, seed=seed), strict=True)} <= {frozenset((0, 2))}


@pytest.mark.parametrize(
    ("places", "auc"),
    [
        ([0, 1, 10, 11], 1.0),  # pairs at 1 and 1, non-pairs at 10 and 10
        ([0, 10, 1, 11], 0.0),  # pairs at 10 and 10, non-pairs at 1 and 1
        ([0, 0, 0, 0], 0.5),  # all alike
        ([0, 5, 3, 3], 0.5),  # pairs at 5 and 0, non-pairs at 3 and 2: 0 beats both, 5 neither
    ],
)
def test_auc_is_the_share_of_pairs_closer_than_non_pairs(places, auc):
    vectors = np.array(places, np.float32)[:, None]
    pairs = Pairs(pa.array(list("abcd")), np.array([0, 2]), np.array([1, 3]), np.array([0, 1]))
    assert validation_auc(vectors, pairs, (np.array([0, 1]), np.array([2, 3]))) == auc


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_auc_is_that_of_scikit_learn_with_any_ties(distances):
    vectors = np.array([place for near, far in distances for place in (0, near, 0, far)], np.float32)[:, None]
    rows = np.arange(len(vectors)).reshape(-1, 4).T
    pairs = Pairs(pa.array([f"q{row}" for row in range(len(vectors))]), rows[0], rows[1], rows[0] // 4)
    labels = np.repeat([1, 0], len(distances))
    expected = roc_auc_score(labels, [-place for side in zip(*distances, strict=True) for place in side])
    assert validation_auc(vectors, pairs, (rows[2], rows[3])) == pytest.approx(expected, rel=0, abs=1e-15)


@pytest.mark.parametrize("far", [np.nan, np.inf, 1e30])  # of 1e30 the square is beyond single precision
def test_auc_of_vectors_that_are_no_numbers_is_none(far):
    vectors = np.array([0, 0, 0, far], np.float32)[:, None]
    pairs = Pairs(pa.array(list("abcd")), np.array([0, 2]), np.array([1, 3]), np.array([0, 1]))
    assert np.isnan(validation_auc(vectors, pairs, (np.array([0, 1]), np.array([2, 3]))))
