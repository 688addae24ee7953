"""The losses by name, one interface: embeddings of two sides and cluster ids in, a scalar out.

TrainingSettings -> loss_of -> loss(anchors, positives, clusters)
"""

from __future__ import annotations

from torch import nn

from model.multiple_negatives import MultipleNegativesRankingLoss
from model.sdml import SDMLLoss
from model.settings import TrainingSettings


def loss_of(settings: TrainingSettings) -> nn.Module:
    """Return the loss that the settings name."""
    if settings.loss == "multiple_negatives":
        return MultipleNegativesRankingLoss(scale=settings.scale, smoothing=settings.smoothing)
    return SDMLLoss(smoothing=settings.smoothing, distance=settings.distance)
