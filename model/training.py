"""Training the encoder, as the paper does (Bonadiman et al. 2019, section 4.2).

train and validation pairs -> train -> Trained: vocabulary, best weights, one record an epoch
"""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.batches import batch_count, batches
from model.encoder import QuestionEncoder
from model.pairs import Pairs
from model.saved import Weights
from model.sdml import SDMLLoss
from model.separation import sample_non_pairs, separation
from model.settings import EncoderSettings, TrainingSettings
from model.vocabulary import TokenIds, Vocabulary
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
    shape: EncoderSettings,
    settings: TrainingSettings,
    device: str | None = None,
    on_step: Callable[[Step], None] = lambda _: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Trained:
    """Learn vocabulary and encoder; the same input gives the same weights on the same machine.

    The embedding learns by lazy Adam on sparse gradients (`torch.optim.SparseAdam`): at 55,000 x 300 a step took 2 ms
    where dense fused Adam took 10 ms on two cores, and the dense gradient comes on top of that.

    Args:
        pairs: what to learn from, of at least two clusters.
        validation: decides which epoch is best and when to stop; may be empty.
        shape: of the encoder.
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
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        encoder = QuestionEncoder(len(vocabulary), shape)
    run = _Run(encoder.to(checked_device(device)), vocabulary.ids(pairs.keys), pairs, fitted(settings, pairs, say=say))
    judge = _judge(encoder, vocabulary, validation, seed=settings.seed, say=say)
    epochs: list[Epoch] = []
    best, weights = 0, weights_of(encoder)
    for number in range(1, settings.epochs + 1):
        loss, seconds = run.epoch(number, on_step)
        epochs.append(Epoch(number, loss, judge(), seconds, len(pairs) / seconds))
        on_epoch(epochs[-1])
        if number == 1 or _better(epochs[-1].auc, epochs[best].auc):
            best, weights = number - 1, weights_of(encoder)
        elif number - 1 - best >= settings.patience:
            say(f"stopped after epoch {number}: {settings.patience} epochs without a better AUC; kept epoch {best + 1}")
            break
    return Trained(vocabulary, weights, epochs, epochs[best])


class _Run:
    """The state of one training: network, loss, optimisers and the token ids of all train questions."""

    def __init__(self, encoder: QuestionEncoder, tokens: TokenIds, pairs: Pairs, settings: TrainingSettings) -> None:
        self.encoder, self.tokens, self.pairs, self.settings = encoder, tokens, pairs, settings
        self.loss = SDMLLoss(smoothing=settings.smoothing, distance=settings.distance)
        embedding = [encoder.embedding.weight]
        others = [weight for name, weight in encoder.named_parameters() if name != "embedding.weight"]
        self.optimizers = [
            torch.optim.SparseAdam(embedding, lr=settings.learning_rate),
            torch.optim.Adam(others, lr=settings.learning_rate, fused=True),
        ]

    def epoch(self, number: int, on_step: Callable[[Step], None]) -> tuple[float, float]:
        """Do every step of an epoch; return the mean loss of a pair and the seconds it took."""
        started, total, seen = time.perf_counter(), 0.0, 0
        settings = self.settings
        steps = batch_count(len(self.pairs), size=settings.batch_size)
        order = batches(len(self.pairs), size=settings.batch_size, seed=settings.seed, epoch=number)
        for step, batch in enumerate(order, start=1):
            loss = self.step(batch)
            if not math.isfinite(loss):
                advice = "Lower --learning-rate or look for odd rows in the pairs"
                raise QprError(f"epoch {number}, step {step}: the loss is {loss}. {advice}")
            total, seen = total + loss * len(batch), seen + len(batch)
            on_step(Step(number, step, steps, loss, seen / (time.perf_counter() - started)))
        return total / seen, time.perf_counter() - started

    def step(self, batch: npt.NDArray[np.int64]) -> float:
        """Learn from one batch of pairs; return its loss."""
        questions = np.concatenate([self.pairs.first[batch], self.pairs.second[batch]])
        anchors, positives = self.encoder(*tensors(self.tokens.take(questions), self.encoder)).chunk(2)
        clusters = torch.from_numpy(self.pairs.clusters[batch]).to(anchors.device)
        loss: Tensor = self.loss(anchors, positives, clusters)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()


def tensors(tokens: TokenIds, encoder: QuestionEncoder) -> tuple[Tensor, Tensor]:
    """Return ids and offsets where the encoder computes."""
    device = encoder.bias.device
    return torch.from_numpy(tokens.ids).to(device), torch.from_numpy(tokens.offsets).to(device)


@torch.no_grad()
def encode_all(encoder: QuestionEncoder, tokens: TokenIds) -> npt.NDArray[np.float32]:
    """Return the vectors of many questions, (questions, dimension), in parts that fit in memory."""
    parts = (tokens.take(rows) for rows in _slices(len(tokens), size=4096))
    return np.concatenate([encoder(*tensors(part, encoder)).cpu().numpy() for part in parts])


def weights_of(encoder: QuestionEncoder) -> Weights:
    """Return a copy of all weights by name."""
    return {name: copy.deepcopy(weight.detach().cpu().numpy()) for name, weight in encoder.named_parameters()}


def fitted(settings: TrainingSettings, pairs: Pairs, *, say: Callable[[str], None]) -> TrainingSettings:
    """Return settings whose batch is no larger than the data."""
    if settings.batch_size <= len(pairs):
        return settings
    say(f"batch size reduced from {settings.batch_size} to {len(pairs)}, the number of train pairs")
    return settings.model_copy(update={"batch_size": len(pairs)})


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


def _judge(
    encoder: QuestionEncoder, vocabulary: Vocabulary, validation: Pairs, *, seed: int, say: Callable[[str], None]
) -> Callable[[], float | None]:
    """Return what measures the encoder on the validation pairs as it is now."""
    non_pairs = sample_non_pairs(validation, seed=seed)
    if not len(non_pairs[0]):
        say("no validation pairs of two clusters: training all epochs and keeping the last one")
        return lambda: None
    tokens = vocabulary.ids(validation.keys)
    return lambda: separation(encode_all(encoder, tokens), validation, non_pairs)


def _better(auc: float | None, best: float | None) -> bool:
    """Tell whether an epoch is to be kept: it separates better, or nothing measures it and it learned longer."""
    return auc is None or best is None or auc > best


def _slices(count: int, *, size: int) -> Iterator[npt.NDArray[np.int64]]:
    return (np.arange(start, min(start + size, count)) for start in range(0, count, size))
