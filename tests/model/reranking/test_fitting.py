import contextlib

import numpy as np
import pytest
import torch

from model.reranking.fitting import EPOCHS, FEWEST, cross_fitted, learn
from model.reranking.reranker import logits
from model.training.checkpoints.checkpoints import Checkpoints
from model.training.progress import Deadline
from schemas.errors import QprError
from tests.support.killed_training import Killed, recorded_steps

K, FEATURES = 6, 4


def lesson(queries, *, seed=0):
    """Return candidates of which the one with the largest third feature is the paraphrase, absent ones aside."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(queries, K, FEATURES)).astype(np.float32)
    there = random.random((queries, K)) < 0.9
    there[:, :2] = True
    value = np.where(there, table[:, :, 2], -np.inf)
    return table, value == value.max(axis=1, keepdims=True), there


def learned(*examples, seed=0, **supervision):
    return learn(*examples, seed=seed, **supervision)[0]


def first(weights, table, there):
    return np.where(there, logits(weights, table), -np.inf).argmax(axis=1)


def test_it_finds_the_informative_feature():
    weights = learned(*lesson(300))
    table, relevant, there = lesson(200, seed=1)
    assert relevant[np.arange(200), first(weights, table, there)].mean() > 0.9


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    one, two, other = (learned(*lesson(60), seed=seed) for seed in (0, 0, 1))
    assert {name: weight.tobytes() for name, weight in one.items()} == {k: v.tobytes() for k, v in two.items()}
    assert one["hidden.weight"].tobytes() != other["hidden.weight"].tobytes()


def test_one_thread_learns_and_the_others_are_there_again_afterwards():
    threads, inside = torch.get_num_threads(), []
    try:
        torch.set_num_threads(2)
        learned(*lesson(60), on_epoch=lambda _: inside.append(torch.get_num_threads()))
        assert inside == [1] * EPOCHS
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_every_fold_is_supervised_by_its_name():
    table, relevant, there = lesson(120)
    epochs, names = [], []

    def supervise(name):
        names.append(name)
        return contextlib.nullcontext({"on_epoch": epochs.append})

    cross_fitted(table, relevant, there, np.arange(120), folds=3, seed=0, supervise=supervise)
    assert names == ["fold 1 of 3", "fold 2 of 3", "fold 3 of 3"]
    assert [epoch.epoch for epoch in epochs] == 3 * [*range(1, EPOCHS + 1)]


@pytest.mark.parametrize("after", [1, 2, 50, 119])
def test_stopped_after_any_step_it_resumes_to_the_same_bytes(memory, after):
    examples = lesson(300)

    def fit(*, run, every_minutes=1e-9, resume=True, kill_after=None):
        steps, on_step = recorded_steps(kill_after)
        checkpoints = Checkpoints(
            f"{memory}/c", run_id=f"run{run}", identity={}, every_minutes=every_minutes, resume=resume
        )
        return learned(*examples, checkpoints=checkpoints, on_step=on_step), steps

    whole, steps = fit(run=0, every_minutes=0, resume=False)
    with pytest.raises(Killed):
        fit(run=1, kill_after=after)
    resumed, left = fit(run=2, every_minutes=0)
    assert len(left) == len(steps) - after + 1  # the killed step was done but not kept
    assert {name: weight.tobytes() for name, weight in whole.items()} == {k: v.tobytes() for k, v in resumed.items()}


def test_a_time_limit_ends_it_with_a_rate_of_zero():
    now, rates = [0.0], []
    deadline = Deadline(1, clock=lambda: now[0])

    def on_step(step):
        rates.append(step)
        now[0] += 10

    weights, ending = learn(*lesson(60), seed=0, deadline=deadline, on_step=on_step)
    assert (ending, len(rates)) == ("time", 6)
    assert all(np.isfinite(weight).all() for weight in weights.values())


def test_scores_of_absent_candidates_teach_nothing():
    table, relevant, there = lesson(100)
    wild = np.where(there[:, :, None], table, 1e6).astype(np.float32)
    one, two = learned(table, relevant, there), learned(wild, relevant, there)
    assert all((one[name] == two[name]).all() for name in one)


def test_a_feature_that_never_changes_does_no_harm():
    table, relevant, there = lesson(60)
    table[:, :, 0] = 3
    assert all(np.isfinite(weight).all() for weight in learned(table, relevant, there).values())


def test_cross_fitted_scores_do_not_depend_on_their_own_group():
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
    with pytest.raises(QprError, match=r"epoch 2, step 1: the loss is nan. In this batch of 60 queries. Lower --depth"):
        learn(*lesson(60), seed=0)


def test_too_few_queries_are_refused():
    with pytest.raises(QprError, match=f"{FEWEST - 1} queries with .* fewer than {FEWEST}"):
        learn(*lesson(FEWEST - 1), seed=0)
