"""Named settings: the paper's, and the product's own.

name -> PRESETS[name] -> Preset: encoder, training
"""

from __future__ import annotations

from typing import NamedTuple

from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.sdml import SDMLLoss
from model.training.settings import TrainingSettings


class Preset(NamedTuple):
    """An encoder at its own shape, and how it is trained."""

    encoder: str
    training: TrainingSettings


DEFAULT = TrainingSettings(
    epochs=4,
    batch_size=1024,
    learning_rate=1e-2,
    linear_decay=True,
    pairs_per_cluster=10,
    dropout=0.1,
    loss=MultipleNegativesRankingLoss(scale=30.0, smoothing=0.1),
    vocabulary_size=65_536,
    hash_bins=65_536,
)
"""Chosen on the validation split of Quora's questions (docs/log.md)."""

STATIC = DEFAULT.model_copy(
    update={
        "learning_rate": 2e-2,
        "loss": MultipleNegativesRankingLoss(scale=25.0, smoothing=0.1),
        "dropout": 0.25,
    }
)
"""From tokens that are embedded already; chosen as `DEFAULT` was."""

TRANSFORMER = TrainingSettings(
    epochs=1,
    batch_size=256,
    learning_rate=2e-5,
    linear_decay=True,
    pairs_per_cluster=10,
    loss=MultipleNegativesRankingLoss(scale=20.0, smoothing=0.0),
)
"""Usual values for pretrained models. Smoothing of .1 at 5e-5 made one worse (docs/log.md)."""

PRESETS: dict[str, Preset] = {
    "default": Preset("subword", DEFAULT),
    "static": Preset("static", STATIC),
    "transformer": Preset("transformer", TRANSFORMER),
    "paper": Preset("cnn", TrainingSettings(loss=SDMLLoss(smoothing=0.3))),
}
