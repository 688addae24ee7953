"""Multiple-negatives ranking: every other question of a batch is a wrong answer (Henderson et al. 2017, section 4.4).

anchors, positives, cluster ids -> MultipleNegativesRankingLoss -> scalar
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from model.sdml import at_least_float32, check_sides, smoothed_target


class MultipleNegativesRankingLoss(nn.Module):
    """Pick each question's own paraphrase among the other side of the batch, from both sides.

    The similarity is the cosine times ``scale``. As in `model.sdml.SDMLLoss`, the target keeps ``1 - smoothing`` on the
    paraphrase and spreads the rest evenly, and columns known to be paraphrases are left out of both sides. Half
    precision is computed in float32. A vector of zeros has the cosine 0 to all others.

    Args:
        scale: what the cosine is multiplied by, above 0.
        smoothing: probability mass taken off the paraphrase, in [0, 1).

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar, mean over both sides' questions of KL(target || prediction); its minimum is 0.
    """

    def __init__(self, *, scale: float = 20.0, smoothing: float = 0.1) -> None:
        super().__init__()
        if not 0.0 < scale < float("inf"):
            raise ValueError(f"scale must be above 0 and finite, got {scale}")
        if not 0.0 <= smoothing < 1.0:
            raise ValueError(f"smoothing must be in [0, 1), got {smoothing}")
        self.scale = scale
        self.smoothing = smoothing

    def forward(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch."""
        check_sides(anchors, positives)
        logits = self.scale * unit(at_least_float32(anchors)) @ unit(at_least_float32(positives)).T
        own = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
        known = own if clusters is None else clusters[:, None] == clusters[None, :]
        excluded = known & ~own  # the same for both sides: a cluster is the pair's
        target = smoothed_target(own, excluded, smoothing=self.smoothing).to(logits.dtype)
        sides = [_divergence(side, target, excluded) for side in (logits, logits.T)]
        return (sides[0] + sides[1]) / 2


def unit(vectors: Tensor) -> Tensor:
    """Return the rows at length 1, zeros as they are; rows too short or long to be squared are scaled first."""
    largest = vectors.detach().abs().amax(dim=1, keepdim=True)
    return F.normalize(vectors / torch.where(largest > 0, largest, 1), dim=1)


def _divergence(logits: Tensor, target: Tensor, excluded: Tensor) -> Tensor:
    log_p = F.log_softmax(logits.masked_fill(excluded, -torch.inf), dim=1)
    log_p = log_p.masked_fill(excluded, 0)  # 0 * -inf is nan; an excluded column adds nothing
    return F.kl_div(log_p, target, reduction="batchmean")
