from __future__ import annotations

import json

import pydantic
import pytest

from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.registry import LOSSES
from model.losses.sdml import SDMLLoss
from model.losses.triplet import TripletLoss
from model.training.presets import DEFAULT
from model.training.settings import TrainingSettings


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch_size": 1},
        {"batch_size": 10**9},
        {"learning_rate": 0},
        {"learning_rate": float("nan")},
        {"patience": 0},
        {"seed": -1},
        {"vocabulary_size": 0, "hash_bins": 0},
        {"dropout": 1},
        {"pairs_per_cluster": -1},
        {"epoch": 3},
        {"smoothing": 0.1},
        {"loss": "cosine"},
        {"loss": {"smoothing": 0.1}},
        {"loss": {"name": "sdml", "smoothing": 1}},
        {"loss": {"name": "sdml", "margin": 0.5}},
        {"loss": {"name": "triplet", "negatives": "soft"}},
    ],
)
def test_training_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        TrainingSettings(**wrong)


@pytest.mark.parametrize("loss", [*(kind() for kind in LOSSES.values()), TripletLoss(margin=3, negatives="hard")])
def test_settings_survive_json_with_the_options_of_their_loss(loss):
    settings = TrainingSettings(epochs=3, loss=loss)
    assert TrainingSettings.model_validate_json(settings.model_dump_json()) == settings


def test_options_are_listed_flat_with_those_of_the_loss_alone():
    flat = TrainingSettings(loss=TripletLoss(margin=2.0)).flat()
    assert (flat["loss"], flat["margin"], flat["epochs"]) == ("triplet", 2.0, 10)
    assert "smoothing" not in flat


def test_the_stored_form_has_the_bytes_of_earlier_releases():
    assert json.dumps(DEFAULT.stored()) == (
        '{"epochs": 4, "batch_size": 1024, "precision": "float32", "chunk_size": 0, "learning_rate": 0.01, '
        '"linear_decay": true, "pairs_per_cluster": 10, "unique_clusters": false, "dropout": 0.1, '
        '"loss": "multiple_negatives", "scale": 30.0, "smoothing": 0.1, "smoothing_over": "batch", "mates": "masked", '
        '"symmetric": null, "margin": 0.5, "negatives": "random", "distance": "squared_euclidean", "patience": 2, '
        '"vocabulary_size": 65536, "hash_bins": 65536, "seed": 0}'
    )
    assert TrainingSettings(loss=MultipleNegativesRankingLoss(symmetric=False)).stored()["symmetric"] is False
    assert TrainingSettings(loss=SDMLLoss(distance="euclidean")).stored()["distance"] == "euclidean"
