from __future__ import annotations

import itertools
import typing

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from model.losses.registry import LOSSES

CLUSTERS = torch.tensor([0, 0, 1, 2, 3])


def variants():
    """Every loss with every combination of its choices."""
    for name, loss in LOSSES.items():
        choices = {option: values(field.annotation) for option, field in loss.model_fields.items()}
        names = [option for option in sorted(choices) if choices[option]]
        for chosen in itertools.product(*(choices[option] for option in names)):
            settings = dict(zip(names, chosen, strict=True))
            yield pytest.param(loss(**settings), id="-".join(map(str, (name, *chosen))))


def values(annotation):
    return (False, True) if annotation is bool else typing.get_args(annotation)


EVERY = pytest.mark.parametrize("loss", [*variants()])


@EVERY
def test_every_loss_has_one_interface(loss, batch):
    a, b = batch(5)
    for clusters in (CLUSTERS, None):
        value = loss(a, b, clusters)
        assert value.shape == ()
        assert value > 0
    assert loss(a, a + 0.01, None) < loss(a, a.roll(1, 0), None)


@EVERY
def test_gradients_agree_with_finite_differences(loss, batch):
    a, b = (part.requires_grad_() for part in batch(4, 2))
    for clusters in (None, torch.tensor([0, 1, 0, 2])):
        assert torch.autograd.gradcheck(lambda x, y, known=clusters: loss(x, y, known), (a, b))


@EVERY
@pytest.mark.parametrize("scale", [1e3, 1.0, 1e-20, 0.0])
def test_loss_and_gradients_are_finite_whatever_the_vectors(loss, scale, batch):
    dtypes = torch.float32, torch.bfloat16
    for dtype, clusters in itertools.product(dtypes, (CLUSTERS, torch.zeros(5))):
        a, b = batch(5, scale=scale, dtype=dtype)
        a[1], b[3], b[0] = a[0], b[2], a[0]  # duplicate rows, and a pair at distance 0
        a.requires_grad_(), b.requires_grad_()
        value = loss(a, b, clusters)
        value.backward()
        assert value.isfinite()
        assert a.grad.isfinite().all()
        assert b.grad.isfinite().all()
        exact = loss(a.detach().double(), b.detach().double(), clusters)
        assert value.item() == pytest.approx(exact.item(), rel=1e-4, abs=1e-5)


@EVERY
def test_the_smallest_batch_and_equal_vectors_are_finite(loss, batch):
    for a, b in (batch(2), [torch.ones(4, 3), torch.ones(4, 3)]):
        a.requires_grad_()
        loss(a, b).backward()
        assert a.grad.isfinite().all()


@EVERY
def test_a_batch_of_one_cluster_moves_nothing_unless_mates_are_positives(loss, batch):
    a, b = (part.requires_grad_() for part in batch(3))
    value = loss(a, b, torch.zeros(3, dtype=torch.int64))
    value.backward()
    if getattr(loss, "mates", "masked") == "masked":
        assert value.item() == 0
        assert not a.grad.any()
        assert not b.grad.any()
    else:
        assert value.item() > 0


@EVERY
def test_swapped_sides_give_the_same_where_the_loss_has_no_direction(loss, batch):
    a, b = batch(6)
    clusters = torch.tensor([0, 1, 1, 2, 3, 0])
    swapped = torch.isclose(loss(a, b, clusters), loss(b, a, clusters), rtol=1e-9)
    assert swapped == getattr(loss, "symmetric", True)


class Largest(TorchDispatchMode):
    """Remembers how many numbers the largest tensor holds that is made inside."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                self.numbers = max(self.numbers, tensor.numel())
        return result


@EVERY
def test_no_tensor_of_a_step_holds_more_than_all_pairs_or_all_vectors(loss, batch):
    n, d = 24, 40
    a, b = (part.requires_grad_() for part in batch(n, d))
    with Largest() as largest:
        loss(a, b, torch.arange(n) // 2).backward()
    assert largest.numbers == n * d  # and n * n is less; (n, n, d) would be 23,040


@pytest.mark.parametrize("loss", LOSSES.values())
@pytest.mark.parametrize(("a", "b"), [((1, 3), (1, 3)), ((4, 3), (4, 2)), ((4,), (4,))])
def test_batches_that_cannot_be_compared_are_refused(loss, a, b):
    with pytest.raises(ValueError, match="batches"):
        loss()(torch.zeros(a), torch.zeros(b))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("sdml", {"smoothing": -0.1}),
        ("sdml", {"smoothing": 1.0}),
        ("sdml", {"distance": "cosine"}),
        ("multiple_negatives", {"smoothing": 1.0}),
        ("multiple_negatives", {"scale": 0}),
        ("multiple_negatives", {"scale": float("inf")}),
        ("triplet", {"distance": "cosine"}),
        ("triplet", {"margin": 0}),
        ("triplet", {"negatives": "soft"}),
        ("online_contrastive", {"margin": 0}),
        ("online_contrastive", {"margin": float("nan")}),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LOSSES[name](**wrong)


def test_the_phrase_of_the_model_card_holds_for_all_settings_of_a_loss():
    # its table has the smoothing, which is 0 with --preset transformer
    assert LOSSES["multiple_negatives"].reference == "multiple-negatives ranking (Henderson et al. 2017)"
