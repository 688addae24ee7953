"""The static encoder from tokens to a saved model and back: training and inference agree."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.config import ModelConfig
from model.encoders.loading import encoder_of
from model.encoders.network import weights_of
from model.encoders.new_network import network_of
from model.encoders.saved_model import ModelParts, weight_shapes
from model.encoders.subword.pretrained_tokens import read_static
from model.encoders.subword.settings import StaticSettings
from model.text.vocabulary import Vocabulary
from model.training.settings import TrainingSettings
from schemas.artifacts.manifest import Manifest
from schemas.errors import QprError

VOCABULARY = Vocabulary(("pay", "the", "bill"), hash_bins=4)
KEYS = pa.array(["pay the bill", "", "x y", "bill bill"])


@pytest.fixture
def shape(tokens):
    return StaticSettings(**read_static(str(tokens)).settings(str(tokens)), ngram_bins=20)


def config_of(shape):
    return ModelConfig(
        encoder="static", shape=shape, words=3, hash_bins=4, training=TrainingSettings().stored(), dataset_digest=""
    )


def test_it_begins_as_the_sum_of_its_tokens_at_length_one(shape, tokens):
    network = network_of(VOCABULARY, shape)
    vectors = network.encode_all(network.read(KEYS))
    rows = np.arange(12.0).reshape(4, 3)
    unknown = rows[0]  # of: the, x, y
    sums = [rows[1] + unknown + rows[2] + rows[3], np.zeros(3), unknown * 2, 2 * (rows[2] + rows[3])]
    expected = [total / max(np.linalg.norm(total), 1e-9) for total in sums]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_weights_have_the_names_and_shapes_a_saved_model_has(shape):
    weights = weights_of(network_of(VOCABULARY, shape).body)
    assert {name: weight.shape for name, weight in weights.items()} == weight_shapes(config_of(shape))


def test_words_ngrams_and_tokens_all_learn(shape):
    network = network_of(VOCABULARY, shape)
    before = weights_of(network.body)["embedding.weight"]
    optimizers = network.optimizers(learning_rate=0.1)
    (network(network.read(KEYS)) * torch.tensor([1.0, 2.0, -3.0])).sum().backward()
    for optimizer in optimizers:
        optimizer.step()
    moved = (weights_of(network.body)["embedding.weight"] != before).any(axis=1)
    assert moved[:3].all()  # the words
    assert moved[7:27].any()  # some n-grams
    assert moved[27:].all()  # all tokens occur


def test_numpy_gives_the_same_vectors(shape, tokens):
    network = network_of(VOCABULARY, shape)
    with torch.no_grad():
        network.body.embedding.weight.normal_(generator=torch.Generator().manual_seed(1))
    files = {"tokenizer.json": read_static(str(tokens)).pieces.content}
    manifest = Manifest.model_construct(files=[])
    parts = ModelParts(manifest, config_of(shape), VOCABULARY, weights_of(network.body), files)
    encoder = encoder_of(parts)
    np.testing.assert_allclose(encoder.encode(KEYS), network.encode_all(network.read(KEYS)), atol=1e-6)


def test_a_shorter_vector_begins_with_the_first_numbers(shape):
    short = network_of(VOCABULARY, shape.model_copy(update={"dimension": 2}))
    rows = weights_of(short.body)["embedding.weight"]
    np.testing.assert_allclose(rows[-4:] * shape.ngram_weight, np.arange(12).reshape(4, 3)[:, :2])
    assert not rows[:-4].any()


def test_tokens_that_changed_since_are_refused(shape):
    with pytest.raises(QprError, match="has changed"):
        network_of(VOCABULARY, shape.model_copy(update={"static_digest": "0" * 64}))
