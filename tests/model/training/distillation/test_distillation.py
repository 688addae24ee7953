from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.cnn.settings import CnnSettings
from model.encoders.network import weights_of
from model.encoders.new_network import network_of
from model.encoders.subword.pretrained_tokens import read_static
from model.encoders.subword.settings import StaticSettings, SubwordSettings
from model.text.vocabulary import Vocabulary
from model.training.distillation.distillation import DistillationObjective, cosine_loss, targets_of, turn_to
from model.training.settings import TrainingSettings
from model.training.trainer import Trainer
from schemas.errors import QprError

SETTINGS = TrainingSettings(epochs=3, batch_size=8, learning_rate=0.05, linear_decay=True)
THINGS = ["bill", "rent", "card", "flight", "train", "hotel"]
KEYS = pa.array([f"{verb} my {thing}" for verb in ("pay", "cancel", "find") for thing in THINGS])
VOCABULARY = Vocabulary.learn(KEYS, hash_bins=3)
TAUGHT = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)[np.arange(18) % 6]  # alike: the same thing


def distil(network, texts, taught, *, settings=SETTINGS, **supervision):
    return Trainer(DistillationObjective(network, texts, taught, settings), **supervision).run().epochs


def test_the_loss_is_one_less_the_mean_cosine(batch):
    vectors, targets = batch(7, 4)
    targets /= targets.norm(dim=1, keepdim=True)
    expected = np.mean([1 - float(v @ t) / float(v.norm()) for v, t in zip(vectors, targets, strict=True)])
    assert cosine_loss(vectors, targets).item() == pytest.approx(expected, abs=1e-12)
    assert cosine_loss(3 * targets, targets).item() == pytest.approx(0, abs=1e-12)


def test_its_gradient_is_right(batch):
    vectors, targets = batch(4, 3)
    assert torch.autograd.gradcheck(lambda v: cosine_loss(v, targets), vectors.requires_grad_())


def test_sides_of_other_shapes_are_refused(batch):
    with pytest.raises(ValueError, match=r"two \(N, D\)"):
        cosine_loss(batch(4)[0], batch(3)[0])


def test_targets_keep_the_cosines_that_their_dimension_allows():
    random = np.random.default_rng(0)
    taught = (random.normal(size=(200, 3)) @ random.normal(size=(3, 9))).astype(np.float32)  # three directions
    targets = targets_of(taught, 3)
    unit = taught / np.linalg.norm(taught, axis=1, keepdims=True)
    assert targets.shape == (200, 3)
    assert targets @ targets.T == pytest.approx(unit @ unit.T, abs=1e-5)


PRODUCTS = """
import hashlib, sys
import numpy as np
from threadpoolctl import threadpool_limits
from model.training.distillation.distillation import targets_of, turn_to
taught = np.random.default_rng(0).normal(size=(5000, 300)).astype(np.float32)
for threads in sys.argv[1:]:
    with threadpool_limits(int(threads)):
        targets = targets_of(taught, 128)
        print(hashlib.sha256(targets.tobytes() + turn_to(taught[:, :128], targets).tobytes()).hexdigest())
"""


def test_any_number_of_threads_gives_the_same_targets_and_turn():
    # Haswell's kernels, those of processors without AVX-512, round by how a product is divided
    environment = os.environ | {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "4"}
    command = [sys.executable, "-c", PRODUCTS, "1", "2", "3"]
    digests = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert digests == digests[:1] * 3


def test_a_short_vector_is_filled_up_and_one_of_zeros_stays():
    taught = np.array([[3, 4], [0, 0]], np.float32)
    assert targets_of(taught, 4) == pytest.approx(np.array([[0.6, 0.8, 0, 0], [0, 0, 0, 0]]))


@pytest.mark.parametrize("learning_rate", [1e5, 1e30])
def test_weights_that_cannot_be_stored_are_refused(learning_rate):
    shape = SubwordSettings(dimension=4, ngram_bins=20)
    settings = SETTINGS.model_copy(update={"learning_rate": learning_rate})
    network = network_of(VOCABULARY, shape, dropout=settings.dropout, seed=settings.seed)
    with pytest.raises(QprError, match=r"epoch 1, step 3: embedding.weight is not finite as float16"):
        distil(network, KEYS, TAUGHT, settings=settings)


def test_a_teacher_whose_vectors_are_not_finite_is_refused():
    network = network_of(
        VOCABULARY, SubwordSettings(dimension=4, ngram_bins=20), dropout=SETTINGS.dropout, seed=SETTINGS.seed
    )
    taught = TAUGHT.copy()
    taught[3, 1] = np.inf
    with pytest.raises(QprError, match="vector of question 4 of 18 is not finite"):
        distil(network, KEYS, taught, settings=SETTINGS)


def test_first_vectors_are_turned_to_their_targets():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(500, 4)).astype(np.float32)
    turn, _ = np.linalg.qr(random.normal(size=(4, 4)))
    assert turn_to(vectors, vectors @ turn) == pytest.approx(turn, abs=0.05)


def test_published_tokens_begin_turned(tokens):
    start = read_static(str(tokens))
    shape = StaticSettings(**start.settings(str(tokens)) | {"ngram_bins": 20})
    words = pa.array(["pay", "bill", "pay bill"])
    vocabulary = Vocabulary.learn(words, hash_bins=3)
    network = network_of(vocabulary, shape)
    before = network.encode_all(network.read(words))
    turned = np.diag([1, -1, 1]).astype(np.float32)
    still = SETTINGS.model_copy(update={"epochs": 1, "learning_rate": 1e-12})
    distil(network, words, before @ turned, settings=still)
    after = network.encode_all(network.read(words))
    alike = (after * targets_of(before @ turned, 3)).sum(axis=1)
    assert (alike >= (before * targets_of(before @ turned, 3)).sum(axis=1) - 1e-6).all()


@pytest.mark.parametrize(
    "shape",
    [SubwordSettings(dimension=8, ngram_bins=50), CnnSettings(embedding_dimension=6, channels=6, dimension=8)],
)
def test_a_network_learns_what_its_teacher_finds_alike(shape):
    def taught_network():
        network = network_of(VOCABULARY, shape)
        epochs = distil(network, KEYS, TAUGHT, settings=SETTINGS.model_copy(update={"epochs": 20}))
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


@pytest.mark.parametrize(("value", "step"), [(float("nan"), 1), (1e9, 2)])
def test_a_bad_loss_names_the_question_farthest_from_its_teacher(monkeypatch, value, step):
    network = network_of(VOCABULARY, SubwordSettings(dimension=8, ngram_bins=50))
    objective = DistillationObjective(network, KEYS, TAUGHT, SETTINGS)
    add, far = objective.add_gradients, []

    def bad(batch):
        loss = add(batch)
        vectors = network.encode_all(network.read(KEYS.take(pa.array(batch))))
        targets = targets_of(TAUGHT, 8)[batch]
        far.append(KEYS[int(batch[np.square(vectors - targets).sum(axis=1).argmax()])].as_py())
        return value if len(far) == step else loss

    monkeypatch.setattr(objective, "add_gradients", bad)
    with pytest.raises(
        QprError, match=rf"epoch 1, step {step}: the loss is .* In this batch of \d questions"
    ) as raised:
        Trainer(objective).run()
    assert f'the worst is "{far[-1]}". Lower --learning-rate' in str(raised.value)


def test_one_question_is_too_few():
    network = network_of(
        VOCABULARY, SubwordSettings(dimension=4, ngram_bins=20), dropout=SETTINGS.dropout, seed=SETTINGS.seed
    )
    with pytest.raises(QprError, match="1 question:"):
        distil(network, KEYS[:1], TAUGHT[:1], settings=SETTINGS)
