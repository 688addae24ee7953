from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import ModelConfig
from model.encoders.network import weights_of
from model.encoders.new_network import network_of
from model.encoders.registry import kind_of
from model.encoders.saved_model import weight_shapes
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import Vocabulary
from model.training.settings import TrainingSettings

VOCABULARY = Vocabulary(("pay", "the", "bill"), hash_bins=4)
SHAPES = [
    CnnSettings(embedding_dimension=6, windows=(3,), channels=5, dimension=4),
    SubwordSettings(dimension=4, ngram_bins=20),
]
SETTINGS = TrainingSettings()
KEYS = pa.array(["pay the bill", "settle the bill", "", "x y"] * 1500)

BOTH = pytest.mark.parametrize("shape", SHAPES, ids=["cnn", "subword"])


@BOTH
def test_weights_have_the_names_and_shapes_a_saved_model_has(shape):
    config = ModelConfig(
        encoder=kind_of(shape).name, shape=shape, words=3, hash_bins=4, training=SETTINGS.stored(), dataset_digest=""
    )
    weights = weights_of(network_of(VOCABULARY, shape, dropout=SETTINGS.dropout, seed=SETTINGS.seed).body)
    assert {name: weight.shape for name, weight in weights.items()} == weight_shapes(config)


@BOTH
def test_the_seed_alone_decides_the_first_weights(shape):
    state = torch.get_rng_state()
    first, again, other = (
        weights_of(network_of(VOCABULARY, shape, seed=seed).body)["embedding.weight"] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert torch.equal(torch.get_rng_state(), state)


@BOTH
def test_encoding_in_parts_is_encoding_at_once_without_dropout(shape):
    network = network_of(VOCABULARY, shape, dropout=0.5).train()
    inputs = network.read(KEYS)
    vectors = network.encode_all(inputs)
    assert vectors.shape == (len(KEYS), 4)
    with torch.no_grad():
        np.testing.assert_allclose(vectors, network(inputs).numpy(), atol=1e-6)
    np.testing.assert_allclose(vectors[:4], vectors[-4:], atol=1e-6)


@BOTH
def test_a_step_moves_every_weight_but_the_rows_that_the_batch_lacks(shape):
    network = network_of(VOCABULARY, shape, dropout=SETTINGS.dropout, seed=SETTINGS.seed)
    before = weights_of(network.body)
    optimizers = network.optimizers(learning_rate=0.1)
    network(network.read(pa.array(["pay"])))[:, 0].sum().backward()
    for optimizer in optimizers:
        optimizer.step()
    after = weights_of(network.body)
    moved = (after["embedding.weight"] != before["embedding.weight"]).any(axis=1)
    assert moved[0]
    assert not moved[1:7].any()  # rows of other words
    assert all((after[name] != before[name]).any() for name in before)
