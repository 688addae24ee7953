from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from model.losses.multiple_negatives import MultipleNegativesRankingLoss


def naive(a, b, clusters, *, scale, smoothing):
    """One direction with loops over Python floats."""
    asked, answers, n, total = a.tolist(), b.tolist(), len(a), 0.0
    for i in range(n):
        columns = [j for j in range(n) if j == i or clusters is None or clusters[i] != clusters[j]]
        logits = {j: scale * cosine(asked[i], answers[j]) for j in columns}
        top = max(logits.values())
        log_sum = top + math.log(sum(math.exp(logit - top) for logit in logits.values()))
        raw = {j: (1 - smoothing) * (j == i) + smoothing / n for j in columns}
        mass = sum(raw.values())
        total += sum(r / mass * (math.log(r / mass) - (logits[j] - log_sum)) for j, r in raw.items() if r)
    return total / n


def cosine(x, y):
    length = math.hypot(*x) * math.hypot(*y)
    return math.fsum(p * q for p, q in zip(x, y, strict=True)) / length if length else 0.0


@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize(
    ("n", "clusters"), [(2, None), (2, [4, 9]), (6, None), (6, [1, 2, 1, 3, 3, 1]), (3, [5, 5, 5])]
)
def test_loss_agrees_with_nested_loops(scale, smoothing, n, clusters, batch):
    a, b = batch(n)
    known = None if clusters is None else torch.tensor(clusters)
    sides = [naive(*sides, clusters, scale=scale, smoothing=smoothing) for sides in ((a, b), (b, a))]
    loss = MultipleNegativesRankingLoss(scale=scale, smoothing=smoothing)
    assert loss(a, b, known).item() == pytest.approx(sum(sides) / 2, abs=1e-12)
    one = MultipleNegativesRankingLoss(scale=scale, smoothing=smoothing, symmetric=False)
    assert one(a, b, known).item() == pytest.approx(sides[0], abs=1e-12)


def test_zeros_have_the_cosine_0(batch):
    a, b = batch(5)
    a[1], b[3] = 0, 0
    expected = (naive(a, b, None, scale=20, smoothing=0.1) + naive(b, a, None, scale=20, smoothing=0.1)) / 2
    assert MultipleNegativesRankingLoss()(a, b).item() == pytest.approx(expected, abs=1e-12)


def test_without_smoothing_it_is_the_mean_cross_entropy_of_both_sides(batch):
    a, b = batch(7)
    logits = 20 * nn.functional.cosine_similarity(a[:, None], b[None], dim=2)
    own = torch.arange(7)
    expected = (nn.functional.cross_entropy(logits, own) + nn.functional.cross_entropy(logits.T, own)) / 2
    torch.testing.assert_close(MultipleNegativesRankingLoss(smoothing=0)(a, b), expected)
