"""Smoothed deep metric learning (SDML), Bonadiman et al. 2019, section 3.1.

anchors, positives, cluster ids -> SDMLLoss -> scalar
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from model.settings import Distance


class SDMLLoss(nn.Module):
    """Pick each anchor's own paraphrase among all second questions of the batch.

    The similarity is the negative distance (eq. 3). The target keeps ``1 - smoothing`` on the paraphrase and spreads
    the rest evenly over all N columns (eq. 4), so that a paraphrase nobody marked is not pushed infinitely far. Columns
    known to be paraphrases of the anchor are left out of both sides. Half precision is computed in float32.

    Args:
        smoothing: probability mass taken off the paraphrase, in [0, 1); the paper's epsilon.
        distance: squared_euclidean, as in the paper's code, or euclidean.

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar, mean over anchors of KL(target || prediction); its minimum is 0.
    """

    def __init__(self, *, smoothing: float = 0.3, distance: Distance = "squared_euclidean") -> None:
        super().__init__()
        if not 0.0 <= smoothing < 1.0:
            raise ValueError(f"smoothing must be in [0, 1), got {smoothing}")
        if distance not in ("squared_euclidean", "euclidean"):
            raise ValueError(f"distance must be squared_euclidean or euclidean, got {distance}")
        self.smoothing = smoothing
        self.distance = distance

    def forward(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch."""
        check_sides(anchors, positives)
        distances = squared_distances(at_least_float32(anchors), at_least_float32(positives))
        if self.distance == "euclidean":
            distances = safe_sqrt(distances)
        own = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
        known = own if clusters is None else clusters[:, None] == clusters[None, :]
        excluded = known & ~own  # paraphrases of the anchor that are not its partner
        target = smoothed_target(own, excluded, smoothing=self.smoothing).to(distances.dtype)
        log_p = F.log_softmax((-distances).masked_fill(excluded, -torch.inf), dim=1)
        log_p = log_p.masked_fill(excluded, 0)  # 0 * -inf is nan; an excluded column adds nothing
        return F.kl_div(log_p, target, reduction="batchmean")


def check_sides(anchors: Tensor, positives: Tensor) -> None:
    """Raise ValueError unless both sides of a batch are (N, D) with N >= 2."""
    if anchors.shape != positives.shape or anchors.ndim != 2 or len(anchors) < 2:
        raise ValueError(f"need two (N >= 2, D) batches, got {tuple(anchors.shape)} and {tuple(positives.shape)}")


def smoothed_target(own: Tensor, excluded: Tensor, *, smoothing: float) -> Tensor:
    """Return eq. 4's target, (N, N) float64, its mass spread anew over the columns that are not excluded."""
    n = len(own)
    target = own.double() * (1 - smoothing) + smoothing / n
    target = target.masked_fill(excluded, 0)
    return target / target.sum(dim=1, keepdim=True)


def squared_distances(a: Tensor, b: Tensor) -> Tensor:
    """``||a_i - b_j||^2`` for all pairs, shape (len(a), len(b)), in O(len(a) * len(b)) memory; never below 0."""
    return (a.square().sum(1)[:, None] + b.square().sum(1)[None, :] - 2 * a @ b.T).clamp_min(0)


def safe_sqrt(squares: Tensor) -> Tensor:
    """Return the square roots; where the square is 0 the gradient is 0 too, not infinite."""
    positive = squares > 0
    return torch.where(positive, squares, 1).sqrt().where(positive, 0)


def at_least_float32(vectors: Tensor) -> Tensor:
    """Return bfloat16 and float16 as float32, anything else as it is."""
    return vectors.float() if vectors.dtype in (torch.bfloat16, torch.float16) else vectors
