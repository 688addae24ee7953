"""Questions to vectors with numpy alone: what workers, the search and the server use.

texts -> key -> token ids -> Encoder.encode -> float32 matrix
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.saved import ModelParts, Weights, load_parts
from model.vocabulary import TokenIds, Vocabulary
from schemas.columns import key_all

Matrix = npt.NDArray[np.float32]

CHUNK = 16_384
"""Questions whose distinct tokens are projected together: 94 MB of tables at the paper's sizes."""

_BLOCK_BYTES = 400_000  # two buffers of this size stay in a core's 1 MB second-level cache


@dataclasses.dataclass(frozen=True)
class Encoder:
    """A trained question encoder; pickles, so that it can travel to workers.

    Attributes:
        digest: the digest of the model it was loaded from.
        vocabulary: its words.
        windows: widths of its convolution, in tokens.
        weights: its weights by name, float32.
    """

    digest: str
    vocabulary: Vocabulary
    windows: tuple[int, ...]
    weights: Weights

    @property
    def dimension(self) -> int:
        """Return how many numbers a question's vector has."""
        return len(self.weights["projection.bias"])

    def encode(self, texts: pa.Array | pa.ChunkedArray | Sequence[str]) -> Matrix:
        """Return one vector a question text as it was asked, (len(texts), dimension) float32.

        A question's vector does not depend on the others. A text without a word is a window of nothing.
        """
        array = pa.array(texts, pa.string()) if not isinstance(texts, pa.Array | pa.ChunkedArray) else texts
        whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        vectors = np.empty((len(whole), self.dimension), np.float32)
        for start in range(0, len(whole), CHUNK):
            tokens = self.vocabulary.ids(key_all(whole.slice(start, CHUNK)))
            vectors[start : start + CHUNK] = self.encode_tokens(tokens)
        return vectors

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
        return pooled @ self.weights["projection.weight"].T + self.weights["projection.bias"]


def load_encoder(url: str) -> Encoder:
    """Load the encoder of the model at an fsspec URL.

    Raises:
        QprError: there is no complete model, or it is damaged.
    """
    return encoder_of(load_parts(url))


def encoder_of(parts: ModelParts) -> Encoder:
    """Return the encoder that a model's parts describe."""
    return Encoder(parts.manifest.digest, parts.vocabulary, parts.config.shape.windows, parts.weights)


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


def rectangles(tokens: TokenIds, *, most_tokens: int) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]]:
    """Yield question numbers and their ids as a matrix, equal lengths together, about ``most_tokens`` at a time."""
    order = np.argsort(tokens.lengths, kind="stable")
    lengths = tokens.lengths[order]
    starts = np.flatnonzero(np.diff(lengths, prepend=-1))
    for start, end in itertools.pairwise([*starts, len(order)]):
        length = int(lengths[start])
        step = max(most_tokens // max(length, 1), 1)
        for first in range(start, end, step):
            questions = order[first : min(first + step, end)]
            yield questions, tokens.ids[tokens.offsets[questions, None] + np.arange(length)]
