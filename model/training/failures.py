"""Failures of a training step, explained with the batch, the pair and the option to lower.

loss, vectors of a batch -> LossWatch.check -> error; MemoryError -> lowering -> error
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.encoders.config import Shape
from model.encoders.finite_weights import first_not_finite
from model.encoders.kinds import kind_of
from model.encoders.network import Network
from model.losses.interface import Loss
from model.training.progress import Progress
from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs
from schemas.errors import QprError, is_out_of_memory
from schemas.quantities import counted

EXPLODED = 1000.0
"""How many times the first loss, or 1 if that was less, no later one may be: nothing is learned from there."""

_LONGEST = 80
"""Characters shown of a question."""


class LossWatch:
    """Sees the vectors that go into a loss, and tells which pair of a batch is to blame for a bad value.

    Args:
        loss: of the training.
        pairs: what the batches are of.
    """

    def __init__(self, loss: Loss, pairs: Pairs) -> None:
        self._loss, self._pairs = loss, pairs
        self._sides: tuple[Tensor, Tensor] | None = None

    def __call__(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None) -> Tensor:
        """Return the loss of a batch and remember its vectors."""
        self._sides = anchors.detach(), positives.detach()
        return self._loss(anchors, positives, clusters)

    def check(self, loss: float, batch: npt.NDArray[np.int64], at: Progress) -> None:
        """See that the loss of the step after ``at`` is a number, and not a thousand times what it was at first.

        Raises:
            QprError: it is not; the message names epoch, step and batch.
        """
        if math.isfinite(loss) and loss <= EXPLODED * max(1.0, at.first_loss or 0.0):
            return
        where = f"epoch {at.epoch}, step {at.step + 1}: the loss is {loss:g}"
        whole = f"{where}, at first it was {at.first_loss:g}" if math.isfinite(loss) and at.first_loss else where
        advice = "Lower --learning-rate or look for odd rows in the pairs"
        raise QprError(f"{whole}. In this batch of {counted(len(batch), 'pair')} {self._blamed(batch)}. {advice}")

    def _blamed(self, batch: npt.NDArray[np.int64]) -> str:
        if self._sides is None or len(self._sides[0]) != len(batch):
            row, what = 0, "the first is"
        else:
            row, what = _worst(*self._sides)
        pair = batch[row]
        texts = [self._pairs.texts[side[pair]].as_py() for side in (self._pairs.first, self._pairs.second)]
        return f"{what} {_cut(texts[0])} and {_cut(texts[1])}"


def check_weights(network: Network, at: Progress) -> None:
    """Check that all weights are finite as they are stored, so that neither a model nor a checkpoint holds others.

    The loss does not show it: a cosine is finite however long its vectors are.

    Raises:
        QprError: one is not.
    """
    extremes = {
        name: torch.stack(torch.aminmax(weight.detach())).cpu().numpy()
        for name, weight in network.body.named_parameters()
    }
    if name := first_not_finite(extremes, network.stored_as):
        values = "{:g} to {:g}".format(*extremes[name])
        raise QprError(f"{at}: {name} is not finite as {network.stored_as.__name__} ({values}). Lower --learning-rate")


def check_auc(auc: float | None, at: Progress) -> None:
    """Check what validation pairs came to; None is for no such pairs.

    Raises:
        QprError: it is NaN, so weights that are finite make vectors that are not.
    """
    if auc is not None and math.isnan(auc):
        raise QprError(f"{at}: vectors of validation questions are not finite or too long. Lower --learning-rate")


@contextlib.contextmanager
def lowering(shape: Shape, settings: TrainingSettings) -> Iterator[None]:
    """Tell, if the memory does not suffice inside the block, which options to lower.

    Raises:
        QprError: it did not suffice.
    """
    lower = kind_of(shape).smaller
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        step = f"--batch-size (now {settings.batch_size}) or --chunk-size for less in a step"
        raise QprError(f"not enough memory. {lower.format(step=step)}") from error


def _worst(first: Tensor, second: Tensor) -> tuple[int, str]:
    """Return the row whose two sides are no numbers, or else the farthest apart, and what it is."""
    distances = (first.double() - second.double()).square().sum(dim=1).sqrt()
    lost = torch.isnan(distances)
    if bool(lost.any()):
        return int(lost.int().argmax()), f"{int(lost.sum())} have vectors that are no numbers, first of them"
    row = int(distances.argmax())
    return row, f"the farthest apart ({distances[row].item():g}) are"


def _cut(text: str) -> str:
    return f'"{text}"' if len(text) <= _LONGEST else f'"{text[:_LONGEST]}…"'
