from __future__ import annotations

import pydantic
import pytest

from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import ModelConfig
from model.encoders.registry import kind_of
from model.encoders.subword.settings import StaticSettings, SubwordSettings
from model.encoders.transformer.settings import TransformerSettings
from model.training.settings import TrainingSettings

STORED = TrainingSettings(seed=4).stored()


def test_defaults_are_the_papers():
    shape, training = CnnSettings(), TrainingSettings()
    assert (shape.embedding_dimension, shape.windows, shape.channels, shape.dimension) == (300, (5,), 300, 300)
    assert (training.batch_size, training.learning_rate, training.loss.smoothing) == (512, 1e-3, 0.3)
    assert (training.vocabulary_size, training.hash_bins) == (50_000, 5_000)


@pytest.mark.parametrize(
    "wrong", [{"windows": ()}, {"windows": (0,)}, {"windows": (5, 65)}, {"dimension": 0}, {"channels": -1}]
)
def test_encoder_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        CnnSettings(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"ngrams": ()}, {"ngrams": (0,)}, {"ngram_bins": 0}, {"ngram_bins": 2**28 + 1}, {"ngram_weight": 0}]
)
def test_subword_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        SubwordSettings(**wrong)


@pytest.mark.parametrize(
    ("encoder", "shape", "hash_bins"),
    [
        ("cnn", SubwordSettings(), 1),
        ("subword", CnnSettings(), 1),
        ("subword", {"windows": (3,)}, 1),
        ("subword", {}, 0),
        ("lstm", {}, 1),
    ],
)
def test_a_shape_of_another_encoder_is_refused(encoder, shape, hash_bins):
    with pytest.raises(pydantic.ValidationError):
        ModelConfig(
            encoder=encoder,
            shape=shape,
            words=3,
            hash_bins=hash_bins,
            training=TrainingSettings().stored(),
            dataset_digest="d",
        )


def test_a_shape_is_read_as_that_of_its_encoder():
    shapes = {
        "cnn": CnnSettings(),
        "subword": SubwordSettings(),
        "static": StaticSettings(tokens=2),
        "transformer": TransformerSettings(transformer_from="folder", dimension=1),
    }
    for name, shape in shapes.items():
        common = {"words": 3, "hash_bins": 1, "training": STORED, "dataset_digest": "d"}
        config = ModelConfig(encoder=name, shape={**shape.model_dump(), "dimension": 9}, **common)
        assert config.shape == shape.model_copy(update={"dimension": 9})
        assert kind_of(config.shape).name == name
        assert ModelConfig.model_validate_json(config.model_dump_json()) == config


def test_a_configuration_survives_json():
    shape = CnnSettings(windows=(3, 5))
    config = ModelConfig(shape=shape, words=3, hash_bins=1, training=STORED, dataset_digest="d")
    assert ModelConfig.model_validate_json(config.model_dump_json()) == config


def test_settings_are_stored_in_the_order_of_earlier_releases():
    assert [*CnnSettings.model_fields] == ["embedding_dimension", "windows", "channels", "dimension"]
    assert [*SubwordSettings.model_fields] == ["dimension", "ngrams", "ngram_bins", "ngram_weight", "bigram_bins"]
    assert [*TransformerSettings.model_fields][-1] == "dimension"
