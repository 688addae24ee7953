from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from model.sdml import SDMLLoss, squared_distances

DISTANCES = ["squared_euclidean", "euclidean"]


def naive(a, b, clusters, *, smoothing, distance):
    """Equations 3 and 4 with loops over Python floats."""
    n = len(a)
    total = 0.0
    for i in range(n):
        columns = [j for j in range(n) if j == i or clusters is None or clusters[i] != clusters[j]]
        squares = {j: sum((x - y) ** 2 for x, y in zip(a[i].tolist(), b[j].tolist(), strict=True)) for j in columns}
        logits = {j: -(math.sqrt(s) if distance == "euclidean" else s) for j, s in squares.items()}
        top = max(logits.values())
        log_sum = top + math.log(sum(math.exp(logit - top) for logit in logits.values()))
        raw = {j: (1 - smoothing) * (j == i) + smoothing / n for j in columns}
        mass = sum(raw.values())
        total += sum(r / mass * (math.log(r / mass) - (logits[j] - log_sum)) for j, r in raw.items() if r)
    return total / n


def batch(n, d=4, *, seed=0, scale=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(n, d, generator=generator, dtype=torch.float64) * scale).to(dtype) for _ in range(2)]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("smoothing", [0.0, 0.3, 0.9])
@pytest.mark.parametrize(
    ("n", "clusters"), [(2, None), (2, [4, 9]), (6, None), (6, [1, 2, 1, 3, 3, 1]), (3, [5, 5, 5])]
)
def test_loss_agrees_with_nested_loops(distance, smoothing, n, clusters):
    a, b = batch(n)
    loss = SDMLLoss(smoothing=smoothing, distance=distance)
    ours = loss(a, b, None if clusters is None else torch.tensor(clusters))
    assert ours.item() == pytest.approx(naive(a, b, clusters, smoothing=smoothing, distance=distance), abs=1e-12)


def test_a_batch_worked_out_by_hand():
    a = torch.tensor([[0.0], [1.0]])
    b = torch.tensor([[0.0], [1.0]])
    # squared distances [[0, 1], [1, 0]]: p(own) = 1 / (1 + e^-1) = 0.7311; target 0.7 + 0.15 = 0.85 and 0.15
    expected = 0.85 * math.log(0.85 / 0.7310586) + 0.15 * math.log(0.15 / 0.2689414)
    assert SDMLLoss()(a, b).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("distance", DISTANCES)
def test_without_smoothing_it_is_cross_entropy(distance):
    a, b = batch(7)
    distances = torch.cdist(a, b)
    logits = -(distances if distance == "euclidean" else distances.square())
    expected = nn.functional.cross_entropy(logits, torch.arange(7))
    torch.testing.assert_close(SDMLLoss(smoothing=0, distance=distance)(a, b), expected)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("clusters", [None, [0, 1, 0, 2]])
def test_gradients_agree_with_finite_differences(distance, clusters):
    a, b = (part.requires_grad_() for part in batch(4))
    known = None if clusters is None else torch.tensor(clusters)
    assert torch.autograd.gradcheck(lambda x, y: SDMLLoss(distance=distance)(x, y, known), (a, b))


def test_a_target_that_is_met_costs_nothing():
    # own distance 0, other d with e^-d = 0.15 / 0.85: the prediction is the target
    other = math.log(0.85 / 0.15) ** 0.5
    a = torch.tensor([[0.0], [other]], dtype=torch.float64)
    assert SDMLLoss()(a, a).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scale", [1e3, 1.0, 1e-20, 0.0])
def test_loss_and_gradients_are_finite_whatever_the_vectors(distance, dtype, scale):
    a, b = batch(5, scale=scale, dtype=dtype)
    a[1], b[3], b[0] = a[0], b[2], a[0]  # duplicate rows, and a pair at distance 0
    a.requires_grad_(), b.requires_grad_()
    loss = SDMLLoss(distance=distance)(a, b, torch.tensor([0, 0, 1, 2, 3]))
    loss.backward()
    assert loss.isfinite()
    assert a.grad.isfinite().all()
    assert b.grad.isfinite().all()
    exact = naive(a.double(), b.double(), [0, 0, 1, 2, 3], smoothing=0.3, distance=distance)
    assert loss.item() == pytest.approx(exact, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("distance", DISTANCES)
def test_all_columns_masked_but_one_cost_nothing_and_move_nothing(distance):
    a, b = (part.requires_grad_() for part in batch(3))
    loss = SDMLLoss(distance=distance)(a, b, torch.zeros(3, dtype=torch.int64))
    loss.backward()
    assert loss.item() == 0
    assert not a.grad.any()
    assert not b.grad.any()


def test_an_anchor_does_not_care_where_its_known_mates_are():
    a, b = batch(3)
    moved = b.clone()
    moved[1] = a[0]  # the best match of anchor 0, but pair 1 is of the same cluster
    a.requires_grad_()
    for clusters, unmoved in [(torch.tensor([0, 0, 1]), True), (torch.tensor([0, 1, 2]), False)]:
        gradients = [torch.autograd.grad(SDMLLoss()(a, columns, clusters), a)[0][0] for columns in (b, moved)]
        assert torch.equal(*gradients) == unmoved


def test_distances_are_those_of_a_direct_computation():
    a, b = batch(9)
    torch.testing.assert_close(squared_distances(a, b[:5]), torch.cdist(a, b[:5]).square())
    same = torch.full((3, 2), 1e3)
    assert (squared_distances(same, same) >= 0).all()


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, 1.5, math.nan])
def test_smoothing_outside_its_range_is_refused(smoothing):
    with pytest.raises(ValueError, match="smoothing"):
        SDMLLoss(smoothing=smoothing)


def test_an_unknown_distance_is_refused():
    with pytest.raises(ValueError, match="distance"):
        SDMLLoss(distance="cosine")


@pytest.mark.parametrize(("a", "b"), [((1, 3), (1, 3)), ((4, 3), (4, 2)), ((4, 3), (3, 3)), ((4,), (4,))])
def test_batches_that_cannot_be_compared_are_refused(a, b):
    with pytest.raises(ValueError, match="batches"):
        SDMLLoss()(torch.zeros(a), torch.zeros(b))
