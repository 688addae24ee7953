"""Losses that pick each anchor's paraphrase among the batch, with smoothed targets.

similarities of all pairs of a batch -> SmoothedTargetLoss -> scalar
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from model.losses.interface import Loss, Symmetric

if TYPE_CHECKING:
    from torch import Tensor

SmoothingOver = Literal["batch", "others"]
Mates = Literal["masked", "positives"]
Smoothing = Annotated[
    float, pydantic.Field(ge=0, lt=1, description="Share of the target spread over the batch, in [0, 1).")
]


class SmoothedTargetLoss(Loss, frozen=True):
    """Cross-entropy of the paraphrase among all second questions of a batch (Bonadiman et al. 2019, eq. 4).

    The target keeps ``1 - smoothing`` on the paraphrase; the rest goes evenly to all N columns, as in the paper, or to
    the columns that are no paraphrase, ``smoothing / (N - 1)`` each, as in the authors' code (``SDMLLoss`` of MXNet's
    gluon). Questions of the anchor's own cluster, its partner aside, are masked, that is left out of target and
    prediction, or are positives, which share the mass of the paraphrase. The minimum of the loss is 0.
    """

    smoothing: Smoothing
    smoothing_over: SmoothingOver = pydantic.Field(
        default="batch",
        description="Spread it over the batch, as in the paper, or over the others.",
    )
    mates: Mates = pydantic.Field(
        default="masked", description="Cluster mates in a batch: masked (left out), or positives."
    )
    symmetric: Symmetric

    @abc.abstractmethod
    def similarities(self, anchors: Tensor, positives: Tensor) -> Tensor:
        """Return the logit of every second question for every anchor, (N, N)."""

    def batch_loss(self, anchors: Tensor, positives: Tensor, known: Tensor) -> Tensor:
        """Return the mean over anchors of KL(target || softmax of the similarities)."""
        from model.losses.target_distribution import divergence, smoothed_target

        logits = self.similarities(anchors, positives)
        target, excluded = smoothed_target(known, self.smoothing, over=self.smoothing_over, mates=self.mates)
        one_side = divergence(logits, target.to(logits.dtype), excluded)
        if not self.symmetric:
            return one_side
        return (one_side + divergence(logits.T, target.to(logits.dtype), excluded)) / 2
