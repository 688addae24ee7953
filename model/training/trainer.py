"""Training an encoder; what the settings do not change is as in the paper (Bonadiman et al. 2019, section 4.2).

train and validation pairs -> train -> Trained: vocabulary, best weights, one record an epoch
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from model.encoders.config import Shape
from model.encoders.network import Network, weights_of
from model.encoders.saved_model import ModelParts, Weights
from model.text.vocabulary import Vocabulary
from model.training.checkpoints.checkpoints import Checkpoints
from model.training.checkpoints.training_state import arrays_of, restore
from model.training.distributed import ALONE, Processes
from model.training.epoch_batches import batches_an_epoch, epoch_batches, fitted
from model.training.failures import LossWatch, check_auc, check_weights, lowering
from model.training.initialization import begun
from model.training.memory.gradients import Gradients
from model.training.progress import Deadline, Epoch, Progress
from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs
from model.training.validation_auc import sample_non_pairs, separation
from schemas.quantities import counted


@dataclasses.dataclass(frozen=True)
class Step:
    """Where training is: ``step`` of ``steps`` in ``epoch`` (both from 1) is done, with this loss, at this speed."""

    epoch: int
    step: int
    steps: int
    loss: float
    pairs_per_s: float


Ending = Literal["epochs", "patience", "time"]
"""Why a training ended: all epochs were done, none got better any more, or the time was over."""


@dataclasses.dataclass(frozen=True)
class Trained:
    """The result of training: vocabulary, the best epoch's weights by name, what every epoch came to, why it ended."""

    vocabulary: Vocabulary
    weights: Weights
    epochs: list[Epoch]
    best: Epoch
    ending: Ending


def train(
    pairs: Pairs,
    validation: Pairs,
    *,
    shape: Shape,
    settings: TrainingSettings,
    device: str | None = None,
    older: ModelParts | None = None,
    checkpoints: Checkpoints | None = None,
    deadline: Deadline | None = None,
    processes: Processes = ALONE,
    on_step: Callable[[Step], None] = lambda _: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Trained:
    """Learn vocabulary and encoder; without a deadline the same input gives the same weights on the same machine.

    Args:
        pairs: what to learn from, of at least two clusters.
        validation: decides which epoch is best and when to stop, without linear decay; may be empty.
        shape: of the encoder, which it names too.
        settings: of the training; a batch larger than the data is reduced.
        device: where to compute, by PyTorch's name; a CUDA device if there is one, else the processor.
        older: a model of this shape whose weights to begin with, where it has them.
        checkpoints: keep what the training can go on from, and go on from the last of them; the first process's.
        deadline: when to stop; with linear decay the learning rate is 0 by then.
        processes: those that share the work; all come to the same weights. One that has not joined any is alone.
        on_step: called after every step.
        on_epoch: called after every epoch.
        say: called with what the user should know.

    Raises:
        QprError: the loss or a weight is no longer a number, the memory does not suffice, or the device does not work.
    """
    with lowering(shape, settings):
        vocabulary, network = begun(pairs, shape=shape, settings=settings, device=device, older=older, say=say)
        processes.draw_apart(network.generator, seed=settings.seed)
        run = Run(
            network,
            pairs,
            fitted(settings, pairs, say=say),
            checkpoints=checkpoints,
            deadline=deadline,
            processes=processes,
        )
        judge = judge_of(network, validation, seed=settings.seed, say=say)
        ending = None
        while ending is None:
            run.epoch(on_step)
            ending = run.end_epoch(processes.of_the_first(judge), on_epoch=on_epoch, say=say)
        weights = weights_of(network.body) if run.best is None else run.best
    epochs = run.progress.epochs
    return Trained(vocabulary, weights, epochs, epochs[run.progress.best - 1], ending)


class Run:
    """One training: network, loss, optimisers, the inputs of all train questions, and how far it is.

    Args:
        network: what learns.
        pairs: from these.
        settings: a batch is no larger than the data.
        checkpoints: keep what it can go on from, and go on from the last of them; the first process's.
        deadline: when to stop.
        processes: those that share the work.

    Attributes:
        progress: how far it is.
        best: weights of the best epoch; None if they are the present ones.
    """

    def __init__(
        self,
        network: Network,
        pairs: Pairs,
        settings: TrainingSettings,
        *,
        checkpoints: Checkpoints | None = None,
        deadline: Deadline | None = None,
        processes: Processes = ALONE,
    ) -> None:
        self.network, self.pairs, self.settings = network, pairs, settings
        self._watch = LossWatch(settings.loss, pairs)
        self.gradients = Gradients(
            network,
            network.read(pairs.texts),
            pairs,
            self._watch,
            chunk_size=settings.chunk_size,
            precision=settings.precision,
            processes=processes,
        )
        self.optimizers = network.optimizers(learning_rate=settings.learning_rate)
        self.steps = batches_an_epoch(pairs, settings)
        self.progress = Progress()
        self.best: Weights | None = None
        self._processes, self._deadline = processes, (deadline or Deadline()).shared(processes)
        self._checkpoints = checkpoints
        self._checkpointed = processes.of_the_first(lambda: checkpoints is not None)
        if found := processes.of_the_first(lambda: checkpoints and checkpoints.load()):
            self.progress = found.progress
            self.best = restore(found.arrays, network, self.optimizers, rank=processes.rank)
        self._decayed = self.progress.decayed

    def epoch(self, on_step: Callable[[Step], None]) -> None:
        """Do the steps of an epoch that are left, as far as the time allows, at least one."""
        at, last = self.progress, time.perf_counter()
        self.network.train()
        for batch in itertools.islice(epoch_batches(self.pairs, self.settings, epoch=at.epoch), at.step, None):
            self._decay()
            loss = self.step(batch)
            self._watch.check(loss, batch, at)
            last, began = time.perf_counter(), last
            at.count(loss=loss, pairs=len(batch), seconds=last - began)
            on_step(Step(at.epoch, at.step, self.steps, loss, at.pairs / at.seconds))
            if self._deadline.over:
                break
            if self._keep():
                last = time.perf_counter()
        check_weights(self.network, at)

    def end_epoch(
        self, auc: float | None, *, on_epoch: Callable[[Epoch], None], say: Callable[[str], None]
    ) -> Ending | None:
        """Note what the epoch came to, keep its weights if it is the best; return why training ends, None if not."""
        check_auc(auc, self.progress)
        at, decay, patience = self.progress, self.settings.linear_decay, self.settings.patience
        done = f"epoch {at.epoch} of {self.settings.epochs}, step {at.step} of {self.steps}"
        complete, number = at.step == self.steps, at.epoch
        if at.end_epoch(auc, keep_last=decay):
            self.best = None if decay or auc is None else weights_of(self.network.body)
        on_epoch(at.epochs[-1])
        if complete and number == self.settings.epochs:
            return "epochs"
        if not decay and number - at.best >= patience:
            say(
                f"stopped after epoch {number}: {counted(patience, 'epoch')} without a better AUC; kept epoch {at.best}"
            )
            return "patience"
        if self._deadline.over:
            kept = "the learning rate fell to 0 by then" if decay else f"kept epoch {at.best}"
            say(f"stopped after {self._deadline.minutes:g} minutes at {done}; {kept}")
            return "time"
        self._keep(epoch_ended=True)
        return None

    def _keep(self, *, epoch_ended: bool = False) -> bool:
        """Write a checkpoint if one is due; return whether."""
        kept, size = self._checkpoints, 3 * sum(weight.nbytes for weight in self.network.parameters())  # Adam's too
        if not self._checkpointed or not self._processes.of_the_first(
            lambda: kept is not None and kept.due(size, epoch_ended=epoch_ended)
        ):
            return False
        check_weights(self.network, self.progress)
        arrays = arrays_of(self.network, self.optimizers, best=self.best, processes=self._processes)
        if kept:
            kept.save(self.progress, arrays)
        return True

    def step(self, batch: npt.NDArray[np.int64]) -> float:
        """Learn from one batch of pairs; return its loss."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss = self.gradients.add(batch)
        for optimizer in self.optimizers:
            optimizer.step()
        return loss

    def _decay(self) -> None:
        """Let the learning rate fall with the steps, or with the time if that is shorter."""
        at, steps = self.progress, self.settings.epochs * self.steps
        if not self.settings.linear_decay:
            return
        by_time = self._decayed + (1 - self._decayed) * self._deadline.spent
        at.decayed = max(((at.epoch - 1) * self.steps + at.step) / steps, by_time)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * (1 - at.decayed)


def judge_of(
    network: Network, validation: Pairs, *, seed: int, say: Callable[[str], None]
) -> Callable[[], float | None]:
    """Return what measures the network on the validation pairs as it is now."""
    non_pairs = sample_non_pairs(validation, seed=seed)
    if not len(non_pairs[0]):
        say("no validation pairs of two clusters: training all epochs and keeping the last one")
        return lambda: None
    inputs = network.read(validation.texts)
    return lambda: separation(network.encode_all(inputs), validation, non_pairs)
