"""Trainings on a graphics card come to what they come to on a processor."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.encoders.cnn.settings import CnnSettings
from model.encoders.loading import load_encoder
from model.encoders.subword.settings import SubwordSettings
from model.encoders.transformer.checkpoint_folder import described
from model.encoders.transformer.inference import ALIKE
from model.encoders.transformer.settings import TransformerSettings
from model.losses.sdml import SDMLLoss
from model.training.checkpoints.checkpoints import Checkpoints, identity_of
from model.training.encoder_training import train
from model.training.settings import TrainingSettings

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]

SETTINGS = TrainingSettings(
    epochs=3, batch_size=12, learning_rate=0.01, vocabulary_size=100, hash_bins=5, linear_decay=True, loss=SDMLLoss()
)
CNN = CnnSettings(embedding_dimension=16, windows=(3,), channels=16, dimension=8)


@pytest.fixture(params=["cnn", "subword", "transformer"])
def shape(request):
    if request.param == "transformer":
        return TransformerSettings(**described(str(request.getfixturevalue("tiny_sentences"))))
    return CNN if request.param == "cnn" else SubwordSettings(dimension=8, ngram_bins=200)


@pytest.fixture
def run(pairs_about, shape):
    def trained(*, device, **given):
        settings = SETTINGS.model_copy(update=given.pop("changed", {}))
        pairs, validation = pairs_about("pay", "cancel", "change"), pairs_about("find")
        return train(pairs, validation, shape=shape, settings=settings, device=device, **given)

    return trained


def losses(trained):
    return [epoch.loss for epoch in trained.epochs]


@pytest.mark.parametrize("changed", [{}, {"chunk_size": 5}], ids=["whole batches", "chunks"])
def test_a_card_learns_what_a_processor_does(run, changed):
    on_card, on_processor = (run(device=device, changed=changed) for device in ("cuda", "cpu"))
    assert losses(on_card) == pytest.approx(losses(on_processor), rel=2e-2)
    assert on_card.epochs[-1].loss < on_card.epochs[0].loss
    assert on_card.weights.keys() == on_processor.weights.keys()


def test_a_card_encodes_as_a_processor_does(tiny_sentences):
    on_card, on_processor = (load_encoder(f"st:{tiny_sentences}") for _ in range(2))
    assert next(on_card._body.parameters()).device.type == "cuda"
    on_processor.__dict__["_model"] = on_processor._model.to("cpu")
    texts = [f"how do i pay {'my ' * number}bill" for number in range(60)] + [""]
    vectors, wanted = on_card.encode(texts), on_processor.encode(texts)
    assert np.einsum("nd,nd->n", vectors, wanted).min() > ALIKE


def test_half_precision_learns_on_a_card(run):
    trained = run(device="cuda", changed={"precision": "bfloat16"})
    assert trained.epochs[-1].loss < trained.epochs[0].loss
    assert {weight.dtype for weight in trained.weights.values()} == {np.dtype(np.float32)}


def test_a_training_without_a_device_is_on_the_card(run):
    torch.cuda.reset_peak_memory_stats()
    run(device=None, changed={"epochs": 1})
    assert torch.cuda.max_memory_allocated() > 0


def test_a_stopped_training_goes_on_to_the_same_losses(run, shape, memory):
    class Stopped(BaseException):
        pass

    def stop(step):
        if (step.epoch, step.step) == (2, 2):
            raise Stopped

    def checkpoints(run_id, *, every_minutes):
        given = {"run_id": run_id, "identity": identity_of(shape, SETTINGS, [""]), "every_minutes": every_minutes}
        return Checkpoints(f"{memory}/c", resume=not every_minutes, **given)

    whole = run(device="cuda")
    with pytest.raises(Stopped):
        run(device="cuda", checkpoints=checkpoints("run1", every_minutes=1e-9), on_step=stop)
    resumed = run(device="cuda", checkpoints=checkpoints("run2", every_minutes=0))
    assert losses(resumed) == pytest.approx(losses(whole), rel=2e-2)
