"""The convolutional encoder with numpy alone.

keys -> token ids -> tables of projected tokens -> windows summed -> maximum -> float32 matrix
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from model.encoding import Encoder, Matrix
from model.rectangles import rectangles
from model.saved import Weights
from model.vocabulary import TokenIds, Vocabulary

_BLOCK_BYTES = 400_000  # two buffers of this size stay in a core's 1 MB second-level cache


@dataclasses.dataclass(frozen=True)
class CnnEncoder(Encoder):
    """A trained convolutional encoder.

    Attributes:
        vocabulary: its words.
        windows: widths of its convolution, in tokens.
        weights: its weights by name, float32.
    """

    vocabulary: Vocabulary
    windows: tuple[int, ...]
    weights: Weights

    @property
    def dimension(self) -> int:
        """Return how many numbers a question's vector has."""
        return len(self.weights["projection.bias"])

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key; a key without a word is a window of nothing."""
        return self.encode_tokens(self.vocabulary.ids(keys))

    def encode_tokens(self, tokens: TokenIds) -> Matrix:
        """Return one vector a question; its memory grows with the number of distinct tokens."""
        distinct, local = np.unique(tokens.ids, return_inverse=True)
        embeddings = self.weights["embedding.weight"][distinct]
        local_tokens = TokenIds(local.astype(np.int32), tokens.offsets)
        kernels = [self.weights[f"kernels.{number}"] for number in range(len(self.windows))]
        pooled = np.hstack(
            [
                pool(local_tokens, tables(embeddings, kernel, width=width))
                for width, kernel in zip(self.windows, kernels, strict=True)
            ]
        )
        pooled += self.weights["bias"]
        np.tanh(pooled, out=pooled)
        vectors: Matrix = pooled @ self.weights["projection.weight"].T + self.weights["projection.bias"]
        return vectors


def tables(embeddings: Matrix, kernel: Matrix, *, width: int) -> Matrix:
    """Return what each token adds to a window, for each place in it: (width, tokens + 1, channels).

    A convolution over embeddings is a sum of look-ups in these: ``conv(E[t])_i = sum_k (E W_k)[t_(i+k)]``. The last row
    is zero: it stands for the places before and after a question.
    """
    channels = kernel.shape[1] // width
    projected = np.zeros((width, len(embeddings) + 1, channels), np.float32)
    for place in range(width):
        np.matmul(embeddings, kernel[:, place * channels : (place + 1) * channels], out=projected[place, :-1])
    return projected


def pool(tokens: TokenIds, projected: Matrix) -> Matrix:
    """Return the maximum over each question's windows, before bias and tanh, which keep the order.

    Questions of one length are a rectangle, so nothing is padded and no mask is needed.

    Args:
        tokens: ids index the second axis of ``projected``.
        projected: what `tables` returns.

    Returns:
        (questions, channels).
    """
    width, rows, channels = projected.shape
    pooled = np.empty((len(tokens), channels), np.float32)
    for questions, ids in rectangles(tokens, most_tokens=max(_BLOCK_BYTES // (4 * channels), 1)):
        length = max(ids.shape[1], 1)  # an empty question has one window, of nothing
        padded = np.full((len(ids), length + width - 1), rows - 1, np.intp)
        left = (width - 1) // 2
        padded[:, left : left + ids.shape[1]] = ids
        sums = projected[0].take(padded[:, :length].ravel(), axis=0)
        part = np.empty_like(sums)
        for place in range(1, width):
            projected[place].take(padded[:, place : place + length].ravel(), axis=0, out=part, mode="clip")
            sums += part
        pooled[questions] = sums.reshape(len(ids), length, channels).max(axis=1)
    return pooled
