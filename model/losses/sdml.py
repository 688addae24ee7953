"""Smoothed deep metric learning (SDML), Bonadiman et al. 2019, section 3.1.

anchors, positives, cluster ids -> SDMLLoss -> scalar
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.losses.interface import DistanceOption, Symmetric
from model.losses.smoothed_targets import SmoothedTargetLoss, Smoothing

if TYPE_CHECKING:
    from torch import Tensor


class SDMLLoss(SmoothedTargetLoss, frozen=True):
    """Pick each anchor's own paraphrase among all second questions of the batch, by distance (eq. 3 and 4).

    ``symmetric_kl`` is the Kullback-Leibler divergence of the two vectors' softmaxes, both ways and added. The authors'
    code, whose distance is the squared euclidean one, has no such distance; there KL compares prediction and target,
    as it does here with every distance.
    """

    name = "sdml"
    reference = """smoothed deep metric learning (Bonadiman, Kumar and Mittal 2019, "Large Scale Question Paraphrase
  Retrieval with Smoothed Deep Metric Learning")"""

    smoothing: Smoothing = 0.3
    symmetric: Symmetric = False
    distance: DistanceOption = "squared_euclidean"

    def similarities(self, anchors: Tensor, positives: Tensor) -> Tensor:
        """Return the negative distances."""
        from model.distances import pairwise

        return -pairwise(anchors, positives, self.distance)
