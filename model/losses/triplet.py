"""The triplet loss: a paraphrase is to be nearer than a question of another cluster, by a margin.

anchors, positives, cluster ids -> TripletLoss -> scalar
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from model.choices import Distance, Negatives
from model.distances import at_least_float32, check_distance, paired, pairwise
from model.losses.target_distribution import check_sides, same_cluster


class TripletLoss(nn.Module):
    """``max(0, d(anchor, paraphrase) - d(anchor, negative) + margin)``, the loss that SDML is compared with.

    Bonadiman et al. 2019, section 4.2; Schroff et al. 2015, section 3.1. A negative is the second question of another
    pair of the batch, never of one that is known to be of the anchor's cluster; an anchor without one adds nothing.
    Half precision is computed in float32.

    Args:
        distance: squared_euclidean, euclidean or symmetric_kl, see `model.losses.sdml.SDMLLoss`.
        margin: above 0.
        negatives: random: the next pair of the batch that may be one, the last being followed by the first; batches are
            in random order, and so a training repeats itself without a state of its own. hard: the nearest one.
        symmetric: let the second questions be anchors as well, and take the mean.

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar, mean over anchors with a negative; 0 if there is none.
    """

    def __init__(
        self,
        *,
        distance: Distance = "squared_euclidean",
        margin: float = 0.5,
        negatives: Negatives = "random",
        symmetric: bool = False,
    ) -> None:
        super().__init__()
        check_distance(distance)
        if not 0.0 < margin < float("inf"):
            raise ValueError(f"margin must be above 0 and finite, got {margin}")
        if negatives not in ("random", "hard"):
            raise ValueError(f"negatives must be random or hard, got {negatives}")
        self.distance, self.margin, self.negatives, self.symmetric = distance, margin, negatives, symmetric

    def forward(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch."""
        check_sides(anchors, positives)
        a, b = at_least_float32(anchors), at_least_float32(positives)
        others = ~same_cluster(a, clusters)
        return (self._side(a, b, others) + self._side(b, a, others)) / 2 if self.symmetric else self._side(a, b, others)

    def _side(self, anchors: Tensor, positives: Tensor, others: Tensor) -> Tensor:
        """Return the loss of the anchors; ``others`` are the columns that may be negatives."""
        negative = positives[self._negatives(anchors, positives, others)]
        difference = paired(anchors, positives, self.distance) - paired(anchors, negative, self.distance)
        some = others.any(dim=1)
        return F.relu(difference + self.margin).where(some, 0).sum() / some.sum().clamp_min(1)

    @torch.no_grad()
    def _negatives(self, anchors: Tensor, positives: Tensor, others: Tensor) -> Tensor:
        """Return which row of the other side is each anchor's negative; any one where it has none."""
        if self.negatives == "hard":
            away = pairwise(anchors, positives, self.distance)
            return away.masked_fill(~others, torch.inf).argmin(dim=1)
        rows = torch.arange(len(others), device=others.device)
        steps = (rows[None, :] - rows[:, None]) % len(others)
        return steps.masked_fill(~others, len(others)).argmin(dim=1)
