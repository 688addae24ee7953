from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.learning.distillation import distil, similarity_loss
from model.networks import network_of, weights_of
from model.settings import EncoderSettings, SubwordSettings, TrainingSettings
from model.vocabulary import Vocabulary
from schemas.errors import QprError

SETTINGS = TrainingSettings(epochs=3, batch_size=8, learning_rate=0.05, linear_decay=True, scale=5.0)
THINGS = ["bill", "rent", "card", "flight", "train", "hotel"]
KEYS = pa.array([f"{verb} my {thing}" for verb in ("pay", "cancel", "find") for thing in THINGS])
VOCABULARY = Vocabulary.learn(KEYS, hash_bins=3)
TAUGHT = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)[np.arange(18) % 6]  # alike: the same thing


def naive(vectors, taught, scale):
    """One question, one other at a time, in float64."""
    total = 0.0
    for i in range(len(vectors)):
        chances = []
        for side in (vectors, taught):
            unit = side.double() / side.double().norm(dim=1, keepdim=True)
            exps = {j: math.exp(scale * float(unit[i] @ unit[j])) for j in range(len(side)) if j != i}
            chances.append({j: value / sum(exps.values()) for j, value in exps.items()})
        learner, teacher = chances
        total += sum(p * math.log(p / learner[j]) for j, p in teacher.items())
    return total / len(vectors)


@pytest.mark.parametrize(("count", "scale"), [(3, 1.0), (7, 20.0)])
def test_the_loss_agrees_with_a_loop(batch, count, scale):
    vectors, taught = batch(count, 4)[0], batch(count, 6, seed=1)[1]
    assert similarity_loss(vectors, taught, scale=scale).item() == pytest.approx(
        naive(vectors, taught, scale), abs=1e-9
    )


def test_it_is_zero_when_cosines_are_equal_whatever_length_and_direction(batch):
    vectors = batch(5, 3)[0]
    turn, _ = torch.linalg.qr(batch(3, 3, seed=2)[0])
    assert similarity_loss(vectors, 7 * vectors @ turn, scale=9.0).item() == pytest.approx(0, abs=1e-12)
    assert similarity_loss(vectors, batch(5, 3, seed=3)[0], scale=9.0).item() > 0.1


def test_its_gradient_is_right(batch):
    vectors, taught = batch(4, 3)
    assert torch.autograd.gradcheck(lambda v: similarity_loss(v, taught, scale=3.0), vectors.requires_grad_())


def test_two_questions_are_too_few(batch):
    with pytest.raises(ValueError, match="N >= 3"):
        similarity_loss(*batch(2), scale=1.0)
    with pytest.raises(ValueError, match="N >= 3"):
        similarity_loss(batch(4)[0], batch(3)[0], scale=1.0)


@pytest.mark.parametrize(
    "shape",
    [SubwordSettings(dimension=8, ngram_bins=50), EncoderSettings(embedding_dimension=6, channels=6, dimension=8)],
)
def test_a_network_learns_what_its_teacher_finds_alike(shape):
    def taught_network():
        network = network_of(VOCABULARY, shape, SETTINGS)
        epochs = distil(network, network.read(KEYS), TAUGHT, settings=SETTINGS.model_copy(update={"epochs": 20}))
        return network, epochs

    network, epochs = taught_network()
    assert epochs[-1].loss < epochs[0].loss / 3
    vectors = network.encode_all(network.read(KEYS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = np.arange(18)[:, None] % 6 == np.arange(18) % 6
    cosines = vectors @ vectors.T
    assert cosines[alike].mean() > cosines[~alike].mean() + 0.5
    again, _ = taught_network()
    for name, weight in weights_of(network.body).items():
        np.testing.assert_array_equal(weight, weights_of(again.body)[name])


def test_the_rate_falls_to_zero_and_every_step_is_told():
    network = network_of(VOCABULARY, SubwordSettings(dimension=4, ngram_bins=20), SETTINGS)
    told = []
    epochs = distil(
        network,
        network.read(KEYS),
        TAUGHT,
        settings=SETTINGS,
        on_step=lambda done, steps, _: told.append((done, steps)),
    )
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3]
    assert told[0][1] == 9  # 18 questions in batches of 8, 8 and 2, three times
    assert [done for done, _ in told] == [1, 2, 4, 5, 7, 8]  # one of two questions has nothing to compare


def test_too_few_questions_are_refused():
    network = network_of(VOCABULARY, SubwordSettings(dimension=4, ngram_bins=20), SETTINGS)
    with pytest.raises(QprError, match="2 questions"):
        distil(network, network.read(KEYS[:2]), TAUGHT[:2], settings=SETTINGS)
