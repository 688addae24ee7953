"""Target distribution over the second questions of a batch.

cluster ids -> same_cluster -> smoothed_target; logits, target -> divergence -> scalar
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import Tensor


def same_cluster(batch: Tensor, clusters: Tensor | None) -> Tensor:
    """Return (N, N), the pairs of a batch of N that are known to be of one cluster; each is of its own."""
    if clusters is None:
        return torch.eye(len(batch), dtype=torch.bool, device=batch.device)
    return clusters[:, None] == clusters[None, :]


def smoothed_target(known: Tensor, smoothing: float, *, over: str, mates: str) -> tuple[Tensor, Tensor]:
    """Return the target, (N, N) float64, rows sum to 1, and the columns that are left out of a row.

    Args:
        known: (N, N), columns known to be paraphrases of a row; the diagonal is.
        smoothing: probability mass taken off the paraphrase, in [0, 1).
        over: batch or others, see `model.losses.smoothed_targets.SmoothedTargetLoss`.
        mates: masked or positives, see there.
    """
    own = torch.eye(len(known), dtype=torch.bool, device=known.device)
    paraphrases = known if mates == "positives" else own
    excluded = known & ~paraphrases
    target = _shares(paraphrases) * (1 - smoothing)
    target = target + (smoothing / len(known) if over == "batch" else _shares(~paraphrases) * smoothing)
    target = target.masked_fill(excluded, 0)
    return target / target.sum(dim=1, keepdim=True), excluded


def divergence(logits: Tensor, target: Tensor, excluded: Tensor) -> Tensor:
    """Return the mean over rows of KL(target || softmax of the logits) without the excluded columns."""
    log_p = F.log_softmax(logits.masked_fill(excluded, -torch.inf), dim=1)
    log_p = log_p.masked_fill(excluded, 0)  # 0 * -inf is nan; an excluded column adds nothing
    return F.kl_div(log_p, target, reduction="batchmean")


def _shares(columns: Tensor) -> Tensor:
    """Return the share of each of a row's columns where they divide 1 evenly; (N, N) float64."""
    return columns.double() / columns.sum(dim=1, keepdim=True).clamp_min(1)
