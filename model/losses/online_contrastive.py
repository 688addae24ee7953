"""Online contrastive loss over the hard pairs of a batch: near non-paraphrases and distant paraphrases.

anchors, positives, cluster ids -> OnlineContrastiveLoss -> scalar
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.losses.interface import Loss, Margin

if TYPE_CHECKING:
    from torch import Tensor


class OnlineContrastiveLoss(Loss, frozen=True):
    """``d²`` of the hard positives and ``max(0, margin - d)²`` of the hard negatives, divided by N; d is 1 - cosine.

    The contrastive loss of Hadsell et al. 2006 on the hard pairs alone, as sentence-transformers' loss of this name. A
    positive is an anchor with a second question of its cluster, its own always; a negative is one with any other. A
    positive is hard if it is farther apart than the nearest negative, a negative if it is nearer than the farthest
    positive. Without a negative nothing is hard. There is no direction: swapped sides give the same. A vector of zeros
    is at distance 1 from all others, and no two vectors are farther apart than 2.
    """

    name = "online_contrastive"
    reference = "the contrastive loss (Hadsell et al. 2006) on the hard pairs of each batch"
    ignores_length = True

    margin: Margin = 0.5

    def batch_loss(self, anchors: Tensor, positives: Tensor, known: Tensor) -> Tensor:
        """Return the sum over the hard pairs, divided by N."""
        from torch import inf

        from model.distances import cosines

        distances = 1 - cosines(anchors, positives)
        nearest = distances.detach().masked_fill(known, inf).min()
        farthest = distances.detach().masked_fill(~known, -inf).max()
        pulled = distances.square().where(known & (distances > nearest), 0)
        pushed = (self.margin - distances).relu().square().where(~known & (distances < farthest), 0)
        return (pulled + pushed).sum() / len(anchors)
