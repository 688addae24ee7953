"""A transformer is fine-tuned by the same training as all other encoders."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from model.encoders.network import weights_of
from model.encoders.new_network import network_of
from model.encoders.registry import kind_of
from model.encoders.saved_model import ModelParts
from model.encoders.transformer.checkpoint_folder import described, load_sentences, unpacked
from model.encoders.transformer.settings import TransformerSettings
from model.losses.registry import LOSSES
from model.text.vocabulary import Vocabulary
from model.training.checkpoints.checkpoints import Checkpoints, identity_of
from model.training.encoder_training import train
from model.training.initialization import begin_from
from model.training.presets import TRANSFORMER
from schemas.errors import QprError
from tests.support.killed_training import Killed, recorded_steps

SETTINGS = TRANSFORMER.model_copy(update={"epochs": 3, "batch_size": 10, "learning_rate": 1e-3})


@pytest.fixture(scope="module")
def shape(tiny_sentences):
    return TransformerSettings(**described(str(tiny_sentences)))


@pytest.fixture(scope="module")
def run(shape, pairs_about):
    """Return a function that trains and returns what came of it and the steps."""

    def trained(*, kill_after=None, checkpoints=None, **changed):
        steps, on_step = recorded_steps(kill_after)
        settings = SETTINGS.model_copy(update=changed)
        given = {"shape": shape, "settings": settings, "checkpoints": checkpoints, "on_step": on_step}
        return train(pairs_about("pay", "cancel", "change"), pairs_about("find"), **given), steps

    return trained


@pytest.mark.parametrize("loss", LOSSES)
def test_it_learns_by_every_loss(run, loss):
    trained, _ = run(loss=LOSSES[loss]())
    assert trained.epochs[-1].loss < trained.epochs[0].loss
    assert len(trained.vocabulary) == 0


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_stopped_after_any_step_it_goes_on_to_the_same_weights(run, shape, memory, precision):
    options = {"precision": precision, "linear_decay": False}  # so that the best epoch is kept too
    identity = identity_of(shape, SETTINGS, [""])
    whole, steps = run(**options)
    for number in range(2, len(steps) + 1, 3):
        for kill_after, every in ((number, 1e-9), (None, 0)):
            name = f"run{2 * number + (every == 0):04}"
            given = {"run_id": name, "identity": identity, "every_minutes": every, "resume": every == 0}
            checkpoints = Checkpoints(f"{memory}/c", **given)
            if kill_after:
                with pytest.raises(Killed):
                    run(kill_after=kill_after, checkpoints=checkpoints, **options)
            else:
                resumed, left = run(checkpoints=checkpoints, **options)
        assert len(left) == len(steps) - number + 1
        assert [(e.loss, e.auc) for e in resumed.epochs] == [(e.loss, e.auc) for e in whole.epochs]
        assert resumed.weights.keys() == whole.weights.keys()
        assert all((resumed.weights[name] == whole.weights[name]).all() for name in whole.weights)


def test_its_files_hold_what_it_learned_and_another_training_begins_there(run, shape):
    trained, _ = run(epochs=1)
    files, _ = kind_of(shape).files(shape, trained.weights)
    with unpacked({name.removeprefix("transformer/"): content for name, content in files.items()}) as folder:
        learned = dict(load_sentences(folder, name="learned").named_parameters())
    assert {f"sentences.{name}" for name in learned} == trained.weights.keys()
    assert all((weight.detach().numpy() == trained.weights[f"sentences.{n}"]).all() for n, weight in learned.items())
    network = network_of(Vocabulary((), 0), shape, dropout=SETTINGS.dropout, seed=SETTINGS.seed)
    fresh = weights_of(network.body)
    assert any((fresh[name] != trained.weights[name]).any() for name in fresh)
    older = ModelParts(None, SimpleNamespace(shape=shape), Vocabulary((), 0), {}, files)
    said = begin_from(older, network, Vocabulary((), 0))
    assert said == f"all {len(fresh)} of them"
    assert all((weight == trained.weights[name]).all() for name, weight in weights_of(network.body).items())


def test_weights_that_are_no_numbers_name_the_epoch(run):
    with pytest.raises(QprError, match=r"epoch \d, step \d.*Lower --learning-rate"):
        run(learning_rate=1e30)


def test_equal_arguments_give_equal_weights_and_leave_the_random_state_alone(run):
    state = torch.get_rng_state()
    one, other = run(epochs=1)[0], run(epochs=1)[0]
    assert all((one.weights[name] == other.weights[name]).all() for name in one.weights)
    assert (torch.get_rng_state() == state).all()
    assert np.isfinite(one.best.loss)
