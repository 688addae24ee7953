"""The network that turns a question into a vector, to be trained.

ragged token ids -> unique tokens projected once -> windows summed -> maximum -> tanh -> projection -> vectors
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import Tensor, nn

from model.encoders.cnn.settings import CnnSettings
from model.encoders.device_tokens import DeviceTokens
from model.encoders.network import Network
from model.encoders.token_store import token_ids
from model.text.vocabulary import Vocabulary
from schemas.text_arrays import key_all


class QuestionEncoder(nn.Module):
    """Embeddings, convolution, tanh, maximum over the question, linear projection (Bonadiman et al. 2019, 2.1.1).

    A window is centred on every token; places beyond the question add nothing, and no window is centred there. An empty
    question has one window, of nothing. A convolution over embeddings is a sum of look-ups, ``conv(E[t])_i = sum_k
    (E W_k)[t_(i+k)]``, so every distinct token of a batch is multiplied once; and tanh keeps the order, so it follows
    the maximum. The embedding's gradient is sparse: only the batch's tokens have one.

    Args:
        tokens: number of token ids.
        settings: the dimensions; weights are float32 and named as in `model.encoders.cnn.kind.CnnKind.weights`.

    Shape:
        ids: (T,) integers below ``tokens``, the questions one after the other.
        offsets: (N + 1,) int64, question i is ``ids[offsets[i]:offsets[i + 1]]``.
        output: (N, settings.dimension).
    """

    def __init__(self, tokens: int, settings: CnnSettings) -> None:
        super().__init__()
        inputs, channels = settings.embedding_dimension, settings.channels
        self.windows = settings.windows
        self.embedding = nn.Embedding(tokens, inputs, sparse=True)
        self.kernels = nn.ParameterList(nn.Parameter(torch.empty(inputs, w * channels)) for w in self.windows)
        self.bias = nn.Parameter(torch.empty(len(self.windows) * channels))
        self.projection = nn.Linear(len(self.windows) * channels, settings.dimension)
        self._reset()

    def forward(self, ids: Tensor, offsets: Tensor) -> Tensor:
        """Return the vectors of a batch of questions."""
        distinct, local = torch.unique(ids, return_inverse=True)
        embeddings = self.embedding(distinct)
        pooled = [
            _pool(embeddings @ kernel, local, offsets, width=width)
            for width, kernel in zip(self.windows, self.kernels, strict=True)
        ]
        vectors: Tensor = self.projection(torch.tanh(torch.cat(pooled, dim=1) + self.bias))
        return vectors

    @torch.no_grad()
    def _reset(self) -> None:
        nn.init.uniform_(self.embedding.weight, -1, 1)
        for width, kernel in zip(self.windows, self.kernels, strict=True):
            bound = (3 / (width * kernel.shape[0])) ** 0.5  # a full window then varies as much as one embedding
            nn.init.uniform_(kernel, -bound, bound)
        nn.init.zeros_(self.bias)


class CnnNetwork(Network):
    """The convolutional encoder over token ids."""

    body: QuestionEncoder

    def __init__(self, vocabulary: Vocabulary, shape: CnnSettings) -> None:
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


def _pool(projected: Tensor, local: Tensor, offsets: Tensor, *, width: int) -> Tensor:
    """Sum every window's look-ups and keep each question's maximum: (U, width * C) -> (N, C)."""
    rows, starts, question = window_rows(local, offsets, width=width)
    table = projected.view(len(projected) * width, projected.shape[1] // width)
    windows = F.embedding_bag(rows, table, starts, mode="sum")
    pooled: Tensor = _Maximum.apply(windows, question, len(offsets) - 1)  # type: ignore[no-untyped-call]
    return pooled


class _Maximum(torch.autograd.Function):
    """The largest window of each question, a channel at a time; equal largest ones share the gradient.

    It is ``scatter_reduce(..., "amax")`` with a backward pass in 8 ms instead of 20 at the paper's batch: that one
    counts every channel's ties, this one only if there are any.
    """

    @staticmethod
    def forward(context: Any, windows: Tensor, question: Tensor, questions: int) -> Tensor:
        lowest = windows.new_full((questions, windows.shape[1]), -torch.inf)
        pooled = lowest.scatter_reduce(0, question[:, None].expand_as(windows), windows, "amax")
        context.save_for_backward(windows, question, pooled)
        return pooled

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        windows, question, pooled = context.saved_tensors
        smaller = windows != pooled.index_select(0, question)
        if smaller.numel() - int(smaller.count_nonzero()) != pooled.numel():
            gradient = gradient / torch.zeros_like(pooled).index_add_(0, question, (~smaller).to(pooled.dtype))
        return gradient.index_select(0, question).masked_fill_(smaller, 0), None, None


def window_rows(local: Tensor, offsets: Tensor, *, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows of the projected tokens that every window of a batch sums.

    Row ``u * width + k`` is what token u adds at place k of a window.

    Returns:
        The rows of all windows one after the other, where each window's start in them, and its question.
    """
    lengths = offsets.diff()
    question = torch.repeat_interleave(lengths.clamp_min(1))  # an empty question keeps one window
    first_windows = F.pad(lengths.clamp_min(1).cumsum(0), (1, 0))[:-1]
    centre = torch.arange(len(question), device=local.device) - first_windows[question]
    places = torch.arange(width, device=local.device)
    within = centre[:, None] + places - (width - 1) // 2
    inside = (within >= 0) & (within < lengths[question, None])
    token = (offsets[question, None] + within)[inside]
    rows = local[token] * width + places.expand_as(within)[inside]
    starts = F.pad(inside.sum(dim=1).cumsum(0), (1, 0))[:-1]
    return rows, starts, question
