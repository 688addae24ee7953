"""Teaching an encoder to find alike what another one finds alike; no pair is needed.

questions' inputs, a teacher's vectors -> distil -> one record an epoch; the network has learned
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from model.batches import batch_count, batches
from model.learning.progress import Epoch
from model.networks import Inputs, Network
from model.settings import TrainingSettings
from schemas.errors import QprError


def similarity_loss(vectors: Tensor, taught: Tensor, *, scale: float) -> Tensor:
    """Return how differently two encoders rank a batch for each of its questions (after Fang et al. 2021, SEED).

    Both turn the cosines of a question to all others, times ``scale``, into chances. Only cosines are compared, so the
    vectors of the two may differ in length and meaning.

    Args:
        vectors: (N, D), of the encoder that learns; N >= 3, for two others to be told apart.
        taught: (N, E), of its teacher.
        scale: what the cosines are multiplied by; the larger, the more the nearest ones count.

    Returns:
        Scalar, mean over the questions of KL(teacher || learner); its minimum is 0.
    """
    if len(vectors) != len(taught) or vectors.ndim != 2 or taught.ndim != 2 or len(vectors) < 3:
        raise ValueError(f"need (N >= 3, D) and (N, E), got {tuple(vectors.shape)} and {tuple(taught.shape)}")
    learner, teacher = (_log_chances(side, scale=scale) for side in (vectors, taught))
    return F.kl_div(learner, teacher, reduction="batchmean", log_target=True)


def _log_chances(vectors: Tensor, *, scale: float) -> Tensor:
    """Return the log chances of every other question, (N, N - 1)."""
    unit = F.normalize(vectors, dim=1)
    count = len(vectors)
    others = ~torch.eye(count, dtype=torch.bool, device=vectors.device)
    return F.log_softmax((unit @ unit.T * scale)[others].view(count, count - 1), dim=1)


def distil(
    network: Network,
    inputs: Inputs,
    taught: npt.NDArray[np.float32],
    *,
    settings: TrainingSettings,
    on_step: Callable[[int, int, float], None] = lambda *_: None,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> list[Epoch]:
    """Let a network learn from a teacher; the same input gives the same weights on the same machine.

    Args:
        network: what learns, on its device.
        inputs: the questions, as the network reads them.
        taught: (questions, E), the teacher's vectors of them.
        settings: its epochs, batch size, learning rate and decay, scale and seed count.
        on_step: called with steps done, steps of all epochs and the loss.
        on_epoch: called after every epoch.

    Raises:
        QprError: there are too few questions, or the loss is no longer a number.
    """
    size = min(settings.batch_size, len(inputs))
    if size < 3:
        raise QprError(f"{len(inputs)} questions: a teacher needs at least 3 to compare")
    steps = batch_count(len(inputs), size=size)
    optimizers = network.optimizers(learning_rate=settings.learning_rate)
    epochs: list[Epoch] = []
    for number in range(1, settings.epochs + 1):
        started, total, seen = time.perf_counter(), 0.0, 0
        for step, batch in enumerate(batches(len(inputs), size=size, seed=settings.seed, epoch=number), start=1):
            if len(batch) < 3:
                continue
            done = (number - 1) * steps + step
            gone = (done - 1) / (steps * settings.epochs) if settings.linear_decay else 0
            rate = settings.learning_rate * (1 - gone)
            loss = _learn(network, optimizers, inputs.take(batch), taught[batch], scale=settings.scale, rate=rate)
            if not math.isfinite(loss):
                raise QprError(f"epoch {number}, step {step}: the loss is {loss}. Lower --learning-rate")
            total, seen = total + loss * len(batch), seen + len(batch)
            on_step(done, steps * settings.epochs, loss)
        seconds = time.perf_counter() - started
        epochs.append(Epoch(number, total / seen, None, seconds, seen / seconds))
        on_epoch(epochs[-1])
    return epochs


def _learn(
    network: Network,
    optimizers: list[torch.optim.Optimizer],
    questions: Inputs,
    taught: npt.NDArray[np.float32],
    *,
    scale: float,
    rate: float,
) -> float:
    """Do a step at this learning rate and return its loss."""
    vectors = network.train()(questions)
    loss = similarity_loss(vectors, torch.from_numpy(taught.astype(np.float32)).to(vectors), scale=scale)
    for optimizer in optimizers:
        optimizer.zero_grad()
        for group in optimizer.param_groups:
            group["lr"] = rate
    loss.backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()
