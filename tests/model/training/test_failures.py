from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from model.encoders.cnn.settings import CnnSettings
from model.encoders.subword.settings import SubwordSettings
from model.encoders.transformer.settings import TransformerSettings
from model.training.failures import EXPLODED, check_auc, check_loss, check_weights, lowering, worst_row
from model.training.objective import Objective
from model.training.progress import Progress
from model.training.settings import TrainingSettings
from schemas.errors import QprError

BATCH = np.array([2, 0, 1])
AT = Progress(epoch=2, step=4, first_loss=3.0)


class Guess(Objective):
    """Stands for an objective that explains its batches."""

    def batches(self, epoch):
        yield BATCH

    def add_gradients(self, batch):
        return 0.0


def sides(*, far=1.0):
    first = torch.eye(3)
    return first, first + torch.tensor([0.0, 0.0, far])[:, None]


@pytest.mark.parametrize("loss", [0.0, 2.5, 3 * EXPLODED])
def test_a_finite_loss_passes(loss):
    check_loss(loss, BATCH, AT, Guess())
    check_loss(min(loss, EXPLODED), BATCH, Progress(), Guess())
    check_loss(loss, BATCH, Progress(), Guess())  # the first one, of a large batch or margin


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 3.1 * EXPLODED])
def test_a_bad_loss_names_epoch_step_and_batch(value):
    with pytest.raises(QprError) as raised:
        check_loss(value, BATCH, AT, Guess())
    first = ", at first it was 3" if np.isfinite(value) else ""
    where = f"epoch 2, step 5: the loss is {value:g}{first}"
    assert str(raised.value) == f"{where}. In this batch of 3 pairs. Lower --learning-rate"


def test_the_worst_row_is_the_first_without_numbers_or_the_one_farthest_apart():
    assert worst_row(sides(far=5.0), 3) == (2, "the farthest apart (8.66025) are")
    first, second = sides(far=5.0)
    second[1:] = torch.nan
    assert worst_row((first, second), 3) == (1, "2 have vectors that are not numbers, first of them")


def test_of_a_loss_computed_in_parts_the_first_row_is_named():
    for vectors in (None, sides()):
        assert worst_row(vectors, 4) == (0, "the first is")


@pytest.mark.parametrize(("value", "name"), [(1e5, "float16"), (-torch.inf, "float32"), (torch.nan, "float32")])
def test_a_weight_that_cannot_be_stored_names_epoch_and_tensor(value, name):
    network = SimpleNamespace(body=nn.Linear(2, 3), stored_as=getattr(np, name))
    check_weights(network, AT)
    with torch.no_grad():
        network.body.bias[1] = value
    with pytest.raises(QprError, match=rf"epoch 2, step 4: bias is not finite as {name} .*Lower --learning-rate"):
        check_weights(network, AT)


def test_a_roc_auc_that_is_no_number_names_the_epoch():
    check_auc(None, AT)
    check_auc(0.5, AT)
    with pytest.raises(QprError, match="epoch 2, step 4: vectors of validation questions are not finite"):
        check_auc(float("nan"), AT)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    ],
)
@pytest.mark.parametrize(("shape", "bins"), [(CnnSettings(), False), (SubwordSettings(), True)])
def test_out_of_memory_states_what_to_lower(error, shape, bins):
    with (
        pytest.raises(QprError, match=re.escape("--batch-size (now 77)")) as raised,
        lowering(shape, TrainingSettings(batch_size=77)),
    ):
        raise error
    assert "--vocabulary-size" in str(raised.value)
    assert ("--ngram-bins" in str(raised.value)) == bins


def test_a_transformer_has_no_table_to_make_smaller():
    shape = TransformerSettings(transformer_from="folder", dimension=8)
    with pytest.raises(QprError) as raised, lowering(shape, TrainingSettings(batch_size=77)):
        raise MemoryError
    assert "--batch-size (now 77)" in str(raised.value)
    assert str(raised.value).endswith("or begin with a smaller model")


def test_other_errors_pass():
    with pytest.raises(RuntimeError, match="shapes"), lowering(CnnSettings(), TrainingSettings()):
        raise RuntimeError("shapes do not fit")
