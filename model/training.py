"""Training an encoder; what the settings do not change is as in the paper (Bonadiman et al. 2019, section 4.2).

train and validation pairs -> train -> Trained: vocabulary, best weights, one record an epoch
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.epoch_batches import batches_an_epoch, epoch_batches, fitted
from model.losses import loss_of
from model.networks import Network, network_of, weights_of
from model.pairs import Pairs
from model.saved import Weights
from model.separation import sample_non_pairs, separation
from model.settings import Shape, TrainingSettings
from model.vocabulary import Vocabulary
from schemas.errors import QprError


@dataclasses.dataclass(frozen=True)
class Step:
    """Where training is: ``step`` of ``steps`` in ``epoch`` (both from 1) is done, with this loss, at this speed."""

    epoch: int
    step: int
    steps: int
    loss: float
    pairs_per_s: float


@dataclasses.dataclass(frozen=True)
class Epoch:
    """What an epoch came to: mean loss, validation ROC AUC (None without validation pairs), seconds without it."""

    epoch: int
    loss: float
    auc: float | None
    seconds: float
    pairs_per_s: float


@dataclasses.dataclass(frozen=True)
class Trained:
    """The result of training: the vocabulary, the best epoch's weights by name and what every epoch came to."""

    vocabulary: Vocabulary
    weights: Weights
    epochs: list[Epoch]
    best: Epoch


def train(
    pairs: Pairs,
    validation: Pairs,
    *,
    shape: Shape,
    settings: TrainingSettings,
    device: str | None = None,
    on_step: Callable[[Step], None] = lambda _: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Trained:
    """Learn vocabulary and encoder; the same input gives the same weights on the same machine.

    Args:
        pairs: what to learn from, of at least two clusters.
        validation: decides which epoch is best and when to stop, without linear decay; may be empty.
        shape: of the encoder, which it names too.
        settings: of the training; a batch larger than the data is reduced.
        device: where to compute, by PyTorch's name; a CUDA device if there is one, else the processor.
        on_step: called after every step.
        on_epoch: called after every epoch.
        say: called with what the user should know.

    Raises:
        QprError: the loss is no longer a number, or the device does not work.
    """
    vocabulary = Vocabulary.learn(pairs.keys, words=settings.vocabulary_size, hash_bins=settings.hash_bins)
    if not len(vocabulary):
        raise QprError("no train question has a word and there are no hash bins. Check the dataset's texts")
    network = network_of(vocabulary, shape, settings).to(checked_device(device))
    run = _Run(network, pairs, fitted(settings, pairs, say=say))
    judge = _judge(network, validation, seed=settings.seed, say=say)
    epochs: list[Epoch] = []
    best, weights = 0, weights_of(network.body)
    for number in range(1, settings.epochs + 1):
        loss, seconds, seen = run.epoch(number, on_step)
        epochs.append(Epoch(number, loss, judge(), seconds, seen / seconds))
        on_epoch(epochs[-1])
        if settings.linear_decay or number == 1 or _better(epochs[-1].auc, epochs[best].auc):
            best, weights = number - 1, weights_of(network.body)
        elif number - 1 - best >= settings.patience:
            say(f"stopped after epoch {number}: {settings.patience} epochs without a better AUC; kept epoch {best + 1}")
            break
    return Trained(vocabulary, weights, epochs, epochs[best])


class _Run:
    """The state of one training: network, loss, optimisers and the inputs of all train questions."""

    def __init__(self, network: Network, pairs: Pairs, settings: TrainingSettings) -> None:
        self.network, self.pairs, self.settings = network, pairs, settings
        self.inputs = network.read(pairs.keys)
        self.loss = loss_of(settings)
        self.optimizers = network.optimizers(learning_rate=settings.learning_rate)

    def epoch(self, number: int, on_step: Callable[[Step], None]) -> tuple[float, float, int]:
        """Do every step of an epoch; return the mean loss of a pair, the seconds it took and how many pairs."""
        started, total, seen = time.perf_counter(), 0.0, 0
        steps = batches_an_epoch(self.pairs, self.settings)
        self.network.train()
        for step, batch in enumerate(epoch_batches(self.pairs, self.settings, epoch=number), start=1):
            self._decay((number - 1) * steps + step - 1, self.settings.epochs * steps)
            loss = self.step(batch)
            if not math.isfinite(loss):
                advice = "Lower --learning-rate or look for odd rows in the pairs"
                raise QprError(f"epoch {number}, step {step}: the loss is {loss}. {advice}")
            total, seen = total + loss * len(batch), seen + len(batch)
            on_step(Step(number, step, steps, loss, seen / (time.perf_counter() - started)))
        return total / seen, time.perf_counter() - started, seen

    def step(self, batch: npt.NDArray[np.int64]) -> float:
        """Learn from one batch of pairs; return its loss."""
        questions = np.concatenate([self.pairs.first[batch], self.pairs.second[batch]])
        anchors, positives = self.network(self.inputs.take(questions)).chunk(2)
        clusters = torch.from_numpy(self.pairs.clusters[batch]).to(anchors.device)
        loss: Tensor = self.loss(anchors, positives, clusters)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def _decay(self, done: int, steps: int) -> None:
        if self.settings.linear_decay:
            for optimizer in self.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = self.settings.learning_rate * (1 - done / steps)


def checked_device(name: str | None) -> torch.device:
    """Return the device of this name, by default CUDA if it is there, else the processor.

    Raises:
        QprError: it does not work here.
    """
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(chosen)
        torch.zeros(1, device=device).item()  # the meta device allocates, but holds no number
    except (RuntimeError, AssertionError) as error:
        raise QprError(f"device {chosen}: {str(error).partition('. ')[0]}. Use --device cpu") from error
    return device


def _judge(network: Network, validation: Pairs, *, seed: int, say: Callable[[str], None]) -> Callable[[], float | None]:
    """Return what measures the network on the validation pairs as it is now."""
    non_pairs = sample_non_pairs(validation, seed=seed)
    if not len(non_pairs[0]):
        say("no validation pairs of two clusters: training all epochs and keeping the last one")
        return lambda: None
    inputs = network.read(validation.keys)
    return lambda: separation(network.encode_all(inputs), validation, non_pairs)


def _better(auc: float | None, best: float | None) -> bool:
    """Tell whether an epoch is to be kept: it separates better, or nothing measures it and it learned longer."""
    return auc is None or best is None or auc > best
