"""A training that stops anywhere and goes on comes to the very weights of one that never stopped."""

from __future__ import annotations

import random
from unittest.mock import Mock

import numpy as np
import pytest

from model.encoders.cnn.settings import CnnSettings
from model.encoders.subword.settings import SubwordSettings
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.training import trainer as training
from model.training.checkpoints.checkpoints import Checkpoints, identity_of
from model.training.encoder_training import train
from model.training.settings import TrainingSettings
from tests.support.killed_training import Killed, recorded_steps

CNN = CnnSettings(embedding_dimension=6, windows=(2, 3), channels=5, dimension=4)
BAG = SubwordSettings(dimension=4, ngram_bins=50)
PAPER = TrainingSettings(epochs=3, batch_size=10, learning_rate=0.05, vocabulary_size=30, hash_bins=5)
DEFAULT = PAPER.model_copy(
    update={"loss": MultipleNegativesRankingLoss(), "pairs_per_cluster": 2, "linear_decay": True, "dropout": 0.3}
)
KINDS = {
    "paper": (CNN, PAPER, True),
    "paper without validation": (CNN, PAPER, False),
    "default": (BAG, DEFAULT, True),
    "default with early stopping": (BAG, DEFAULT.model_copy(update={"linear_decay": False, "patience": 1}), True),
}


@pytest.fixture(params=KINDS)
def training_of(request, pairs_about, memory):
    """Return a function that trains, killed after some step of all, going on from checkpoints if told."""
    shape, settings, validated = KINDS[request.param]
    validation = pairs_about("find") if validated else pairs_about()
    identity = identity_of(shape, settings, [""])

    def trained(*, run=0, kill_after=None, every_minutes=1e-9, resume=True, checkpointed=True):
        checkpoints = Checkpoints(
            f"{memory}/c", run_id=f"run{run:04}", identity=identity, every_minutes=every_minutes, resume=resume
        )
        steps, on_step = recorded_steps(kill_after)
        pairs = pairs_about("pay", "cancel", "change")
        given = {"checkpoints": checkpoints if checkpointed else None, "on_step": on_step}
        return train(pairs, validation, shape=shape, settings=settings, **given), steps

    return trained


def same(one, other):
    assert one.weights.keys() == other.weights.keys()
    assert all((one.weights[name] == other.weights[name]).all() for name in one.weights)
    assert [(e.epoch, e.loss, e.auc) for e in one.epochs] == [(e.epoch, e.loss, e.auc) for e in other.epochs]
    assert (one.best.epoch, one.ending) == (other.best.epoch, other.ending)


def test_stopped_after_any_step_it_goes_on_to_the_same_weights(training_of, memory):
    whole, steps = training_of(checkpointed=False)
    for number in range(1, len(steps) + 1):
        with pytest.raises(Killed):
            training_of(run=2 * number, kill_after=number, resume=False)
        resumed, left = training_of(run=2 * number + 1, every_minutes=0)
        same(resumed, whole)
        # the killed step was done but not kept; at the first there was nothing to go on from
        assert [(s.epoch, s.step) for s in left] == [(s.epoch, s.step) for s in steps[number - 1 :]]


def test_stopped_again_and_again_it_comes_to_the_same_weights(training_of):
    whole, _ = training_of(checkpointed=False)
    draw = random.Random(0)
    for run in range(100):
        try:
            resumed, _ = training_of(run=run, kill_after=draw.randint(2, 5))
        except Killed:
            continue
        break
    same(resumed, whole)
    assert run > 1


def test_checkpoints_at_the_ends_of_epochs_alone_do_too(training_of, monkeypatch):
    monkeypatch.setattr("model.training.checkpoints.checkpoints.SHARE", np.inf)
    whole, steps = training_of(checkpointed=False)
    with pytest.raises(Killed):
        training_of(run=0, kill_after=len(steps), every_minutes=5)
    resumed, left = training_of(run=1, every_minutes=5)
    assert (left[0].epoch, left[0].step) == (steps[-1].epoch, 1)
    same(resumed, whole)


def test_a_checkpoint_between_the_last_step_and_the_end_of_an_epoch_is_one_too(training_of, monkeypatch):
    whole, _ = training_of(checkpointed=False)
    monkeypatch.setattr(training.Trainer, "end_epoch", Mock(side_effect=Killed))
    with pytest.raises(Killed):
        training_of(run=0)
    monkeypatch.undo()
    resumed, left = training_of(run=1)
    assert (left[0].epoch, left[0].step) == (2, 1)
    same(resumed, whole)
