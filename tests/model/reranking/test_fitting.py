import numpy as np
import pytest
import torch

from model.reranking.fitting import EPOCHS, FEWEST, NETWORKS, cross_fitted, learn
from model.reranking.reranker import logits
from schemas.errors import QprError

K, FEATURES = 6, 4


def lesson(queries, *, seed=0):
    """Return candidates of which the one with the largest third feature is the paraphrase, absent ones aside."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(queries, K, FEATURES)).astype(np.float32)
    there = random.random((queries, K)) < 0.9
    there[:, :2] = True
    value = np.where(there, table[:, :, 2], -np.inf)
    return table, value == value.max(axis=1, keepdims=True), there


def first(weights, table, there):
    return np.where(there, logits(weights, table), -np.inf).argmax(axis=1)


def test_it_finds_the_feature_that_tells():
    weights = learn(*lesson(300), seed=0)
    table, relevant, there = lesson(200, seed=1)
    assert relevant[np.arange(200), first(weights, table, there)].mean() > 0.9


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    one, two, other = (learn(*lesson(60), seed=seed) for seed in (0, 0, 1))
    assert {name: weight.tobytes() for name, weight in one.items()} == {k: v.tobytes() for k, v in two.items()}
    assert one["hidden.weight"].tobytes() != other["hidden.weight"].tobytes()


def test_one_thread_learns_and_the_others_are_there_again_afterwards():
    threads, inside = torch.get_num_threads(), []
    try:
        torch.set_num_threads(2)
        learn(*lesson(60), seed=0, on_epoch=lambda: inside.append(torch.get_num_threads()))
        assert inside == [1] * EPOCHS * NETWORKS
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_every_epoch_of_every_fold_is_told_of():
    table, relevant, there = lesson(120)
    epochs = []
    cross_fitted(table, relevant, there, np.arange(120), folds=3, seed=0, on_epoch=lambda: epochs.append(1))
    assert len(epochs) == 3 * NETWORKS * EPOCHS


def test_scores_of_absent_candidates_teach_nothing():
    table, relevant, there = lesson(100)
    wild = np.where(there[:, :, None], table, 1e6).astype(np.float32)
    one, two = learn(table, relevant, there, seed=0), learn(wild, relevant, there, seed=0)
    assert all((one[name] == two[name]).all() for name in one)


def test_a_feature_that_never_changes_does_no_harm():
    table, relevant, there = lesson(60)
    table[:, :, 0] = 3
    assert all(np.isfinite(weight).all() for weight in learn(table, relevant, there, seed=0).values())


def test_scores_that_are_cross_fitted_know_nothing_of_their_own_group():
    table, relevant, there = lesson(120)
    groups = np.arange(120) // 2
    scores = cross_fitted(table, relevant, there, groups, folds=3, seed=0)
    changed = relevant.copy()
    changed[:2] = np.roll(relevant[:2], 1, axis=1) & there[:2]  # what is said of the first group
    again = cross_fitted(table, changed, there, groups, folds=3, seed=0)
    assert (scores[:2] == again[:2]).all()
    assert (scores[2:] != again[2:]).any()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_feature_that_is_no_number_is_named(value):
    table, relevant, there = lesson(60)
    table[5, 0, 2] = value
    with pytest.raises(QprError, match="feature 2 of 1 candidates is not finite"):
        learn(table, relevant, there, seed=0)


def test_a_network_that_is_no_number_names_its_epoch(monkeypatch):
    monkeypatch.setattr("model.reranking.fitting.LEARNING_RATE", 3e37)
    with pytest.raises(QprError, match=r"epoch 2: \S+ of the network is not finite"):
        learn(*lesson(60), seed=0)


def test_too_few_queries_are_refused():
    with pytest.raises(QprError, match=f"{FEWEST - 1} queries with .* fewer than {FEWEST}"):
        learn(*lesson(FEWEST - 1), seed=0)
