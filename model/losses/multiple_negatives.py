"""Multiple-negatives ranking: every other question of a batch is a wrong answer (Henderson et al. 2017, section 4.4).

anchors, positives, cluster ids -> MultipleNegativesRankingLoss -> scalar
"""

from __future__ import annotations

from torch import Tensor, nn

from model.choices import Mates, SmoothingOver
from model.distances import at_least_float32, unit
from model.losses.target_distribution import SmoothedTargets, check_sides


class MultipleNegativesRankingLoss(nn.Module):
    """Pick each question's own paraphrase among the other side of the batch, from both sides.

    The similarity is the cosine times ``scale``. As in `model.losses.sdml.SDMLLoss`, the target keeps
    ``1 - smoothing`` on the paraphrase and spreads the rest evenly, and columns known to be paraphrases are left out of
    both sides. Half precision is computed in float32. A vector of zeros has the cosine 0 to all others.

    Args:
        scale: what the cosine is multiplied by, above 0.
        smoothing: probability mass taken off the paraphrase, in [0, 1).
        smoothing_over: batch or others, see `model.losses.target_distribution.SmoothedTargets`.
        mates: masked or positives, see there.
        symmetric: False: only the anchors pick.

    Shape:
        anchors, positives: (N, D), row i of one paraphrases row i of the other; N >= 2.
        clusters: (N,) cluster id of each pair, or None where unknown.
        output: scalar, mean over both sides' questions of KL(target || prediction); its minimum is 0.
    """

    def __init__(
        self,
        *,
        scale: float = 20.0,
        smoothing: float = 0.1,
        smoothing_over: SmoothingOver = "batch",
        mates: Mates = "masked",
        symmetric: bool = True,
    ) -> None:
        super().__init__()
        if not 0.0 < scale < float("inf"):
            raise ValueError(f"scale must be above 0 and finite, got {scale}")
        self.targets = SmoothedTargets(smoothing, smoothing_over, mates)
        self.scale = scale
        self.symmetric = symmetric

    def forward(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None = None) -> Tensor:
        """Return the loss of a batch."""
        check_sides(anchors, positives)
        logits = self.scale * unit(at_least_float32(anchors)) @ unit(at_least_float32(positives)).T
        return self.targets.loss(logits, clusters, symmetric=self.symmetric)
