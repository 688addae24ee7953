"""The losses by name.

name -> LOSSES -> class of a loss, whose fields are its options
"""

from __future__ import annotations

from model.losses.interface import Loss
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.online_contrastive import OnlineContrastiveLoss
from model.losses.sdml import SDMLLoss
from model.losses.triplet import TripletLoss

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (SDMLLoss, MultipleNegativesRankingLoss, TripletLoss, OnlineContrastiveLoss)
}
