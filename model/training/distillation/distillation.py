"""Objective of distillation: an encoder learns the vectors of another one, without pairs.

questions, a teacher's vectors -> targets_of, turn_to -> DistillationObjective
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from model.distances import unit
from model.encoders.network import Network
from model.training.batching import batches
from model.training.distillation.teacher_embeddings import check_vectors
from model.training.failures import quoted, worst_row
from model.training.objective import Objective
from model.training.settings import TrainingSettings
from schemas.arrays import Int64s, Matrix
from schemas.errors import QprError
from schemas.quantities import counted

_SAMPLE = 131_072
"""Maximum number of questions from which the principal directions and the turn of the first weights are found."""

_RIDGE = 10.0
"""Added to the squares of the first vectors, so that a direction few questions have is not blown up."""


@threadpool_limits.wrap(limits=1, user_api="blas")
def targets_of(taught: Matrix, dimension: int) -> Matrix:
    """Return vectors of ``dimension`` numbers and length 1 whose cosines are nearest to those of the teacher.

    They are projected on the directions in which their sum of squares is greatest; 256 of MiniLM's 384 keep 95 % of
    it. A shorter vector of the teacher is filled up with zeros. The largest number of a direction is positive.
    One thread multiplies: on processors without AVX-512 a product's bits depend on the number of threads.

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
    first, second = vectors.astype(np.float64), targets.astype(np.float64)
    squares = first.T @ first + _RIDGE * np.eye(first.shape[1])
    return np.asarray(np.linalg.solve(squares, first.T @ second), np.float32)


def cosine_loss(vectors: Tensor, targets: Tensor) -> Tensor:
    """Return how far vectors are from targets of length 1: the mean of 1 less the cosine, 0 at best.

    Args:
        vectors: (N, D), of the encoder that learns.
        targets: (N, D), of its teacher.

    Raises:
        ValueError: the shapes differ, or are not those of two matrices.
    """
    if vectors.shape != targets.shape or vectors.ndim != 2:
        raise ValueError(f"need two (N, D) matrices, got {tuple(vectors.shape)} and {tuple(targets.shape)}")
    return 1 - (unit(vectors) * targets).sum(dim=1).mean()


class DistillationObjective(Objective):
    """Vectors of a network in the directions of a teacher's.

    Published tokens are turned to the teacher's directions first.

    Args:
        network: learns, on its device.
        texts: (questions,) strings.
        taught: (questions, E), the teacher's vectors of them.
        settings: its epochs, batch size, learning rate and decay, and seed count; a batch larger than the data is
            reduced.

    Raises:
        QprError: there are too few questions, or the teacher's vectors are unusable.
    """

    unit = "question"

    def __init__(self, network: Network, texts: pa.Array, taught: Matrix, settings: TrainingSettings) -> None:
        if len(texts) < 2:
            raise QprError(f"{counted(len(texts), 'question')}: a teacher needs at least 2. Give a dataset with more")
        check_vectors(taught)
        self.network: Network = network
        self._texts, self._inputs = texts, network.read(texts)
        self.settings = settings.model_copy(update={"batch_size": min(settings.batch_size, len(texts))})
        dimension = network.encode_all(self._inputs.take(np.arange(1))).shape[1]
        self._targets = targets_of(taught, dimension)
        self._sides: tuple[Tensor, Tensor] | None = None
        if network.turnable:
            some = np.arange(0, len(texts), -(-len(texts) // _SAMPLE))
            first = network.encode_all(self._inputs.take(some))
            network.turn(torch.from_numpy(turn_to(first, self._targets[some])))

    def batches(self, epoch: int) -> Iterator[Int64s]:
        """Yield the numbers of the questions of every step of an epoch."""
        return batches(len(self._texts), size=self.settings.batch_size, seed=self.settings.seed, epoch=epoch)

    def add_gradients(self, batch: Int64s) -> float:
        """Add the gradients of a batch's loss to those of the weights; return the loss."""
        vectors = self.network(self._inputs.take(batch))
        self._sides = vectors.detach(), torch.from_numpy(self._targets[batch]).to(vectors)
        loss = cosine_loss(vectors, self._sides[1])
        loss.backward()  # type: ignore[no-untyped-call]  # of PyTorch
        return loss.item()

    def describe(self, batch: Int64s) -> str:
        """Return the size of a batch and the question whose vector is not finite, or else farthest from its target."""
        row, _ = worst_row(self._sides, len(batch))
        return f"{super().describe(batch)} the worst is {quoted(self._texts[int(batch[row])].as_py())}"
