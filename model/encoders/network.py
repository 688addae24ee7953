"""The networks that can be trained, one interface: questions as they were asked become inputs, inputs become vectors.

settings, vocabulary -> network_of -> Network.read(texts) -> Network(inputs) -> vectors
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

from model.encoders.cnn.network import QuestionEncoder
from model.encoders.config import EncoderSettings, Shape, StaticSettings, SubwordSettings, TransformerSettings
from model.encoders.device_tokens import DeviceTokens
from model.encoders.saved_model import Weights, weight_type
from model.encoders.subword.network import SubwordEncoder
from model.encoders.subword.pretrained_tokens import StaticRows, read_static
from model.encoders.subword.row_ids import Bags, Subwords
from model.encoders.token_store import bags, collected, token_ids
from model.encoders.transformer.body import TransformerBody
from model.encoders.transformer.checkpoint_folder import first_sentences
from model.text.vocabulary import Vocabulary, slices
from schemas.text_arrays import key_all

MANY_ROWS = 10_000
"""Rows of a table from which on its gradient is sparse."""


class Inputs(Protocol):
    """Questions as a network reads them."""

    def __len__(self) -> int:
        """Return how many."""

    def take(self, rows: npt.NDArray[np.integer], /) -> Inputs:
        """Return these questions in this order; a row may repeat."""


class Network(nn.Module, abc.ABC):
    """A network that learns, and what makes its inputs."""

    body: nn.Module

    stored_as: type[np.floating] = np.float32
    """The type of the weights in a model, from `model.encoders.saved_model.weight_type`."""

    generator: torch.Generator | None = None
    """What draws numbers while it learns."""

    @abc.abstractmethod
    def read(self, texts: pa.Array) -> Inputs:
        """Return the inputs of questions as they were asked, once for all epochs."""

    def optimizers(self, *, learning_rate: float) -> list[torch.optim.Optimizer]:
        """Return what moves the weights: lazy Adam for an embedding with sparse gradients, Adam for the rest.

        A step of the subword encoder, 262,144 rows, takes 62 ms of CPU so and 86 ms with dense gradients and dense
        fused Adam; for the convolution's 34,000 rows there is no difference (`benchmarks.training.steps convolution`).
        """
        tables = [part.weight for part in self.body.modules() if isinstance(part, nn.Embedding) and part.sparse]
        others = [weight for weight in self.body.parameters() if all(weight is not table for table in tables)]
        lazy = [torch.optim.SparseAdam(tables, lr=learning_rate)] if tables else []
        return [*lazy, torch.optim.Adam(others, lr=learning_rate, fused=True)] if others else [*lazy]

    @torch.no_grad()
    def encode_all(self, inputs: Inputs) -> npt.NDArray[np.float32]:
        """Return the vectors of many questions, (questions, dimension), in parts that fit in memory."""
        self.eval()
        return np.concatenate([self(inputs.take(rows)).cpu().numpy() for rows in _slices(len(inputs), size=4096)])


class CnnNetwork(Network):
    """The convolutional encoder over token ids."""

    body: QuestionEncoder

    def __init__(self, vocabulary: Vocabulary, shape: EncoderSettings) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.body = QuestionEncoder(len(vocabulary), shape)

    def read(self, texts: pa.Array) -> DeviceTokens:
        """Return the token ids of questions, where the weights are."""
        return DeviceTokens.of(token_ids(self.vocabulary, key_all(texts)), self.body.embedding.weight.device)

    def forward(self, inputs: DeviceTokens) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs.ids, inputs.offsets)
        return vectors


class SubwordNetwork(Network):
    """The subword encoder over bags."""

    body: SubwordEncoder

    def __init__(self, vocabulary: Vocabulary, shape: SubwordSettings, *, dropout: float, seed: int) -> None:
        super().__init__()
        start = _published(shape) if isinstance(shape, StaticSettings) else None
        self.stored_as = weight_type(shape)
        self.subwords = Subwords.of(vocabulary, shape, start.pieces if start else None)
        self.generator = torch.Generator().manual_seed(seed)
        self.body = SubwordEncoder(len(self.subwords), shape, dropout=dropout, generator=self.generator)
        with torch.no_grad():  # a pair of words adds nothing until it has learned to
            self.body.embedding.weight[self.subwords.rows_of_pairs] = 0
        if start:
            self.body.begin_with(torch.from_numpy(start.rows.astype(np.float32)[:, : shape.dimension]))

    def read(self, texts: pa.Array) -> Bags:
        """Return the bags of questions."""
        return bags(self.subwords, key_all(texts))

    @torch.no_grad()
    def turn(self, matrix: Tensor) -> None:
        """Multiply all rows, and so every question's vector before it is brought to length 1, by a (D, D) matrix."""
        rows = self.body.embedding.weight
        rows.copy_(rows @ matrix.to(rows))

    def forward(self, inputs: Bags) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs)
        return vectors


class TransformerNetwork(Network):
    """A transformer that others trained, over the tokens of questions as they were asked.

    It stays as it is for encoding while it learns: dropout is off, so a step is repeated bit for bit, and a batch in
    chunks has the gradients of the whole batch. On a processor attention is products of matrices: the backward pass of
    PyTorch's fused one takes 5 to 10 times as long at half precision there. A batch has 17 groups of one length, each
    with a gradient for every row of the table of tokens if that was dense.
    """

    body: TransformerBody

    def __init__(self, shape: TransformerSettings) -> None:
        super().__init__()
        options = {} if torch.cuda.is_available() else {"attn_implementation": "eager"}
        self.body = TransformerBody(first_sentences(shape, **options).float())
        for part in self.body.modules():
            if isinstance(part, nn.Embedding) and part.num_embeddings >= MANY_ROWS:
                part.sparse = True

    def read(self, texts: pa.Array) -> DeviceTokens:
        """Return the token ids of questions, where the weights are."""
        tokens = collected(self.body.tokens(part.to_pylist()) for part in slices(texts))
        return DeviceTokens.of(tokens, next(self.parameters()).device)

    def train(self, mode: bool = True) -> TransformerNetwork:  # noqa: ARG002
        """Stay as for encoding."""
        return super().train(False)

    def forward(self, inputs: DeviceTokens) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs.ids, inputs.offsets)
        return vectors


def network_of(vocabulary: Vocabulary, shape: Shape, *, dropout: float = 0.0, seed: int = 0) -> Network:
    """Return an untrained network; equal arguments give equal weights, and the global random state stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(shape, SubwordSettings):
            return SubwordNetwork(vocabulary, shape, dropout=dropout, seed=seed)
        if isinstance(shape, TransformerSettings):
            return TransformerNetwork(shape)
        return CnnNetwork(vocabulary, shape)


def _published(shape: StaticSettings) -> StaticRows:
    """Return the tokens that a static encoder begins with, those whose digest its shape tells."""
    return read_static(shape.static_from, digest=shape.static_digest)


def weights_of(body: nn.Module) -> Weights:
    """Return a copy of all weights by name."""
    return {name: weight.detach().cpu().numpy().copy() for name, weight in body.named_parameters()}


def _slices(count: int, *, size: int) -> Iterator[npt.NDArray[np.int64]]:
    return (np.arange(start, min(start + size, count)) for start in range(0, count, size))
