"""Interface of the networks that can be trained.

texts -> Network.read -> inputs -> Network(inputs) -> vectors
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor, nn

from model.encoders.interface import Weights
from schemas.arrays import Float32s, Int64s

_BATCH = 4_096
"""Questions whose vectors are computed at once."""


class Inputs(Protocol):
    """Questions as a network reads them."""

    def __len__(self) -> int:
        """Return the number of questions."""

    def take(self, rows: npt.NDArray[np.integer], /) -> Inputs:
        """Return these questions in this order; a row may repeat."""


class Network(nn.Module, abc.ABC):
    """A network that learns, and the reader of its inputs."""

    body: nn.Module

    stored_as: type[np.floating] = np.float32
    """Type of the weights in a model, that of the kind of encoder."""

    generator: torch.Generator | None = None
    """Source of random numbers while it learns."""

    turnable = False
    """Its first vectors have directions of their own, which `turn` can bring to a teacher's."""

    @abc.abstractmethod
    def read(self, texts: pa.Array) -> Inputs:
        """Return the inputs of questions as they were asked, once for all epochs."""

    def turn(self, matrix: Tensor) -> None:
        """Multiply every question's vector, before it is brought to length 1, by a (D, D) matrix, if `turnable`."""
        raise NotImplementedError

    def optimizers(self, *, learning_rate: float) -> list[torch.optim.Optimizer]:
        """Return the optimizers of the weights: lazy Adam for an embedding with sparse gradients, Adam for the rest.

        A step of the subword encoder, 262,144 rows, takes 62 ms of CPU so and 86 ms with dense gradients and dense
        fused Adam; for the convolution's 34,000 rows there is no difference (`benchmarks.training.steps convolution`).
        """
        tables = [part.weight for part in self.body.modules() if isinstance(part, nn.Embedding) and part.sparse]
        dense = [weight for weight in self.body.parameters() if all(weight is not table for table in tables)]
        lazy = [torch.optim.SparseAdam(tables, lr=learning_rate)] if tables else []
        return [*lazy, torch.optim.Adam(dense, lr=learning_rate, fused=True)] if dense else [*lazy]

    @torch.no_grad()
    def encode_all(self, inputs: Inputs) -> Float32s:
        """Return the vectors of many questions, (questions, dimension), in parts that fit in memory."""
        self.eval()
        return np.concatenate([self(inputs.take(rows)).cpu().numpy() for rows in _slices(len(inputs))])


def weights_of(body: nn.Module) -> Weights:
    """Return a copy of all weights by name: `Tensor.numpy` shares their memory, which later steps change."""
    return {name: weight.detach().cpu().numpy().copy() for name, weight in body.named_parameters()}


def _slices(count: int) -> Iterator[Int64s]:
    return (np.arange(start, min(start + _BATCH, count)) for start in range(0, count, _BATCH))
