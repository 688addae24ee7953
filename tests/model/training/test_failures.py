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
from model.losses.sdml import SDMLLoss
from model.training.failures import EXPLODED, LossWatch, check_auc, check_weights, lowering
from model.training.progress import Progress
from model.training.settings import TrainingSettings
from schemas.errors import QprError

BATCH = np.array([2, 0, 1])
AT = Progress(epoch=2, step=4, first_loss=3.0)


@pytest.fixture
def watched(pairs_about):
    """Return the watch of a loss and the texts of both questions of the pairs of `BATCH`."""
    pairs = pairs_about("pay")
    watch = LossWatch(SDMLLoss(), pairs)
    texts = [[pairs.keys[side[pair]].as_py() for side in (pairs.first, pairs.second)] for pair in BATCH]
    return watch, texts


def sides(*, far=1.0):
    first = torch.eye(3)
    return first, first + torch.tensor([0.0, 0.0, far])[:, None]


@pytest.mark.parametrize("loss", [0.0, 2.5, 3 * EXPLODED])
def test_a_usual_loss_is_no_trouble(watched, loss):
    watched[0].check(loss, BATCH, AT)
    watched[0].check(min(loss, EXPLODED), BATCH, Progress())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 3.1 * EXPLODED])
def test_a_bad_loss_names_epoch_step_batch_and_the_pair_farthest_apart(watched, value):
    watch, texts = watched
    watch(*sides(far=5.0), None)
    with pytest.raises(QprError) as raised:
        watch.check(value, BATCH, AT)
    message = str(raised.value)
    assert f"epoch 2, step 5: the loss is {value:g}" in message
    assert f'batch of 3 pairs the farthest apart (8.66025) are "{texts[2][0]}" and "{texts[2][1]}"' in message
    assert "Lower --learning-rate" in message
    assert ("at first it was 3" in message) == np.isfinite(value)


def test_vectors_that_are_no_numbers_are_found_first(watched):
    watch, texts = watched
    first, second = sides(far=5.0)
    second[1:] = torch.nan
    watch(first, second, None)
    with pytest.raises(QprError, match=f'2 have vectors that are no numbers, first of them "{texts[1][0]}"'):
        watch.check(float("nan"), BATCH, AT)


def test_a_loss_computed_in_parts_names_the_first_pair(watched):
    watch, texts = watched
    watch(*(side[:2] for side in sides()), None)
    with pytest.raises(QprError, match=f'the first is "{texts[0][0]}"'):
        watch.check(float("nan"), BATCH, AT)


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
def test_out_of_memory_says_what_to_lower(error, shape, bins):
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
