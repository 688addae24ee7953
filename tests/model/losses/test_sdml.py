from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from model.distances import pairwise
from model.losses.sdml import SDMLLoss

DISTANCES = ["squared_euclidean", "euclidean", "symmetric_kl"]
BATCHES = [(2, None), (2, [4, 9]), (6, None), (6, [1, 2, 1, 3, 3, 1]), (3, [5, 5, 5])]


def naive(a, b, clusters, *, smoothing=0.3, distance="squared_euclidean", over="batch", mates="masked"):
    """Equations 3 and 4 with loops over Python floats."""
    n = len(a)
    away = pairwise(a, b, distance).tolist()
    total = 0.0
    for i in range(n):
        known = {j for j in range(n) if j == i or (clusters is not None and clusters[i] == clusters[j])}
        positives = known if mates == "positives" else {i}
        columns = [j for j in range(n) if j in positives or j not in known]
        logits = {j: -away[i][j] for j in columns}
        top = max(logits.values())
        log_sum = top + math.log(sum(math.exp(logit - top) for logit in logits.values()))
        raw = {j: (1 - smoothing) / len(positives) * (j in positives) for j in columns}
        for j in columns:
            if over == "batch":
                raw[j] += smoothing / n
            elif j not in positives:
                raw[j] += smoothing / (n - len(positives))
        mass = sum(raw.values())
        total += sum(r / mass * (math.log(r / mass) - (logits[j] - log_sum)) for j, r in raw.items() if r)
    return total / n


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("smoothing", [0.0, 0.3, 0.9])
@pytest.mark.parametrize(("n", "clusters"), BATCHES)
def test_loss_agrees_with_nested_loops(distance, smoothing, n, clusters, batch):
    a, b = batch(n)
    known = None if clusters is None else torch.tensor(clusters)
    for over in ("batch", "others"):
        for mates in ("masked", "positives"):
            options = {"smoothing": smoothing, "distance": distance, "mates": mates}
            expected = naive(a, b, clusters, over=over, **options)
            assert SDMLLoss(smoothing_over=over, **options)(a, b, known).item() == pytest.approx(expected, abs=1e-12)
            both = SDMLLoss(smoothing_over=over, symmetric=True, **options)(a, b, known).item()
            assert both == pytest.approx((expected + naive(b, a, clusters, over=over, **options)) / 2, abs=1e-12)


def test_euclidean_distance_has_the_gradient_of_double_precision_for_near_pairs_of_long_vectors(batch):
    a, noise = batch(8, 64, scale=100)
    single = [side.float().requires_grad_() for side in (a, a + noise * 1e-6)]
    double = [side.detach().double().requires_grad_() for side in single]
    loss = SDMLLoss(distance="euclidean", smoothing=0.9)
    found, expected = (torch.autograd.grad(loss(*sides), sides) for sides in (single, double))
    for gradient, of in zip(found, expected, strict=True):
        torch.testing.assert_close(gradient.double(), of, rtol=1e-3, atol=1e-6)


def test_a_batch_worked_out_by_hand():
    a = torch.tensor([[0.0], [1.0]])
    b = torch.tensor([[0.0], [1.0]])
    # squared distances [[0, 1], [1, 0]]: p(own) = 1 / (1 + e^-1) = 0.7311; target 0.7 + 0.15 = 0.85 and 0.15
    expected = 0.85 * math.log(0.85 / 0.7310586) + 0.15 * math.log(0.15 / 0.2689414)
    assert SDMLLoss()(a, b).item() == pytest.approx(expected, abs=1e-6)
    # the authors' code: target 0.7 and 0.3
    expected = 0.7 * math.log(0.7 / 0.7310586) + 0.3 * math.log(0.3 / 0.2689414)
    assert SDMLLoss(smoothing_over="others")(a, b).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("distance", ["squared_euclidean", "euclidean"])
def test_without_smoothing_it_is_cross_entropy(distance, batch):
    a, b = batch(7)
    distances = torch.cdist(a, b)
    logits = -(distances if distance == "euclidean" else distances.square())
    expected = nn.functional.cross_entropy(logits, torch.arange(7))
    torch.testing.assert_close(SDMLLoss(smoothing=0, distance=distance)(a, b), expected)


def test_a_reached_target_has_no_loss():
    # own distance 0, other d with e^-d = 0.15 / 0.85: the prediction is the target
    other = math.log(0.85 / 0.15) ** 0.5
    a = torch.tensor([[0.0], [other]], dtype=torch.float64)
    assert SDMLLoss()(a, a).item() == pytest.approx(0, abs=1e-12)


def test_an_anchor_does_not_care_where_its_masked_mates_are(batch):
    a, b = batch(3)
    moved = b.clone()
    moved[1] = a[0]  # the best match of anchor 0, but pair 1 is of the same cluster
    a.requires_grad_()
    for clusters, unmoved in [(torch.tensor([0, 0, 1]), True), (torch.tensor([0, 1, 2]), False)]:
        gradients = [torch.autograd.grad(SDMLLoss()(a, columns, clusters), a)[0][0] for columns in (b, moved)]
        assert torch.equal(*gradients) == unmoved


def test_an_anchor_is_drawn_to_mates_that_are_positives(batch):
    a, b = batch(3)
    a.requires_grad_()
    clusters = torch.tensor([0, 0, 1])
    towards = b[1] - a[0].detach()
    pulls = {}
    for mates in ("masked", "positives"):
        (gradient,) = torch.autograd.grad(SDMLLoss(mates=mates, smoothing=0)(a, b, clusters), a)
        pulls[mates] = float(-gradient[0] @ towards)
    assert pulls["positives"] > pulls["masked"]
