from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from model.multiple_negatives import MultipleNegativesRankingLoss, unit


def naive(a, b, clusters, *, scale, smoothing):
    """Both directions with loops over Python floats."""
    a, b = a.tolist(), b.tolist()
    return (one_side(a, b, clusters, scale, smoothing) + one_side(b, a, clusters, scale, smoothing)) / 2


def one_side(asked, answers, clusters, scale, smoothing):
    n, total = len(asked), 0.0
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


def batch(n, d=4, *, seed=0, scale=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(n, d, generator=generator, dtype=torch.float64) * scale).to(dtype) for _ in range(2)]


@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize(
    ("n", "clusters"), [(2, None), (2, [4, 9]), (6, None), (6, [1, 2, 1, 3, 3, 1]), (3, [5, 5, 5])]
)
def test_loss_agrees_with_nested_loops(scale, smoothing, n, clusters):
    a, b = batch(n)
    loss = MultipleNegativesRankingLoss(scale=scale, smoothing=smoothing)
    ours = loss(a, b, None if clusters is None else torch.tensor(clusters))
    assert ours.item() == pytest.approx(naive(a, b, clusters, scale=scale, smoothing=smoothing), abs=1e-12)


def test_without_smoothing_it_is_the_mean_cross_entropy_of_both_sides():
    a, b = batch(7)
    logits = 20 * nn.functional.cosine_similarity(a[:, None], b[None], dim=2)
    own = torch.arange(7)
    expected = (nn.functional.cross_entropy(logits, own) + nn.functional.cross_entropy(logits.T, own)) / 2
    torch.testing.assert_close(MultipleNegativesRankingLoss(smoothing=0)(a, b), expected)


def test_it_does_not_matter_which_side_is_which():
    a, b = batch(6)
    clusters = torch.tensor([0, 1, 1, 2, 3, 0])
    loss = MultipleNegativesRankingLoss()
    torch.testing.assert_close(loss(a, b, clusters), loss(b, a, clusters))


@pytest.mark.parametrize("clusters", [None, [0, 1, 0, 2]])
def test_gradients_agree_with_finite_differences(clusters):
    a, b = (part.requires_grad_() for part in batch(4))
    known = None if clusters is None else torch.tensor(clusters)
    loss = MultipleNegativesRankingLoss(scale=5)
    assert torch.autograd.gradcheck(lambda x, y: loss(x, y, known), (a, b))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scale", [1e3, 1.0, 1e-20, 0.0])
def test_loss_and_gradients_are_finite_whatever_the_vectors(dtype, scale):
    a, b = batch(5, scale=scale, dtype=dtype)
    a[1], b[3], b[0] = a[0], b[2], 0  # duplicate rows, and a question without a word
    a.requires_grad_(), b.requires_grad_()
    loss = MultipleNegativesRankingLoss()(a, b, torch.tensor([0, 0, 1, 2, 3]))
    loss.backward()
    assert loss.isfinite()
    assert a.grad.isfinite().all()
    assert b.grad.isfinite().all()
    exact = naive(a.detach().double(), b.detach().double(), [0, 0, 1, 2, 3], scale=20, smoothing=0.1)
    assert loss.item() == pytest.approx(exact, rel=1e-4, abs=1e-5)


def test_unit_gives_the_direction_and_its_gradient_whatever_the_length():
    a, _ = batch(3)
    for scale in (1e-3, 1e3):
        scaled = (a * scale).requires_grad_()
        torch.testing.assert_close(unit(scaled), a / a.norm(dim=1, keepdim=True))
        (gradient,) = torch.autograd.grad((unit(scaled) * a.roll(1, 1)).sum(), scaled)
        plain = (a * scale).requires_grad_()
        (expected,) = torch.autograd.grad((plain / plain.norm(dim=1, keepdim=True) * a.roll(1, 1)).sum(), plain)
        torch.testing.assert_close(gradient, expected)


def test_all_columns_masked_but_one_cost_nothing_and_move_nothing():
    a, b = (part.requires_grad_() for part in batch(3))
    loss = MultipleNegativesRankingLoss()(a, b, torch.zeros(3, dtype=torch.int64))
    loss.backward()
    assert loss.item() == 0
    assert not a.grad.any()
    assert not b.grad.any()


@pytest.mark.parametrize("wrong", [{"smoothing": -0.1}, {"smoothing": 1.0}, {"scale": 0}, {"scale": math.inf}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MultipleNegativesRankingLoss(**wrong)


@pytest.mark.parametrize(("a", "b"), [((1, 3), (1, 3)), ((4, 3), (4, 2)), ((4,), (4,))])
def test_batches_that_cannot_be_compared_are_refused(a, b):
    with pytest.raises(ValueError, match="batches"):
        MultipleNegativesRankingLoss()(torch.zeros(a), torch.zeros(b))
