"""The triplet loss: a paraphrase must be nearer than a question of another cluster, by a margin.

anchors, positives, cluster ids -> TripletLoss -> scalar
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pydantic

from model.losses.interface import DistanceOption, Loss, Margin, Symmetric

if TYPE_CHECKING:
    from torch import Tensor


class TripletLoss(Loss, frozen=True):
    """``max(0, d(anchor, paraphrase) - d(anchor, negative) + margin)``, mean over anchors with a negative; else 0.

    The loss that SDML is compared with: Bonadiman et al. 2019, section 4.2; Schroff et al. 2015, section 3.1. A
    negative is the second question of another pair of the batch, never of one that is known to be of the anchor's
    cluster. The random one is that of the next such pair, the last being followed by the first: batches are in random
    order, so a training repeats itself without a random state of its own.
    """

    name = "triplet"
    reference = "the triplet loss (Schroff et al. 2015)"

    distance: DistanceOption = "squared_euclidean"
    margin: Margin = 0.5
    negatives: Literal["random", "hard"] = pydantic.Field(
        default="random", description="Random negatives of the batch, or hard: the nearest."
    )
    symmetric: Symmetric = False

    def batch_loss(self, anchors: Tensor, positives: Tensor, known: Tensor) -> Tensor:
        """Return the mean over anchors, of both sides if symmetric."""
        one_side = self._side(anchors, positives, ~known)
        return (one_side + self._side(positives, anchors, ~known)) / 2 if self.symmetric else one_side

    def _side(self, anchors: Tensor, positives: Tensor, others: Tensor) -> Tensor:
        """Return the loss of the anchors; ``others`` are the columns that may be negatives."""
        from model.distances import paired

        negative = positives[self._negatives(anchors.detach(), positives.detach(), others)]
        difference = paired(anchors, positives, self.distance) - paired(anchors, negative, self.distance)
        has_negative = others.any(dim=1)
        return (difference + self.margin).relu().where(has_negative, 0).sum() / has_negative.sum().clamp_min(1)

    def _negatives(self, anchors: Tensor, positives: Tensor, others: Tensor) -> Tensor:
        """Return the row of each anchor's negative on the other side; any row where it has none."""
        import torch

        from model.distances import pairwise

        if self.negatives == "hard":
            return pairwise(anchors, positives, self.distance).masked_fill(~others, torch.inf).argmin(dim=1)
        rows = torch.arange(len(others), device=others.device)
        steps = (rows[None, :] - rows[:, None]) % len(others)
        return steps.masked_fill(~others, len(others)).argmin(dim=1)
