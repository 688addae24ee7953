from __future__ import annotations

import numpy as np
import pytest
import torch

from model.encoders.subword.settings import SubwordSettings
from model.training.encoder_training import train
from model.training.progress import Deadline, Epoch, Progress
from model.training.settings import TrainingSettings


def test_steps_add_up_to_an_epoch():
    at = Progress()
    at.count(loss=2.0, pairs=3, seconds=0.5)
    at.count(loss=1.0, pairs=1, seconds=1.5)
    assert (at.step, at.first_loss, str(at)) == (2, 2.0, "epoch 1, step 2")
    assert at.end_epoch(0.5, keep_last=False)
    assert at.epochs == [Epoch(1, 7 / 4, 0.5, 2.0, 2.0)]
    assert (at.epoch, at.step, at.pairs, at.loss_sum, at.seconds, at.first_loss) == (2, 0, 0, 0.0, 0.0, 2.0)


@pytest.mark.parametrize(
    ("scores", "keep_last", "best"),
    [
        ([0.5, 0.7, 0.6, 0.7], False, 2),  # as good is not better
        ([0.0, 0.0], False, 1),
        ([0.9, 0.8, 0.7], True, 3),
        ([None, None], False, 2),
    ],
)
def test_the_best_epoch_is_the_one_that_separates_best_or_else_the_last(scores, keep_last, best):
    at, kept = Progress(), 0
    for score in scores:
        at.count(loss=1.0, pairs=1, seconds=1.0)
        if at.end_epoch(score, keep_last=keep_last):
            kept = at.epoch - 1
    assert at.best == kept == best


def test_time_passes_to_the_deadline_and_not_beyond():
    now = [100.0]
    deadline, none = (Deadline(minutes, clock=lambda: now[0]) for minutes in (2, None))
    found = []
    for now[0] in (100.0, 160.0, 219.0, 220.0, 400.0):
        found.append((deadline.spent, deadline.over))
        assert (none.spent, none.over) == (0, False)
    assert found == [(0, False), (0.5, False), (pytest.approx(119 / 120), False), (1, True), (1, True)]


SHAPE = SubwordSettings(dimension=4, ngram_bins=50)
SETTINGS = TrainingSettings(epochs=100, batch_size=10, learning_rate=0.01, linear_decay=True, patience=1)


def train_by_the_clock(monkeypatch, pairs_about, settings, *, verbs=("find",)):
    """Train for a minute of which every step takes ten seconds; return what came of it, the rates, what was said."""
    now, rates, said = [0.0], [], []
    step = torch.optim.SparseAdam.step

    def timed(self):
        rates.append(self.param_groups[0]["lr"])
        now[0] += 10
        return step(self)

    monkeypatch.setattr(torch.optim.SparseAdam, "step", timed)
    deadline = Deadline(1, clock=lambda: now[0])
    pairs = pairs_about("pay", "cancel")  # 24 of them, 3 steps an epoch
    given = {"shape": SHAPE, "settings": settings, "deadline": deadline, "inform": said.append}
    return train(pairs, pairs_about(*verbs), **given), rates, said


def test_a_linear_decay_ends_when_the_time_is_over(monkeypatch, pairs_about):
    trained, rates, said = train_by_the_clock(monkeypatch, pairs_about, SETTINGS)
    np.testing.assert_allclose(rates, [0.01 * (6 - done) / 6 for done in range(6)])
    assert (trained.ending, len(trained.epochs), trained.best.epoch) == ("time", 2, 2)
    assert "stopped after 1 minutes at epoch 2 of 100, step 3 of 3; the learning rate fell to 0 by then" in said


def test_time_that_suffices_changes_nothing(monkeypatch, pairs_about):
    settings = SETTINGS.model_copy(update={"epochs": 1})
    trained, rates, said = train_by_the_clock(monkeypatch, pairs_about, settings)
    np.testing.assert_allclose(rates, [0.01 * (3 - done) / 3 for done in range(3)])
    assert trained.ending == "epochs"
    assert not any("stopped" in line for line in said)


def test_with_early_stopping_the_best_epoch_is_kept_when_the_time_is_over(monkeypatch, pairs_about):
    scores = iter([0.9, 0.7])
    monkeypatch.setattr("model.training.pairs.pair_objective.validation_auc", lambda *_: next(scores))
    settings = SETTINGS.model_copy(update={"linear_decay": False, "patience": 5})
    trained, rates, said = train_by_the_clock(monkeypatch, pairs_about, settings)
    assert set(rates) == {0.01}
    assert (trained.ending, len(trained.epochs), trained.best.epoch) == ("time", 2, 1)
    assert said[-1].endswith("epoch 2 of 100, step 3 of 3; kept epoch 1")


def test_an_epoch_that_the_time_cuts_short_counts_what_it_did(monkeypatch, pairs_about):
    settings = SETTINGS.model_copy(update={"batch_size": 5})  # 5 steps an epoch
    trained, rates, _ = train_by_the_clock(monkeypatch, pairs_about, settings, verbs=())
    assert len(rates) == 6
    assert [epoch.epoch for epoch in trained.epochs] == [1, 2]
    assert trained.best.epoch == 2
