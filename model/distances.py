"""Differentiable distances between vectors in O(N² + ND) memory.

vectors of two sides, name of a distance -> pairwise or paired -> distances
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import Tensor

from model.choices import Distance


def pairwise(a: Tensor, b: Tensor, distance: Distance) -> Tensor:
    """Return the distance of every row of ``a`` to every row of ``b``, (len(a), len(b))."""
    return _PAIRWISE[distance](a, b)


def paired(a: Tensor, b: Tensor, distance: Distance) -> Tensor:
    """Return the distance of each row of ``a`` to the row of ``b`` in the same place, (len(a),)."""
    return _PAIRED[distance](a, b)


def squared_distances(a: Tensor, b: Tensor) -> Tensor:
    """``||a_i - b_j||^2`` for all pairs, shape (len(a), len(b)), in O(len(a) * len(b)) memory; never below 0.

    Rows in the same place are subtracted. In training they are the two questions of a pair, which come near each other.
    Without the subtraction, rounding of the squares hides the distance of near and long vectors, and the gradient of
    its root.
    """
    squares = a.square().sum(1)[:, None] + b.square().sum(1)[None, :] - 2 * a @ b.T
    places = min(len(a), len(b))
    return squares.diagonal_scatter(_paired_squares(a[:places], b[:places])).clamp_min(0)


def symmetric_kl(a: Tensor, b: Tensor) -> Tensor:
    """``KL(p_i || q_j) + KL(q_j || p_i)`` of the softmaxes p, q of all pairs of rows; never below 0."""
    log_p, log_q = F.log_softmax(a, dim=1), F.log_softmax(b, dim=1)
    p, q = log_p.exp(), log_q.exp()
    negative_entropies = (p * log_p).sum(1)[:, None] + (q * log_q).sum(1)[None, :]
    return (negative_entropies - p @ log_q.T - log_p @ q.T).clamp_min(0)


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """Return the cosine of every row of ``a`` and every row of ``b``; with a vector of zeros it is 0."""
    return unit(a) @ unit(b).T


def unit(vectors: Tensor) -> Tensor:
    """Return the rows at length 1, rows of zeros as they are and with gradient 0.

    Rows too short or too long to be squared are scaled first.
    """
    largest = vectors.detach().abs().amax(dim=1, keepdim=True)
    scaled = vectors / torch.where(largest > 0, largest, 1)
    return F.normalize(torch.where(largest > 0, scaled, 0), dim=1)  # at 0 its gradient is 1e12 times too large


def safe_sqrt(squares: Tensor) -> Tensor:
    """Return the square roots; where the square is 0 the gradient is 0 too, not infinite."""
    positive = squares > 0
    return torch.where(positive, squares, 1).sqrt().where(positive, 0)


def at_least_float32(vectors: Tensor) -> Tensor:
    """Return bfloat16 and float16 as float32, anything else as it is."""
    return vectors.float() if vectors.dtype in (torch.bfloat16, torch.float16) else vectors


def _paired_squares(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).square().sum(1)


def _paired_kl(a: Tensor, b: Tensor) -> Tensor:
    log_p, log_q = F.log_softmax(a, dim=1), F.log_softmax(b, dim=1)
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(1)


_PAIRWISE: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "squared_euclidean": squared_distances,
    "euclidean": lambda a, b: safe_sqrt(squared_distances(a, b)),
    "symmetric_kl": symmetric_kl,
}

_PAIRED: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "squared_euclidean": _paired_squares,
    "euclidean": lambda a, b: safe_sqrt(_paired_squares(a, b)),
    "symmetric_kl": _paired_kl,
}
