from __future__ import annotations

import re
from pathlib import Path

import pydantic
import pytest

from jobs.options.encoder_training import DistillationTraining, EncoderTraining
from model.encoders.cnn.settings import CnnSettings
from model.encoders.registry import KINDS
from model.encoders.subword.settings import SubwordSettings
from model.losses.registry import LOSSES
from model.losses.sdml import SDMLLoss
from model.losses.triplet import TripletLoss
from model.training.presets import PRESETS
from model.training.settings import TrainingSettings
from schemas.errors import UsageError

PAGE = Path(__file__).parents[3] / "docs" / "training.md"


def described(settings=EncoderTraining):
    return {option.path[-1]: option for option in settings.described()}


def test_every_setting_is_an_option_unless_the_kind_fills_it_in():
    encoders = {name for kind in KINDS.values() for name in kind.settings.model_fields.keys() - kind.derived}
    losses = {name for loss in LOSSES.values() for name in loss.model_fields}
    expected = {"preset", "encoder"} | encoders | losses | TrainingSettings.model_fields.keys()
    assert described().keys() == expected
    assert described(DistillationTraining).keys() < expected - losses


@pytest.mark.parametrize(
    ("option", "owners"),
    [
        ("margin", "(triplet, online_contrastive)."),
        ("dimension", "(subword, static, cnn)."),
        ("dropout", "(subword, static)."),
        ("epochs", "train pairs."),
    ],
)
def test_the_help_names_the_owners_of_an_option_that_is_not_of_all(option, owners):
    assert described()[option].field.description.endswith(owners)


@pytest.mark.parametrize(
    ("option", "default"), [("margin", 0.5), ("smoothing", None), ("scale", None), ("seed", 0), ("epochs", None)]
)
def test_the_help_shows_a_default_that_presets_and_owners_share(option, default):
    assert described()[option].default == default


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
    given = {name: value for name, value in {"preset": preset, "encoder": encoder}.items() if value}
    assert EncoderTraining.of_values(given) == EncoderTraining(preset, shape, PRESETS[of].training)


def test_given_values_take_the_place_of_the_presets():
    found = EncoderTraining.of_values({"dimension": 7, "epochs": 3, "linear_decay": False, "loss": "sdml"})
    assert found.shape == SubwordSettings(dimension=7)
    given = {"epochs": 3, "linear_decay": False, "loss": SDMLLoss(smoothing=0.1)}
    assert found.training == PRESETS["default"].training.model_copy(update=given)


def test_another_loss_keeps_the_options_of_the_preset_that_it_has():
    base = PRESETS["default"].training
    for name, loss in [("triplet", TripletLoss()), ("sdml", SDMLLoss(smoothing=0.1))]:
        assert EncoderTraining.of_values({"loss": name}).training == base.model_copy(update={"loss": loss})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "paper", "scale": 3.0}, "--scale is no option of --loss sdml. Leave it out"),
        ({"windows": ["5"]}, "--windows is no option of --encoder subword. Leave it out"),
        ({"encoder": "cnn", "dropout": 0.1}, "--dropout is no option of --encoder cnn. Leave it out"),
    ],
)
def test_an_option_of_another_loss_or_encoder_is_refused(given, message):
    with pytest.raises(UsageError, match=message):
        EncoderTraining.of_values(given)


def test_a_value_out_of_bounds_is_refused():
    with pytest.raises(pydantic.ValidationError, match="greater than 0"):
        EncoderTraining.of_values({"loss": "triplet", "margin": 0.0})


def test_distillation_has_values_of_its_own_unless_they_are_given():
    taught = KINDS["subword"].taught
    training = DistillationTraining.of_values({"epochs": 9}).training
    assert (training.epochs, training.learning_rate) == (9, taught["learning_rate"])
    assert DistillationTraining.of_values({"encoder": "cnn"}).training == PRESETS["paper"].training


def shown(name, settings=EncoderTraining):
    return described(settings)[name].shown.default


def test_the_help_shows_the_value_of_each_preset():
    assert (shown("preset"), shown("encoder")) == ("default, or by --encoder", "subword, or by --preset")
    assert shown("epochs") == "4; transformer 1; paper 10"
    assert shown("dropout") == "0.1; static 0.25"  # no option of the other two encoders
    assert shown("linear_decay") == "linear-decay; paper early-stopping"
    assert shown("dimension") == "256; cnn 300"
    assert shown("symmetric") == "symmetric; sdml, triplet one-sided"
    assert shown("scale") == "30.0; static 25.0; transformer, paper 20.0"


def test_the_help_shows_the_values_of_distillation():
    taught = KINDS["subword"].taught
    assert shown("epochs", DistillationTraining) == f"{taught['epochs']}; transformer 1; paper 10"
    assert described(DistillationTraining)["dropout"].default == taught["dropout"]


@pytest.mark.parametrize("settings", [EncoderTraining, DistillationTraining])
def test_the_help_shows_some_default_of_every_option(settings):
    without = {
        name for name, option in described(settings).items() if option.default is None and option.shown.default is None
    }
    assert without == {"transformer_from"}  # a folder that the encoder requires


def test_the_table_of_the_page_has_the_values_of_the_presets():
    used = {
        name: {
            option: value
            for option, value in {"encoder": preset.encoder, **preset.training.flat()}.items()
            if option not in KINDS[preset.encoder].unused
        }
        for name, preset in PRESETS.items()
    }
    options = dict.fromkeys(option for values in used.values() for option in values)
    words = {True: "yes", False: "no"}
    expected = {}
    for option in options:
        values = [values.get(option, "–") for values in used.values()]
        if len({value for value in values if value != "–"}) > 1:
            cells = [words[value] if isinstance(value, bool) else str(value) for value in values]
            expected[f"`--{option.replace('_', '-')}`"] = cells
    header, _, *lines = re.findall(r"^\|.*\|$", PAGE.read_text().split("\n## ")[2], re.MULTILINE)
    assert header == "| option | " + " | ".join(f"`{name}`" for name in PRESETS) + " |"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert {option: cells for option, *cells in rows} == expected
