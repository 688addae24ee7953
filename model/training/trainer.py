"""Trainer of every network: steps, learning rate, checkpoints, time limit, failures.

Objective -> Trainer.run -> Trained: best weights, one record an epoch
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from typing import Literal, TypedDict, Unpack

from model.encoders.network import weights_of
from model.encoders.saved_model import Weights
from model.training.checkpoints.checkpoints import Checkpoints
from model.training.checkpoints.training_state import arrays_of, restore
from model.training.distributed import ALONE, Processes
from model.training.failures import check_auc, check_loss, check_weights
from model.training.objective import Objective
from model.training.progress import Deadline, Epoch, Progress
from schemas.arrays import Int64s
from schemas.quantities import counted


@dataclasses.dataclass(frozen=True)
class Step:
    """A finished step: ``step`` of ``steps`` in ``epoch`` of ``epochs`` (from 1), its loss, examples per second."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    pairs_per_s: float


Ending = Literal["epochs", "patience", "time"]
"""Reason for the end of a training: all epochs done, no better validation score, or time limit reached."""


@dataclasses.dataclass(frozen=True)
class Trained:
    """Result of a training.

    Attributes:
        weights: of the best epoch, by name.
        epochs: a record of each.
        best: the record of the best one.
        ending: reason for the end.
        batch_size: examples of a step; a batch larger than the data was reduced.
    """

    weights: Weights
    epochs: list[Epoch]
    best: Epoch
    ending: Ending
    batch_size: int


class Supervision(TypedDict, total=False):
    """Conditions and reports of a training, whatever it learns; each may be left out.

    Attributes:
        checkpoints: keep the state of the training and return the last one; the first process has them.
        deadline: time limit; with linear decay the learning rate is 0 by then.
        processes: processes that share the work; all come to the same weights.
        on_step: called after every step.
        on_epoch: called after every epoch.
        inform: called with notes for the user.
    """

    checkpoints: Checkpoints | None
    deadline: Deadline | None
    processes: Processes
    on_step: Callable[[Step], None]
    on_epoch: Callable[[Epoch], None]
    inform: Callable[[str], None]


def ignore(_: object) -> None:
    """Ignore a report."""


class Trainer:
    """One training; without a deadline equal input gives equal weights on the same machine.

    Args:
        objective: loss to minimise, and the network that learns.
        supervision: conditions and reports.

    Attributes:
        steps: number of steps of an epoch.
        progress: steps and epochs done.
        best: weights of the best epoch; None if they are the present ones.

    Raises:
        QprError: a checkpoint cannot be resumed.
    """

    def __init__(self, objective: Objective, **supervision: Unpack[Supervision]) -> None:
        self.objective, self.network, self.settings = objective, objective.network, objective.settings
        self.optimizers = self.network.optimizers(learning_rate=self.settings.learning_rate)
        self.steps = sum(1 for _ in objective.batches(1))
        self.progress = Progress()
        self.best: Weights | None = None
        self._on_step, self._on_epoch = supervision.get("on_step", ignore), supervision.get("on_epoch", ignore)
        self._inform, self._processes = supervision.get("inform", ignore), supervision.get("processes", ALONE)
        self._deadline = (supervision.get("deadline") or Deadline()).shared(self._processes)
        self._checkpoints = checkpoints = supervision.get("checkpoints")
        self._checkpointed = self._processes.of_the_first(lambda: checkpoints is not None)
        if checkpoint := self._processes.of_the_first(lambda: checkpoints and checkpoints.load()):
            self.progress = checkpoint.progress
            self.best = restore(checkpoint.arrays, self.network, self.optimizers, rank=self._processes.rank)
        self._decayed = self.progress.decayed

    def run(self) -> Trained:
        """Do all steps that are left.

        Raises:
            QprError: the loss, a weight or a vector is not finite.
        """
        ending = None
        while ending is None:
            self._epoch()
            ending = self.end_epoch(self._processes.of_the_first(self.objective.validation_auc))
        weights = weights_of(self.network.body) if self.best is None else self.best
        best = self.progress.epochs[self.progress.best - 1]
        return Trained(weights, self.progress.epochs, best, ending, self.settings.batch_size)

    def step(self, batch: Int64s) -> float:
        """Learn from one batch; return its loss."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss = self.objective.add_gradients(batch)
        for optimizer in self.optimizers:
            optimizer.step()
        return loss

    def end_epoch(self, auc: float | None) -> Ending | None:
        """Record an epoch, keep its weights if it is the best; return the reason for the end, None to continue."""
        check_auc(auc, self.progress)
        at, settings = self.progress, self.settings
        position = f"epoch {at.epoch} of {settings.epochs}, step {at.step} of {self.steps}"
        complete, number = at.step == self.steps, at.epoch
        if at.end_epoch(auc, keep_last=settings.linear_decay):
            self.best = None if settings.linear_decay or auc is None else weights_of(self.network.body)
        self._on_epoch(at.epochs[-1])
        if complete and number == settings.epochs:
            return "epochs"
        if not settings.linear_decay and number - at.best >= settings.patience:
            without = f"{counted(settings.patience, 'epoch')} without a better AUC"
            self._inform(f"stopped after epoch {number}: {without}; kept epoch {at.best}")
            return "patience"
        if self._deadline.over:
            outcome = "the learning rate fell to 0 by then" if settings.linear_decay else f"kept epoch {at.best}"
            self._inform(f"stopped after {self._deadline.minutes:.3g} minutes at {position}; {outcome}")
            return "time"
        self._checkpoint(epoch_ended=True)
        return None

    def _epoch(self) -> None:
        """Do the steps of an epoch that are left, until the time is over, at least one."""
        at, last = self.progress, time.perf_counter()
        self.network.train()
        for batch in itertools.islice(self.objective.batches(at.epoch), at.step, None):
            self._decay()
            loss = self.step(batch)
            check_loss(loss, batch, at, self.objective)
            last, began = time.perf_counter(), last
            at.count(loss=loss, pairs=len(batch), seconds=last - began)
            self._on_step(Step(at.epoch, self.settings.epochs, at.step, self.steps, loss, at.pairs / at.seconds))
            if self._deadline.over:
                break
            if self._checkpoint():
                last = time.perf_counter()  # writing it is no part of a step
        check_weights(self.network, at, advice=self.objective.advice)

    def _checkpoint(self, *, epoch_ended: bool = False) -> bool:
        """Write a checkpoint if one is due; return whether it was."""
        checkpoints, body = self._checkpoints, self.network.body
        size = 3 * sum(weight.nbytes for weight in body.parameters())  # Adam keeps two numbers for each
        if not self._checkpointed or not self._processes.of_the_first(
            lambda: checkpoints is not None and checkpoints.due(size, epoch_ended=epoch_ended)
        ):
            return False
        check_weights(self.network, self.progress, advice=self.objective.advice)
        arrays = arrays_of(self.network, self.optimizers, best=self.best, processes=self._processes)
        if checkpoints:
            checkpoints.save(self.progress, arrays)
        return True

    def _decay(self) -> None:
        """Lower the learning rate linearly with the steps, or with the time if that is shorter."""
        if not self.settings.linear_decay:
            return
        at = self.progress
        by_time = self._decayed + (1 - self._decayed) * self._deadline.spent
        at.decayed = max(((at.epoch - 1) * self.steps + at.step) / (self.settings.epochs * self.steps), by_time)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * (1 - at.decayed)
