"""Failures of a training step, explained with the batch, the pair and the option to lower.

loss, batch -> check_loss -> error; MemoryError -> lowering -> error
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from model.encoders.config import Shape
from model.encoders.finite_weights import first_not_finite
from model.encoders.registry import kind_of
from model.training.objective import Learner, Objective
from model.training.progress import Progress
from model.training.settings import TrainingSettings
from schemas.arrays import Int64s
from schemas.errors import QprError, is_out_of_memory

EXPLODED = 1000.0
"""Maximum of a later loss as a multiple of the first one, or of 1 if that was less; beyond it nothing is learned."""

_LONGEST = 80
"""Characters shown of a question."""


def check_loss(loss: float, batch: Int64s, at: Progress, objective: Objective) -> None:
    """Check that the loss of the step after ``at`` is finite, and at most a thousand times the first one.

    The first one may have any size: the online contrastive loss grows with the batch, the triplet loss with its margin.

    Raises:
        QprError: it is not; the message names epoch, step and batch.
    """
    limit = math.inf if at.first_loss is None else EXPLODED * max(1.0, at.first_loss)
    if math.isfinite(loss) and loss <= limit:
        return
    where = f"epoch {at.epoch}, step {at.step + 1}: the loss is {loss:g}"
    first = f", at first it was {at.first_loss:g}" if math.isfinite(loss) else ""
    raise QprError(f"{where}{first}. In {objective.describe(batch)}. {objective.advice}")


def check_weights(network: Learner, at: Progress, *, advice: str = Objective.advice) -> None:
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
        raise QprError(f"{at}: {name} is not finite as {network.stored_as.__name__} ({values}). {advice}")


def check_auc(auc: float | None, at: Progress) -> None:
    """Check the validation score; None without validation pairs.

    Raises:
        QprError: it is NaN, so weights that are finite make vectors that are not.
    """
    if auc is not None and math.isnan(auc):
        raise QprError(f"{at}: vectors of validation questions are not finite or too long. Lower --learning-rate")


def lowering(shape: Shape, settings: TrainingSettings) -> contextlib.AbstractContextManager[None]:
    """Return a context that names the options of an encoder to lower if memory runs out in it."""
    step = f"--batch-size (now {settings.batch_size}) or --chunk-size for less in a step"
    return explain_memory(kind_of(shape).smaller.format(step=step))


@contextlib.contextmanager
def explain_memory(advice: str) -> Iterator[None]:
    """Explain an error by too little memory inside the block.

    Args:
        advice: sentence that names the options to lower.

    Raises:
        QprError: there was too little.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise QprError(f"not enough memory. {advice}") from error


def worst_row(sides: tuple[Tensor, Tensor] | None, rows: int) -> tuple[int, str]:
    """Return the row of two matrices that is to blame for a loss, and words for it.

    It is the first row that is not a number, or else the one whose sides are farthest apart; the first row if the
    matrices do not have as many ``rows`` as the batch.
    """
    if sides is None or len(sides[0]) != rows:
        return 0, "the first is"
    distances = (sides[0].double() - sides[1].double()).square().sum(dim=1).sqrt()
    missing = torch.isnan(distances)
    if number := int(missing.sum()):
        have = "has" if number == 1 else "have"
        return int(missing.int().argmax()), f"{number} {have} vectors that are not numbers, first of them"
    row = int(distances.argmax())
    return row, f"the farthest apart ({distances[row].item():g}) are"


def quoted(text: str) -> str:
    """Return a question in quotes, cut if it is long."""
    return f'"{text}"' if len(text) <= _LONGEST else f'"{text[:_LONGEST]}…"'
