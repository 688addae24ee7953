from __future__ import annotations

import math

import pytest
import torch

from model.losses.online_contrastive import OnlineContrastiveLoss


def naive(a, b, clusters, *, margin):
    """The sum over hard positives and hard negatives with loops over Python floats."""
    n = len(a)
    positives, negatives = [], []
    for i in range(n):
        for j in range(n):
            x, y = a[i].tolist(), b[j].tolist()
            length = math.hypot(*x) * math.hypot(*y)
            away = 1 - (sum(p * q for p, q in zip(x, y, strict=True)) / length if length else 0)
            same = i == j or (clusters is not None and clusters[i] == clusters[j])
            (positives if same else negatives).append(away)
    nearest, farthest = min(negatives, default=math.inf), max(positives)
    pulled = sum(away**2 for away in positives if away > nearest)
    pushed = sum(max(0.0, margin - away) ** 2 for away in negatives if away < farthest)
    return (pulled + pushed) / n


@pytest.mark.parametrize("margin", [0.5, 1.5])
@pytest.mark.parametrize(
    ("n", "clusters"), [(2, None), (2, [4, 9]), (6, None), (6, [1, 2, 1, 3, 3, 1]), (3, [5, 5, 5])]
)
def test_loss_agrees_with_nested_loops(margin, n, clusters, batch):
    a, b = batch(n)
    a[0] = 0
    ours = OnlineContrastiveLoss(margin=margin)(a, b, None if clusters is None else torch.tensor(clusters))
    assert ours.item() == pytest.approx(naive(a, b, clusters, margin=margin), abs=1e-12)


def test_a_batch_worked_out_by_hand():
    a = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    b = torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    # distances [[0.4, 1], [0.2, 0]]: the positive at 0.4 is farther than the negative at 0.2, which is nearer than it;
    # the positive at 0 is nearer than any negative, the negative at 1 farther than any positive
    assert OnlineContrastiveLoss()(a, b).item() == pytest.approx((0.4**2 + (0.5 - 0.2) ** 2) / 2)
    assert OnlineContrastiveLoss(margin=0.1)(a, b).item() == pytest.approx(0.4**2 / 2)


def test_separated_pairs_have_no_loss():
    a = torch.eye(3)
    assert OnlineContrastiveLoss(margin=2.0)(a, a).item() == 0
