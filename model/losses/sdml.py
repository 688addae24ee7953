"""Smoothed deep metric learning (SDML), Bonadiman et al. 2019, section 3.1.

anchors, positives, cluster ids -> SDMLLoss -> scalar
"""

from __future__ import annotations

from torch import Tensor, nn

from model.choices import Distance, Mates, SmoothingOver
from model.distances import at_least_float32, check_distance, pairwise
from model.losses.target_distribution import SmoothedTargets, check_sides


class SDMLLoss(nn.Module):
    """Pick each anchor's own paraphrase among all second questions of the batch.

    The similarity is the negative distance (eq. 3). The target keeps ``1 - smoothing`` on the paraphrase and spreads
    the rest evenly over all N columns (eq. 4), so that a paraphrase nobody marked is not pushed infinitely far. Columns
    known to be paraphrases of the anchor are left out of both sides. Half precision is computed in float32.

    Args:
        smoothing: probability mass taken off the paraphrase, in [0, 1); the paper's epsilon.
        distance: squared_euclidean, as in the authors' code, euclidean, or symmetric_kl: the Kullback-Leibler
            divergence of the two vectors' softmaxes, both ways and added. The authors' code has no such distance; there
            KL compares prediction and target, as it does here whatever the distance.
        smoothing_over: batch or others, see `model.losses.target_distribution.SmoothedTargets`.
        mates: masked or positives, see there.
        symmetric: let the second questions pick their anchors as well, and take the mean.

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar, mean over anchors of KL(target || prediction); its minimum is 0.
    """

    def __init__(
        self,
        *,
        smoothing: float = 0.3,
        distance: Distance = "squared_euclidean",
        smoothing_over: SmoothingOver = "batch",
        mates: Mates = "masked",
        symmetric: bool = False,
    ) -> None:
        super().__init__()
        check_distance(distance)
        self.targets = SmoothedTargets(smoothing, smoothing_over, mates)
        self.distance = distance
        self.symmetric = symmetric

    def forward(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch."""
        check_sides(anchors, positives)
        distances = pairwise(at_least_float32(anchors), at_least_float32(positives), self.distance)
        return self.targets.loss(-distances, clusters, symmetric=self.symmetric)
