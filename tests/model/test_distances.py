from __future__ import annotations

import math

import pytest
import torch

from model.distances import cosines, paired, pairwise, squared_distances, symmetric_kl, unit


def softmax(row):
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    return [power / sum(powers) for power in powers]


def naive_kl(x, y):
    p, q = softmax(x), softmax(y)
    return sum(a * math.log(a / b) + b * math.log(b / a) for a, b in zip(p, q, strict=True))


def naive_square(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


NAIVE = {
    "squared_euclidean": naive_square,
    "euclidean": lambda x, y: math.sqrt(naive_square(x, y)),
    "symmetric_kl": naive_kl,
}
EVERY = pytest.mark.parametrize("distance", NAIVE)


@EVERY
def test_distances_are_those_of_loops_over_numbers(distance, batch):
    a, b = batch(9)
    expected = [[NAIVE[distance](x, y) for y in b.tolist()] for x in a.tolist()]
    expected = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(pairwise(a, b, distance), expected)
    torch.testing.assert_close(pairwise(a, b[:5], distance), expected[:, :5])
    torch.testing.assert_close(paired(a, b, distance), expected.diagonal())


@EVERY
@pytest.mark.parametrize("scale", [1e3, 1e-20])
def test_nothing_is_nearer_than_itself(distance, scale, batch):
    a, _ = batch(6, scale=scale, dtype=torch.float32)
    away = pairwise(a, a, distance)
    assert away.isfinite().all()
    assert (away >= 0).all()
    assert (away.diagonal() <= away.min(dim=1).values + 1e-6 * away.max()).all()
    assert not paired(a, a, distance).any()


@pytest.mark.parametrize("distance", ["squared_euclidean", "euclidean"])
@pytest.mark.parametrize("others", [0, 2, -2])
def test_near_pairs_of_long_vectors_keep_distance_and_gradient(distance, others, batch):
    a, noise = batch(6, 64, scale=100)
    b = a + noise * 1e-6  # their squared distance, about 1e-6, is far below the rounding of 640,000 in float32
    a, b = (a[:others] if others < 0 else a).float(), (b[:-others] if others > 0 else b).float()
    places = min(len(a), len(b))
    exact_a, exact_b = a.double().requires_grad_(), b.double().requires_grad_()
    near = paired(exact_a[:places], exact_b[:places], distance)
    expected = torch.autograd.grad(near.sum(), (exact_a, exact_b))
    a.requires_grad_(), b.requires_grad_()
    found = pairwise(a, b, distance).diagonal()
    torch.testing.assert_close(found.double(), near, rtol=1e-5, atol=0)
    for gradient, of in zip(torch.autograd.grad(found.sum(), (a, b)), expected, strict=True):
        torch.testing.assert_close(gradient.double(), of, rtol=1e-4, atol=1e-12)


def test_kl_does_not_mind_what_is_added_to_a_whole_vector(batch):
    a, b = batch(4)
    torch.testing.assert_close(symmetric_kl(a + 3, b - 5), symmetric_kl(a, b))
    assert not torch.isclose(squared_distances(a + 3, b - 5), squared_distances(a, b)).any()


def test_unit_gives_the_direction_and_its_gradient_whatever_the_length(batch):
    a, _ = batch(3)
    for scale in (1e-3, 1e3):
        scaled = (a * scale).requires_grad_()
        torch.testing.assert_close(unit(scaled), a / a.norm(dim=1, keepdim=True))
        (gradient,) = torch.autograd.grad((unit(scaled) * a.roll(1, 1)).sum(), scaled)
        plain = (a * scale).requires_grad_()
        (expected,) = torch.autograd.grad((plain / plain.norm(dim=1, keepdim=True) * a.roll(1, 1)).sum(), plain)
        torch.testing.assert_close(gradient, expected)


def test_cosines_are_pytorchs_and_zeros_have_none(batch):
    a, b = batch(5)
    torch.testing.assert_close(cosines(a, b), torch.nn.functional.cosine_similarity(a[:, None], b[None], dim=2))
    a[2] = 0
    assert not cosines(a, b)[2].any()


def test_a_row_of_zeros_stays_and_has_no_gradient():
    vectors = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    directions = unit(vectors)
    torch.testing.assert_close(directions, torch.tensor([[0.0, 0.0], [0.6, 0.8]]))
    (directions @ torch.tensor([1e9, 0.0])).sum().backward()
    assert vectors.grad[0].tolist() == [0.0, 0.0]
    torch.testing.assert_close(vectors.grad[1] / 1e9, torch.tensor([0.128, -0.096]))  # (1 - .6 * .6) / 5, -.6 * .8 / 5
