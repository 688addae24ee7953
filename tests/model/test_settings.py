from __future__ import annotations

import pydantic
import pytest

from model.settings import EncoderSettings, ModelConfig, TrainingSettings


def test_defaults_are_the_papers():
    shape, training = EncoderSettings(), TrainingSettings()
    assert (shape.embedding_dimension, shape.windows, shape.channels, shape.dimension) == (300, (5,), 300, 300)
    assert (training.batch_size, training.learning_rate, training.smoothing) == (512, 1e-3, 0.3)
    assert (training.vocabulary_size, training.hash_bins) == (50_000, 5_000)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch_size": 1},
        {"batch_size": 10**9},
        {"learning_rate": 0},
        {"learning_rate": float("nan")},
        {"smoothing": 1},
        {"smoothing": -0.1},
        {"distance": "cosine"},
        {"patience": 0},
        {"seed": -1},
        {"vocabulary_size": 0, "hash_bins": 0},
        {"epoch": 3},
    ],
)
def test_training_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        TrainingSettings(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"windows": ()}, {"windows": (0,)}, {"windows": (5, 65)}, {"dimension": 0}, {"channels": -1}]
)
def test_encoder_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        EncoderSettings(**wrong)


def test_a_configuration_survives_json():
    shape = EncoderSettings(windows=(3, 5))
    config = ModelConfig(shape=shape, words=3, hash_bins=1, training=TrainingSettings(seed=4), dataset_digest="d")
    assert ModelConfig.model_validate_json(config.model_dump_json()) == config
