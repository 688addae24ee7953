"""Teaching an encoder the vectors of another one; no pair is needed.

a teacher's vectors -> targets_of; questions' inputs, targets -> distil -> one record an epoch, the network has learned
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from model.distances import unit
from model.encoders.network import Inputs, Network
from model.training.batching import batch_count, batches
from model.training.failures import check_weights
from model.training.progress import Epoch, Progress
from model.training.settings import TrainingSettings
from schemas.errors import QprError
from schemas.quantities import counted

Matrix = npt.NDArray[np.float32]

_SAMPLE = 131_072
"""Most questions from which the principal directions and the turn of the first weights are found."""

_RIDGE = 10.0
"""Added to the squares of the first vectors, so that a direction few questions have is not blown up."""


@threadpool_limits.wrap(limits=1, user_api="blas")
def targets_of(taught: Matrix, dimension: int) -> Matrix:
    """Return a teacher's vectors as those of ``dimension`` numbers and length 1 whose cosines are most like its own.

    They are projected on the directions in which their sum of squares is greatest; 256 of MiniLM's 384 keep 95 % of
    it. A shorter vector of the teacher is filled up with zeros. Which way each direction points is settled by its
    largest number. One thread multiplies: on processors without AVX-512 a product's bits depend on their number.

    Args:
        taught: (questions, E).
        dimension: D, of the encoder that learns.
    """
    if taught.shape[1] <= dimension:
        wide = np.pad(taught, ((0, 0), (0, dimension - taught.shape[1])))
    else:
        sample = taught[:: -(-len(taught) // _SAMPLE)].astype(np.float64)
        directions = np.linalg.eigh(sample.T @ sample)[1][:, ::-1][:, :dimension]
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
        wide = taught @ (directions * np.sign(largest)).astype(np.float32)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12), np.float32)


@threadpool_limits.wrap(limits=1, user_api="blas")
def turn_to(vectors: Matrix, targets: Matrix) -> Matrix:
    """Return the (D, D) matrix that brings first vectors nearest to their targets, by ridge regression."""
    first, wanted = vectors.astype(np.float64), targets.astype(np.float64)
    squares = first.T @ first + _RIDGE * np.eye(first.shape[1])
    return np.asarray(np.linalg.solve(squares, first.T @ wanted), np.float32)


def cosine_loss(vectors: Tensor, targets: Tensor) -> Tensor:
    """Return how far vectors are from targets of length 1: the mean of 1 less the cosine, 0 at best.

    Args:
        vectors: (N, D), of the encoder that learns.
        targets: (N, D), of its teacher.
    """
    if vectors.shape != targets.shape or vectors.ndim != 2:
        raise ValueError(f"need two (N, D) matrices, got {tuple(vectors.shape)} and {tuple(targets.shape)}")
    return 1 - (unit(vectors) * targets).sum(dim=1).mean()


def distil(
    network: Network,
    inputs: Inputs,
    taught: Matrix,
    *,
    settings: TrainingSettings,
    on_step: Callable[[int, int, float], None] = lambda *_: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> list[Epoch]:
    """Let a network learn a teacher's vectors; the same input gives the same weights on the same machine.

    Published tokens are turned to the teacher's directions first.

    Args:
        network: what learns, on its device.
        inputs: the questions, as the network reads them.
        taught: (questions, E), the teacher's vectors of them.
        settings: its epochs, batch size, learning rate and decay, and seed count.
        on_step: called with steps done, steps of all epochs and the loss.
        on_epoch: called after every epoch.

    Raises:
        QprError: there are too few questions, a teacher's vector is not finite, or the loss or a weight no longer is.
    """
    size = min(settings.batch_size, len(inputs))
    if size < 2:
        raise QprError(f"{counted(len(inputs), 'question')}: a teacher needs at least 2")
    if not np.isfinite(taught).all():
        row = int(np.isfinite(taught).all(axis=1).argmin())
        raise QprError(f"the teacher's vector of question {row + 1} of {len(taught)} is not finite. Check the teacher")
    targets = targets_of(taught, network.encode_all(inputs.take(np.arange(1))).shape[1])
    if network.turnable:
        some = np.arange(0, len(inputs), -(-len(inputs) // _SAMPLE))
        network.turn(torch.from_numpy(turn_to(network.encode_all(inputs.take(some)), targets[some])))
    steps = batch_count(len(inputs), size=size)
    optimizers = network.optimizers(learning_rate=settings.learning_rate)
    epochs: list[Epoch] = []
    for number in range(1, settings.epochs + 1):
        started, total, seen = time.perf_counter(), 0.0, 0
        for step, batch in enumerate(batches(len(inputs), size=size, seed=settings.seed, epoch=number), start=1):
            done = (number - 1) * steps + step
            gone = (done - 1) / (steps * settings.epochs) if settings.linear_decay else 0
            rate = settings.learning_rate * (1 - gone)
            loss = _learn(network, optimizers, inputs.take(batch), targets[batch], rate=rate)
            if not math.isfinite(loss):
                raise QprError(f"epoch {number}, step {step}: the loss is {loss}. Lower --learning-rate")
            total, seen = total + loss * len(batch), seen + len(batch)
            on_step(done, steps * settings.epochs, loss)
        check_weights(network, Progress(epoch=number, step=steps))
        seconds = time.perf_counter() - started
        epochs.append(Epoch(number, total / seen, None, seconds, seen / seconds))
        on_epoch(epochs[-1])
    return epochs


def _learn(
    network: Network,
    optimizers: list[torch.optim.Optimizer],
    questions: Inputs,
    targets: Matrix,
    *,
    rate: float,
) -> float:
    """Do a step at this learning rate and return its loss."""
    vectors = network.train()(questions)
    loss = cosine_loss(vectors, torch.from_numpy(targets).to(vectors))
    for optimizer in optimizers:
        optimizer.zero_grad()
        for group in optimizer.param_groups:
            group["lr"] = rate
    loss.backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()
