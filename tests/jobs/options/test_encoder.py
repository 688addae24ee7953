from __future__ import annotations

import pytest

from jobs.options.encoder import EncoderChoice, LossChoice, PresetChoice, numbers, settings_of
from model.encoders.cnn.settings import CnnSettings
from model.encoders.kinds import KINDS
from model.encoders.subword.settings import SubwordSettings
from model.losses.registry import LOSSES
from model.losses.sdml import SDMLLoss
from model.losses.triplet import TripletLoss
from model.training.presets import PRESETS
from schemas.errors import UsageError


def test_the_choices_are_those_there_are():
    assert set(PresetChoice) == PRESETS.keys()
    assert set(EncoderChoice) == KINDS.keys()
    assert set(LossChoice) == LOSSES.keys()


@pytest.mark.parametrize(
    ("preset", "encoder", "of", "shape"),
    [
        (None, None, "default", SubwordSettings()),
        (None, "cnn", "paper", CnnSettings()),
        ("paper", None, "paper", CnnSettings()),
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
    given = {"epochs": 3, "linear_decay": False, "loss": SDMLLoss(smoothing=0.1)}
    assert training == PRESETS["default"].training.model_copy(update=given)


def test_numbers_are_read_or_refused():
    assert numbers("--ngrams", None) is None
    assert numbers("--ngrams", "3, 4") == (3, 4)
    with pytest.raises(UsageError, match="--ngrams 3-4"):
        numbers("--ngrams", "3-4")


def test_another_loss_keeps_the_options_of_the_preset_that_it_has():
    base = PRESETS["default"].training
    for name, loss in [("triplet", TripletLoss()), ("sdml", SDMLLoss(smoothing=0.1))]:
        _, training = settings_of("default", None, shape={}, training={"loss": name})
        assert training == base.model_copy(update={"loss": loss})


def test_an_option_of_another_loss_is_refused():
    with pytest.raises(UsageError, match="--scale is no option of --loss sdml"):
        settings_of("paper", None, shape={}, training={"scale": 3.0})
    with pytest.raises(UsageError, match=r"--margin 0\.0: Input should be greater than 0"):
        settings_of("paper", None, shape={}, training={"loss": "triplet", "margin": 0.0})
