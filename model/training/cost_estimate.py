"""Estimated cost of a training, from a few of its own steps.

train and validation pairs, settings -> plan_training -> Plan
"""

from __future__ import annotations

import dataclasses
import resource
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from model.encoders.config import Shape
from model.encoders.registry import kind_of
from model.encoders.saved_model import ModelParts
from model.training.failures import lowering
from model.training.initialization import build_network
from model.training.pairs.pair_objective import PairObjective
from model.training.settings import TrainingSettings
from model.training.trainer import Trainer
from model.training.training_pairs import Pairs

MEASURED_S = 10.0
"""Seconds of steps to measure, unless an epoch takes less."""

_COLD = 2
"""Number of first steps left out of the median: they allocate memory that later steps reuse."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """Estimated cost of a training.

    Attributes:
        device: where it computes.
        parameters: number of weights.
        model_bytes: size of the model on disk.
        checkpoint_bytes: size of a checkpoint on disk; two are kept, and a third exists while it is written.
        memory_bytes: peak of the process in these steps plus writing a checkpoint, its largest file twice; with a
            graphics card the peak of the card.
        pairs_a_step: maximum number of pairs in a step.
        batches_an_epoch: steps.
        pairs_an_epoch: number of pairs in them, without those left out because they are alone in a batch.
        epochs: maximum number.
        measured_steps: number of steps measured.
        seconds_a_step: median of these.
        seconds_an_epoch: all of its steps, and measuring the network on the validation pairs.
        seconds: all epochs, without reading the dataset and writing the model.
    """

    device: str
    parameters: int
    model_bytes: int
    checkpoint_bytes: int
    memory_bytes: int
    pairs_a_step: int
    batches_an_epoch: int
    pairs_an_epoch: int
    epochs: int
    measured_steps: int
    seconds_a_step: float
    seconds_an_epoch: float
    seconds: float


def plan_training(
    pairs: Pairs,
    validation: Pairs,
    *,
    shape: Shape,
    settings: TrainingSettings,
    device: str | None = None,
    older: ModelParts | None = None,
    inform: Callable[[str], None] = lambda _: None,
    measured_s: float = MEASURED_S,
) -> Plan:
    """Measure a few steps of a training and return its estimated cost on this machine as it is now.

    Args:
        pairs: train pairs.
        validation: validation pairs.
        shape: of the encoder.
        settings: of the training.
        device: where to compute, by PyTorch's name.
        older: a model to begin with.
        inform: called with notes for the user.
        measured_s: seconds of steps to measure.

    Raises:
        QprError: the training could not begin.
    """
    with lowering(shape, settings):
        _, network = build_network(pairs, shape=shape, settings=settings, device=device, older=older, inform=inform)
        objective = PairObjective(network, pairs, validation, settings, inform=inform)
        trainer = Trainer(objective)
        steps = _measured_steps(trainer, seconds=measured_s)
        judging = _timed(objective.validation_auc)
    parameters = sum(weight.numel() for weight in network.body.parameters())
    step = statistics.median(steps[_COLD:] or steps)
    epoch = step * trainer.steps + judging
    held = [len(batch) for batch in objective.batches(1)]
    best = 0 if settings.linear_decay or not len(validation) else parameters
    return Plan(
        device=str(next(network.parameters()).device),
        parameters=parameters,
        model_bytes=parameters * np.dtype(kind_of(shape).stored_as).itemsize,
        checkpoint_bytes=(3 * parameters + best) * 4,
        memory_bytes=_peak(writing=2 * 4 * parameters),
        pairs_a_step=max(held),
        batches_an_epoch=trainer.steps,
        pairs_an_epoch=sum(held),
        epochs=settings.epochs,
        measured_steps=len(steps),
        seconds_a_step=step,
        seconds_an_epoch=epoch,
        seconds=epoch * settings.epochs,
    )


def _measured_steps(trainer: Trainer, *, seconds: float) -> list[float]:
    """Return the seconds of each step until the time is over or the epoch ends."""
    trainer.network.train()
    taken: list[float] = []
    for batch in trainer.objective.batches(1):
        taken.append(_timed(lambda: trainer.step(batch)))  # noqa: B023  # called at once
        if len(taken) > _COLD and sum(taken) >= seconds:
            break
    return taken


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _peak(*, writing: int) -> int:
    """Return the peak of bytes in use plus those to write; of a graphics card if one was used."""
    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated()
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    return writing + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
