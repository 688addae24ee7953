"""Target distribution over the second questions of a batch.

cluster ids, logits -> SmoothedTargets.loss -> scalar
"""

from __future__ import annotations

import dataclasses

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from model.choices import Mates, SmoothingOver


@dataclasses.dataclass(frozen=True)
class SmoothedTargets:
    """The distribution over a batch's N second questions that every anchor learns (Bonadiman et al. 2019, eq. 4).

    Attributes:
        smoothing: probability mass taken off the paraphrase, in [0, 1); the paper's epsilon.
        over: where that mass goes. batch: evenly over all N columns, as in the paper. others: evenly over the columns
            that are no paraphrase, as in the authors' code (``SDMLLoss`` of MXNet's gluon), epsilon / (N - 1) each.
        mates: what columns of the anchor's own cluster are, its partner aside. masked: left out of target and
            prediction. positives: paraphrases like the partner, which share the mass that is not smoothed away.
    """

    smoothing: float
    over: SmoothingOver = "batch"
    mates: Mates = "masked"

    def __post_init__(self) -> None:
        if not 0.0 <= self.smoothing < 1.0:
            raise ValueError(f"smoothing must be in [0, 1), got {self.smoothing}")

    def loss(self, logits: Tensor, clusters: Tensor | None, *, symmetric: bool) -> Tensor:
        """Return the mean over anchors of KL(target || softmax of the logits); its minimum is 0.

        Args:
            logits: (N, N), how well second question j fits anchor i.
            clusters: (N,) cluster id of each pair, or None where unknown.
            symmetric: take the mean of this and of the second questions picking their anchors.
        """
        target, excluded = self.target(same_cluster(logits, clusters))
        target = target.to(logits.dtype)
        sides = [_divergence(side, target, excluded) for side in ((logits, logits.T) if symmetric else (logits,))]
        return (sides[0] + sides[1]) / 2 if symmetric else sides[0]

    def target(self, known: Tensor) -> tuple[Tensor, Tensor]:
        """Return the target, (N, N) float64, rows sum to 1, and which columns are left out of a row.

        Args:
            known: (N, N), which columns are known to be paraphrases of a row; the diagonal is.
        """
        own = torch.eye(len(known), dtype=torch.bool, device=known.device)
        paraphrases = known if self.mates == "positives" else own
        excluded = known & ~paraphrases
        target = _shares(paraphrases) * (1 - self.smoothing)
        if self.over == "batch":
            target = target + self.smoothing / len(known)
        else:
            target = target + _shares(~paraphrases) * self.smoothing
        target = target.masked_fill(excluded, 0)
        return target / target.sum(dim=1, keepdim=True), excluded


def check_sides(anchors: Tensor, positives: Tensor) -> None:
    """Raise ValueError unless both sides of a batch are (N, D) with N >= 2."""
    if anchors.shape != positives.shape or anchors.ndim != 2 or len(anchors) < 2:
        raise ValueError(f"need two (N >= 2, D) batches, got {tuple(anchors.shape)} and {tuple(positives.shape)}")


def same_cluster(batch: Tensor, clusters: Tensor | None) -> Tensor:
    """Return (N, N), which pairs of a batch of N are known to be of one cluster; each is of its own."""
    if clusters is None:
        return torch.eye(len(batch), dtype=torch.bool, device=batch.device)
    return clusters[:, None] == clusters[None, :]


def _shares(columns: Tensor) -> Tensor:
    """Return what each of a row's columns gets of 1, where they share it evenly; (N, N) float64."""
    return columns.double() / columns.sum(dim=1, keepdim=True).clamp_min(1)


def _divergence(logits: Tensor, target: Tensor, excluded: Tensor) -> Tensor:
    log_p = F.log_softmax(logits.masked_fill(excluded, -torch.inf), dim=1)
    log_p = log_p.masked_fill(excluded, 0)  # 0 * -inf is nan; an excluded column adds nothing
    return F.kl_div(log_p, target, reduction="batchmean")
