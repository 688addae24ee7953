from __future__ import annotations

from model.encoders.registry import KINDS
from model.encoders.subword.settings import SubwordSettings
from model.losses.sdml import SDMLLoss
from model.training.presets import PRESETS
from model.training.settings import TrainingSettings


def test_every_encoder_has_a_preset_and_every_name_is_one():
    assert PRESETS.keys() == {"paper", "default", "static", "transformer"}
    assert {kind.preset: kind.name for kind in KINDS.values()} == {name: PRESETS[name].encoder for name in PRESETS}


def test_the_papers_preset_is_that_of_the_paper():
    encoder, training = PRESETS["paper"]
    assert (encoder, training) == ("cnn", TrainingSettings())
    assert (training.loss, training.batch_size, training.learning_rate) == (SDMLLoss(smoothing=0.3), 512, 1e-3)
    assert (training.pairs_per_cluster, training.linear_decay, training.dropout) == (0, False, 0)


def test_the_default_never_exceeds_70_million_numbers_and_150_megabytes():
    _, training = PRESETS["default"]
    shape = SubwordSettings()
    rows = training.vocabulary_size + training.hash_bins + shape.ngram_bins
    assert rows * shape.dimension <= 70e6
    assert rows * shape.dimension * 2 <= 150e6  # two bytes each
