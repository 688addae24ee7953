"""The networks that can be trained, one interface: question keys become inputs, inputs become vectors.

settings, vocabulary -> network_of -> Network.read(keys) -> Network(inputs) -> vectors
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

from model.encoder import QuestionEncoder
from model.learning.device_tokens import DeviceTokens
from model.learning.mapped_tokens import bags, token_ids
from model.saved import Weights
from model.settings import EncoderSettings, Shape, StaticSettings, SubwordSettings, TrainingSettings
from model.static_rows import StaticRows, read_static
from model.subword_encoder import SubwordEncoder
from model.subwords import Bags, Subwords
from model.vocabulary import Vocabulary


class Inputs(Protocol):
    """Questions as a network reads them."""

    def __len__(self) -> int:
        """Return how many."""

    def take(self, rows: npt.NDArray[np.integer], /) -> Inputs:
        """Return these questions in this order; a row may repeat."""


class Network(nn.Module, abc.ABC):
    """A network with an embedding that learns sparsely, and what makes its inputs."""

    body: QuestionEncoder | SubwordEncoder

    generator: torch.Generator | None = None
    """What draws numbers while it learns."""

    @abc.abstractmethod
    def read(self, keys: pa.Array) -> Inputs:
        """Return the inputs of question keys, once for all epochs."""

    def optimizers(self, *, learning_rate: float) -> list[torch.optim.Optimizer]:
        """Return what moves the weights: lazy Adam for the embedding, Adam for the rest.

        A step of the subword encoder, 262,144 rows, takes 62 ms of CPU so and 86 ms with dense gradients and dense
        fused Adam; for the convolution's 34,000 rows there is no difference (`benchmarks/training.py`).
        """
        embedding = self.body.embedding.weight
        others = [weight for weight in self.body.parameters() if weight is not embedding]
        sparse = torch.optim.SparseAdam([embedding], lr=learning_rate)
        return [sparse, torch.optim.Adam(others, lr=learning_rate, fused=True)] if others else [sparse]

    @torch.no_grad()
    def encode_all(self, inputs: Inputs) -> npt.NDArray[np.float32]:
        """Return the vectors of many questions, (questions, dimension), in parts that fit in memory."""
        self.eval()
        return np.concatenate([self(inputs.take(rows)).cpu().numpy() for rows in _slices(len(inputs), size=4096)])


class CnnNetwork(Network):
    """The convolutional encoder over token ids."""

    def __init__(self, vocabulary: Vocabulary, shape: EncoderSettings) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.body = QuestionEncoder(len(vocabulary), shape)

    def read(self, keys: pa.Array) -> DeviceTokens:
        """Return the token ids of question keys, where the weights are."""
        return DeviceTokens.of(token_ids(self.vocabulary, keys), self.body.embedding.weight.device)

    def forward(self, inputs: DeviceTokens) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs.ids, inputs.offsets)
        return vectors


class SubwordNetwork(Network):
    """The subword encoder over bags."""

    def __init__(self, vocabulary: Vocabulary, shape: SubwordSettings, *, dropout: float, seed: int) -> None:
        super().__init__()
        start = _published(shape) if isinstance(shape, StaticSettings) else None
        self.subwords = Subwords.of(vocabulary, shape, start.pieces if start else None)
        self.generator = torch.Generator().manual_seed(seed)
        self.body = SubwordEncoder(len(self.subwords), shape, dropout=dropout, generator=self.generator)
        if start:
            self.body.begin_with(torch.from_numpy(start.rows.astype(np.float32)[:, : shape.dimension]))

    def read(self, keys: pa.Array) -> Bags:
        """Return the bags of question keys."""
        return bags(self.subwords, keys)

    def forward(self, inputs: Bags) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs)
        return vectors


def network_of(vocabulary: Vocabulary, shape: Shape, settings: TrainingSettings) -> Network:
    """Return an untrained network; equal arguments give equal weights, and the global random state stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        if isinstance(shape, SubwordSettings):
            return SubwordNetwork(vocabulary, shape, dropout=settings.dropout, seed=settings.seed)
        return CnnNetwork(vocabulary, shape)


def _published(shape: StaticSettings) -> StaticRows:
    """Return the tokens that a static encoder begins with, those whose digest its shape tells."""
    return read_static(shape.static_from, digest=shape.static_digest)


def weights_of(body: nn.Module) -> Weights:
    """Return a copy of all weights by name."""
    return {name: weight.detach().cpu().numpy().copy() for name, weight in body.named_parameters()}


def _slices(count: int, *, size: int) -> Iterator[npt.NDArray[np.int64]]:
    return (np.arange(start, min(start + size, count)) for start in range(0, count, size))
