"""The losses by name, one interface: embeddings of two sides and cluster ids in, a scalar out.

TrainingSettings -> loss_of -> loss(anchors, positives, clusters)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from model.choices import LOSS_OPTIONS
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.online_contrastive import OnlineContrastiveLoss
from model.losses.sdml import SDMLLoss
from model.losses.triplet import TripletLoss

if TYPE_CHECKING:
    from model.encoders.config import TrainingSettings

LOSSES: dict[str, type[nn.Module]] = {
    "sdml": SDMLLoss,
    "multiple_negatives": MultipleNegativesRankingLoss,
    "triplet": TripletLoss,
    "online_contrastive": OnlineContrastiveLoss,
}
"""The class of each loss; its arguments are those of `model.choices.LOSS_OPTIONS`."""


def loss_of(settings: TrainingSettings) -> nn.Module:
    """Return the loss that the settings name; what is None in them is as the loss has it."""
    given = {name: getattr(settings, name) for name in LOSS_OPTIONS[settings.loss]}
    return LOSSES[settings.loss](**{name: value for name, value in given.items() if value is not None})
