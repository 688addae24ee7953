"""Progress and deadline of a training.

steps and epochs done -> Progress -> checkpoint; minutes -> Deadline
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.training.distributed import Processes


@dataclasses.dataclass(frozen=True)
class Epoch:
    """Record of an epoch: mean loss, validation ROC AUC (None without validation pairs), seconds without validation."""

    epoch: int
    loss: float
    auc: float | None
    seconds: float
    pairs_per_s: float


@dataclasses.dataclass
class Progress:
    """Progress of a training; with the arrays of `model.training.checkpoints.training_state` it is the whole state.

    Attributes:
        epoch: current epoch, from 1.
        step: number of its steps done.
        pairs: number of examples in them: pairs, questions or queries.
        loss_sum: sum of the losses of these examples.
        seconds: duration of these steps.
        first_loss: loss of the first step of all, None before it.
        decayed: share of the learning rate already taken off by linear decay.
        best: number of the best epoch, 0 before one has ended.
        epochs: records of the epochs that ended.
    """

    epoch: int = 1
    step: int = 0
    pairs: int = 0
    loss_sum: float = 0.0
    seconds: float = 0.0
    first_loss: float | None = None
    decayed: float = 0.0
    best: int = 0
    epochs: list[Epoch] = dataclasses.field(default_factory=list)

    def count(self, *, loss: float, pairs: int, seconds: float) -> None:
        """Count a step: its mean loss, its number of examples and its duration."""
        self.step, self.pairs, self.seconds = self.step + 1, self.pairs + pairs, self.seconds + seconds
        self.loss_sum += loss * pairs
        if self.first_loss is None:
            self.first_loss = loss

    def end_epoch(self, auc: float | None, *, keep_last: bool) -> bool:
        """Record the epoch and begin the next; return true if it is the best so far.

        Args:
            auc: on the validation pairs; None keeps the last epoch, for nothing compares it with others.
            keep_last: the last epoch is the best whatever its AUC.
        """
        ended = Epoch(self.epoch, self.loss_sum / self.pairs, auc, self.seconds, self.pairs / self.seconds)
        best = self.epochs[self.best - 1].auc if self.best else None
        if better := keep_last or auc is None or best is None or auc > best:
            self.best = self.epoch
        self.epochs.append(ended)
        self.epoch, self.step, self.pairs, self.loss_sum, self.seconds = self.epoch + 1, 0, 0, 0.0, 0.0
        return better

    def __str__(self) -> str:
        return f"epoch {self.epoch}, step {self.step}"


class Deadline:
    """Time limit of a training: no step begins after it.

    Args:
        minutes: from now; None for no limit.
        clock: seconds since any fixed moment.
    """

    def __init__(self, minutes: float | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.minutes, self._clock, self._began = minutes, clock, clock()

    def shared(self, processes: Processes) -> Deadline:
        """Return the deadline of the first process, so that all processes stop at the same step."""
        if processes.count == 1 or self.minutes is None:
            return self
        deadline = Deadline(self.minutes, clock=lambda: processes.of_the_first(self._clock))
        deadline._began = processes.of_the_first(lambda: self._began)
        return deadline

    def share(self, parts: int) -> Deadline:
        """Return the deadline of the next of ``parts`` trainings that share the time that is left equally."""
        minutes = self.minutes and max(self.minutes * (1 - self.spent), 1e-9) / parts  # 0 would be no limit
        return Deadline(minutes, clock=self._clock)

    @property
    def spent(self) -> float:
        """Share of the time that has passed, at most 1; 0 without a limit."""
        return min(1.0, (self._clock() - self._began) / (60 * self.minutes)) if self.minutes else 0.0

    @property
    def over(self) -> bool:
        """True once the time has passed."""
        return self.spent >= 1
