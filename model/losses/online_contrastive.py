"""The online contrastive loss: of a batch's pairs only those that are hard to tell apart count.

anchors, positives, cluster ids -> OnlineContrastiveLoss -> scalar
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from model.distances import at_least_float32, cosines
from model.losses.target_distribution import check_sides, same_cluster


class OnlineContrastiveLoss(nn.Module):
    """``d²`` of the hard positives and ``max(0, margin - d)²`` of the hard negatives, where d is 1 - cosine.

    The contrastive loss of Hadsell et al. 2006 on the hard pairs alone, as sentence-transformers' loss of this name. A
    positive is an anchor with a second question of its cluster, its own always; a negative is one with any other. A
    positive is hard if it is farther apart than the nearest negative, a negative if it is nearer than the farthest
    positive. Without a negative nothing is hard. There is no direction: swapped sides give the same. Half precision is
    computed in float32; a vector of zeros is at distance 1 from all others.

    Args:
        margin: negatives this far apart or farther cost nothing; above 0. No two vectors are farther apart than 2.

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar, the sum over the hard pairs, divided by N.
    """

    def __init__(self, *, margin: float = 0.5) -> None:
        super().__init__()
        if not 0.0 < margin < float("inf"):
            raise ValueError(f"margin must be above 0 and finite, got {margin}")
        self.margin = margin

    def forward(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch."""
        check_sides(anchors, positives)
        distances = 1 - cosines(at_least_float32(anchors), at_least_float32(positives))
        known = same_cluster(distances, clusters)
        nearest = distances.detach().masked_fill(known, torch.inf).min()
        farthest = distances.detach().masked_fill(~known, -torch.inf).max()
        pulled = distances.square().where(known & (distances > nearest), 0)
        pushed = F.relu(self.margin - distances).square().where(~known & (distances < farthest), 0)
        return (pulled + pushed).sum() / len(anchors)
