"""Multiple-negatives ranking: every other question of a batch is a wrong answer (Henderson et al. 2017, section 4.4).

anchors, positives, cluster ids -> MultipleNegativesRankingLoss -> scalar
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pydantic

from model.losses.interface import Symmetric
from model.losses.smoothed_targets import SmoothedTargetLoss, Smoothing

if TYPE_CHECKING:
    from torch import Tensor


class MultipleNegativesRankingLoss(SmoothedTargetLoss, frozen=True):
    """Pick each question's own paraphrase among the other side of the batch, by cosine, from both sides.

    A vector of zeros has the cosine 0 to all others.
    """

    name = "multiple_negatives"
    reference = "multiple-negatives ranking (Henderson et al. 2017)"
    ignores_length = True

    scale: float = pydantic.Field(default=20.0, gt=0, allow_inf_nan=False, description="Factor of the cosine.")
    smoothing: Smoothing = 0.1
    symmetric: Symmetric = True

    def similarities(self, anchors: Tensor, positives: Tensor) -> Tensor:
        """Return the cosines times ``scale``."""
        from model.distances import unit

        return self.scale * unit(anchors) @ unit(positives).T
