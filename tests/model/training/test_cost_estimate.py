from __future__ import annotations

import dataclasses
import math
import sys

import numpy as np
import pytest
import safetensors.numpy

from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import ModelConfig
from model.encoders.network import weights_of
from model.encoders.registry import kind_of
from model.encoders.saved_model import weight_shapes
from model.encoders.subword.settings import SubwordSettings
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.training import cost_estimate as plan
from model.training.batching import epoch_batches
from model.training.cost_estimate import plan_training
from model.training.initialization import build_network
from model.training.settings import TrainingSettings
from schemas.errors import QprError

PAPER = TrainingSettings(epochs=3, batch_size=10, vocabulary_size=9, hash_bins=5)
DEFAULT = PAPER.model_copy(
    update={"loss": MultipleNegativesRankingLoss(), "pairs_per_cluster": 2, "linear_decay": True}
)
KINDS = {
    "cnn": (CnnSettings(embedding_dimension=6, channels=5, dimension=4), PAPER),
    "subword": (SubwordSettings(dimension=4, ngram_bins=50), DEFAULT),
}
BOTH = pytest.mark.parametrize(("shape", "settings"), KINDS.values(), ids=KINDS)


@BOTH
def test_sizes_are_those_of_a_model_and_a_checkpoint(pairs_about, shape, settings):
    pairs = pairs_about("pay", "cancel", "change")
    found = plan_training(pairs, pairs_about("find"), shape=shape, settings=settings)
    config = ModelConfig(
        encoder=kind_of(shape).name, shape=shape, words=9, hash_bins=5, training=settings.stored(), dataset_digest=""
    )
    numbers = sum(map(math.prod, weight_shapes(config).values()))
    assert found.parameters == numbers
    _, network = build_network(pairs, shape=shape, settings=settings, device=None, older=None, inform=print)
    stored = {name: weight.astype(kind_of(shape).stored_as) for name, weight in weights_of(network.body).items()}
    assert len(safetensors.numpy.save(stored)) == pytest.approx(found.model_bytes, abs=600)  # its header
    best = 0 if settings.linear_decay else numbers
    assert found.checkpoint_bytes == 4 * (3 * numbers + best)
    assert found.memory_bytes > found.checkpoint_bytes
    batches = [*epoch_batches(pairs, settings, epoch=1)]
    assert (found.batches_an_epoch, found.pairs_an_epoch) == (len(batches), sum(map(len, batches)))
    assert found.pairs_a_step == max(map(len, batches))
    assert (found.epochs, found.device) == (3, "cpu")


def test_the_pairs_of_a_step_are_those_of_real_batches(pairs_about):
    said: list[str] = []
    shape, settings = KINDS["subword"]
    large = settings.model_copy(update={"batch_size": 1000, "pairs_per_cluster": 8})
    pairs = pairs_about("pay", "cancel")
    pairs = dataclasses.replace(pairs, clusters=np.minimum(np.arange(len(pairs)) // 3, 5))  # 3 pairs each, the last 9
    found = plan_training(pairs, pairs_about("find"), shape=shape, settings=large, inform=said.append)
    assert (found.pairs_a_step, found.batches_an_epoch, found.pairs_an_epoch) == (3, 8, 23)
    assert any(line.startswith("batch size reduced from 1,000 to 3: ") for line in said)


def test_the_time_is_that_of_its_steps_and_its_measurements(monkeypatch, pairs_about):
    shape, settings = KINDS["cnn"]
    taken = iter([9.0, 8.0, 2.0, 4.0, 1.5])  # two steps that are cold, two more, the measurement of an epoch
    monkeypatch.setattr(plan, "_timed", lambda work: (work(), next(taken))[1])
    found = plan_training(pairs_about("pay", "cancel"), pairs_about("find"), shape=shape, settings=settings)
    # 24 pairs: batches of 10, 10 and 4
    assert found.batches_an_epoch == 3
    assert found.measured_steps == 3
    assert found.seconds_a_step == 2.0
    assert found.seconds_an_epoch == 3 * 2.0 + 4.0
    assert found.seconds == 3 * found.seconds_an_epoch


def test_the_time_of_a_validation_has_no_import(monkeypatch, pairs_about):
    shape, settings = KINDS["cnn"]
    loaded = []
    monkeypatch.setattr(
        plan, "_timed", lambda work: (loaded.append({*sys.modules}), work(), loaded.append({*sys.modules}), 1.0)[3]
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    plan_training(pairs_about("pay", "cancel"), pairs_about("find", "change"), shape=shape, settings=settings)
    assert len(loaded) == 8  # before and after three steps and a validation
    assert loaded[-1] == loaded[-2]


def test_it_stops_when_it_has_measured_long_enough(pairs_about):
    shape, settings = KINDS["cnn"]
    pairs = pairs_about("pay", "cancel", "change", "lose")
    assert plan_training(pairs, pairs_about(), shape=shape, settings=settings, measured_s=0).measured_steps == 3
    assert plan_training(pairs, pairs_about(), shape=shape, settings=settings).measured_steps == 5  # a whole epoch


def test_what_training_begins_with_is_checked_and_reported(pairs_about):
    shape, settings = KINDS["cnn"]
    said: list[str] = []
    large = settings.model_copy(update={"batch_size": 5000})
    plan_training(pairs_about("pay"), pairs_about(), shape=shape, settings=large, inform=said.append)
    assert any("batch size reduced from 5,000 to 12" in line for line in said)
    assert any("no validation pairs" in line for line in said)
    with pytest.raises(QprError, match="--device cpu"):
        plan_training(pairs_about("pay"), pairs_about(), shape=shape, settings=settings, device="cuda:99")
