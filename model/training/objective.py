"""Interface between the trainer and a loss that it minimises.

network, settings, batches of an epoch, gradients of a batch, validation score -> Objective -> Trainer
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch
from torch import nn

from model.training.settings import TrainingSettings
from schemas.arrays import Int64s
from schemas.quantities import counted


class Learner(Protocol):
    """A network that a trainer can move; `model.encoders.network.Network` is one."""

    @property
    def body(self) -> nn.Module:
        """Return the module whose parameters are learned."""

    @property
    def stored_as(self) -> type[np.floating]:
        """Return the type of the stored weights; a weight that is not finite in it ends the training."""

    @property
    def generator(self) -> torch.Generator | None:
        """Return the source of the random numbers of a step, whose state checkpoints hold; None for none."""

    def train(self) -> object:
        """Switch to training."""

    def optimizers(self, *, learning_rate: float) -> list[torch.optim.Optimizer]:
        """Return the optimisers of all parameters."""


class Objective(abc.ABC):
    """A loss over examples, which a `model.training.trainer.Trainer` minimises.

    Everything it adds up must follow from its arguments, the epoch's number and the network's state, so that a resumed
    training repeats it.

    Attributes:
        network: learns.
        settings: epochs, learning rate, its decay, patience and seed.
        unit: name of an example, in the singular.
        advice: last sentence of an error about a loss or a weight that is not finite.
    """

    network: Learner
    settings: TrainingSettings
    unit = "pair"
    advice = "Lower --learning-rate"

    @abc.abstractmethod
    def batches(self, epoch: int) -> Iterator[Int64s]:
        """Yield the examples of every step of an epoch, counted from 1; each epoch has as many steps."""

    @abc.abstractmethod
    def add_gradients(self, batch: Int64s) -> float:
        """Add the gradients of a batch's mean loss to those of the weights; return the loss."""

    def validation_auc(self) -> float | None:
        """Return the validation score that decides on the best epoch; None keeps the last epoch."""
        return None

    def describe(self, batch: Int64s) -> str:
        """Return the words of an error message for the batch whose gradients were added last."""
        return f"this batch of {counted(len(batch), self.unit)}"
