from __future__ import annotations

import pytest
import torch
from torch import nn

from model.distances import pairwise
from model.losses.triplet import TripletLoss


def naive(a, b, clusters, *, distance, margin, negatives):
    """Each anchor, its second question and its negative, one after the other."""
    n, away, costs = len(a), pairwise(a, b, distance).tolist(), []
    for i in range(n):
        after = [(i + step) % n for step in range(1, n)]
        allowed = [j for j in after if clusters is None or clusters[j] != clusters[i]]
        if allowed:
            j = allowed[0] if negatives == "random" else min(allowed, key=lambda j: away[i][j])
            costs.append(max(0.0, away[i][i] - away[i][j] + margin))
    return sum(costs) / len(costs) if costs else 0.0


@pytest.mark.parametrize("distance", ["squared_euclidean", "euclidean", "symmetric_kl"])
@pytest.mark.parametrize("negatives", ["random", "hard"])
@pytest.mark.parametrize("margin", [0.5, 3.0])
@pytest.mark.parametrize(
    ("n", "clusters"), [(2, None), (2, [4, 9]), (6, None), (6, [1, 2, 1, 3, 3, 1]), (5, [5, 5, 5, 5, 7]), (3, [5] * 3)]
)
def test_loss_agrees_with_nested_loops(distance, negatives, margin, n, clusters, batch):
    a, b = batch(n)
    known = None if clusters is None else torch.tensor(clusters)
    options = {"distance": distance, "margin": margin, "negatives": negatives}
    sides = [naive(*sides, clusters, **options) for sides in ((a, b), (b, a))]
    assert TripletLoss(**options)(a, b, known).item() == pytest.approx(sides[0], abs=1e-12)
    both = TripletLoss(symmetric=True, **options)(a, b, known)
    assert both.item() == pytest.approx(sum(sides) / 2, abs=1e-12)


@pytest.mark.parametrize("distance", ["squared_euclidean", "euclidean"])
def test_without_clusters_it_is_pytorchs_with_the_next_row_as_negative(distance, batch):
    a, b = batch(7)
    function = (lambda x, y: (x - y).square().sum(1)) if distance == "squared_euclidean" else nn.PairwiseDistance(eps=0)
    expected = nn.TripletMarginWithDistanceLoss(distance_function=function, margin=0.5)(a, b, b.roll(-1, 0))
    torch.testing.assert_close(TripletLoss(distance=distance)(a, b), expected)


def test_a_batch_worked_out_by_hand():
    a, b = torch.tensor([[0.0], [1.0], [9.0]]), torch.tensor([[2.0], [0.5], [5.0]])
    # squared distances [[4, .25, 25], [1, .25, 16], [49, 72.25, 16]]; pairs 0 and 1 are of one cluster
    clusters = torch.tensor([0, 0, 1])
    # 4 - 25 and .25 - 16 are met; 16 - 49 too. Without clusters the nearest of anchor 0 is .25 away, of anchor 1 one
    assert TripletLoss(negatives="hard")(a, b, clusters).item() == 0
    assert TripletLoss(negatives="hard")(a, b).item() == pytest.approx((4 - 0.25 + 0.5) / 3)
    assert TripletLoss(negatives="hard", margin=22)(a, b, clusters).item() == pytest.approx((1 + 6.25) / 3)
    # the next ones: .25 for anchor 0, 16 for anchor 1, 49 for anchor 2, which the first pair follows
    assert TripletLoss(margin=34)(a, b).item() == pytest.approx((4 - 0.25 + 34 + 0.25 - 16 + 34 + 16 - 49 + 34) / 3)


def test_hard_negatives_never_cost_less_than_random_ones(batch):
    for seed in range(5):
        a, b = batch(8, seed=seed)
        clusters = torch.tensor([0, 0, 1, 1, 2, 3, 4, 5])
        hard, random = (TripletLoss(negatives=name)(a, b, clusters) for name in ("hard", "random"))
        assert hard >= random
