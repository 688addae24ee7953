from __future__ import annotations

import typing

import pytest

from jobs.options.encoder import EncoderChoice, LossChoice, PresetChoice, numbers, settings_of
from model.choices import Loss
from model.encoders.config import SHAPES, EncoderSettings, SubwordSettings, TrainingSettings
from model.training.presets import PRESETS
from schemas.errors import UsageError


def test_the_choices_are_those_there_are():
    assert set(PresetChoice) == PRESETS.keys()
    assert set(EncoderChoice) == SHAPES.keys()
    assert set(LossChoice) == set(typing.get_args(Loss))


@pytest.mark.parametrize(
    ("preset", "encoder", "of", "shape"),
    [
        (None, None, "default", SubwordSettings()),
        (None, "cnn", "paper", EncoderSettings()),
        ("paper", None, "paper", EncoderSettings()),
        ("default", "subword", "default", SubwordSettings()),
        ("paper", "subword", "paper", SubwordSettings()),
    ],
)
def test_without_options_it_is_the_preset(preset, encoder, of, shape):
    found = settings_of(preset, encoder, shape={"windows": None}, training={"seed": None})
    assert found == (shape, PRESETS[of].training)


def test_given_values_take_the_place_of_the_presets():
    shape, training = settings_of(
        "default", None, shape={"dimension": 7}, training={"epochs": 3, "linear_decay": False, "loss": LossChoice.SDML}
    )
    assert shape == SubwordSettings(dimension=7)
    given = {"epochs": 3, "linear_decay": False, "loss": "sdml"}
    scale = TrainingSettings().scale  # the other loss's own
    assert training == PRESETS["default"].training.model_copy(update={**given, "scale": scale})


def test_numbers_are_read_or_refused():
    assert numbers("--ngrams", None) is None
    assert numbers("--ngrams", "3, 4") == (3, 4)
    with pytest.raises(UsageError, match="--ngrams 3-4"):
        numbers("--ngrams", "3-4")


def test_what_another_loss_left_in_a_preset_is_no_longer_there():
    base = PRESETS["default"].training
    _, training = settings_of("default", None, shape={}, training={"loss": "triplet"})
    assert (base.smoothing, training.smoothing) == (0.1, TrainingSettings().smoothing)
    assert training.learning_rate == base.learning_rate
