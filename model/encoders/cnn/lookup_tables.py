"""Lookup tables of a convolution: embeddings times kernels, multiplied once per token.

embeddings, kernel -> Projected.of(tokens) -> pool -> maximum over each question's windows
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from model.encoders.kernels.dispatch import compiled, spelled
from model.encoders.kernels.equal_lengths import rectangles
from model.encoders.kernels.matrix_products import ExactWeights
from model.text.vocabulary import TokenIds
from schemas.arrays import Int32s, Matrix

_TOKENS = 32
"""Tokens multiplied together: 0.3 ms at the paper's sizes, 11 µs a token where a whole table takes 9."""

_BLOCK_BYTES = 400_000  # two buffers of this size stay in a core's 1 MB second-level cache


class Projected:
    """The rows of ``E W_k`` for every token and every place k of a window, made when a token first occurs.

    A convolution over embeddings is a sum of look-ups in them: ``conv(E[t])_i = sum_k (E W_k)[t_(i+k)]``. Tokens are
    multiplied in blocks. Memory that no token needed yet is not touched.

    Args:
        embeddings: (tokens, inputs).
        kernel: (inputs, width * channels).
        width: tokens a window.
        half: keep rows at half precision, in half the memory.
    """

    def __init__(self, embeddings: Matrix, kernel: Matrix, *, width: int, half: bool = False) -> None:
        tokens, self.width, self.channels = len(embeddings), width, kernel.shape[1] // width
        self.rows = np.zeros((tokens + 1, width, self.channels), np.float16 if half else np.float32)
        self._embeddings, self._kernel = embeddings, ExactWeights.of(kernel)
        self._made = np.zeros(-(-tokens // _TOKENS), bool)
        self._lock = threading.Lock()

    def pool(self, tokens: TokenIds) -> Matrix:
        """Return the maximum over each question's windows, (questions, channels), without bias and tanh."""
        self._make(tokens.ids)
        if (loops := compiled()) is None:
            return pool(tokens, self.rows)
        pooled = np.empty((len(tokens), self.channels), np.float32)
        loops.pool_windows(tokens.ids, tokens.offsets, spelled(self.rows), pooled)
        return pooled

    def _make(self, ids: Int32s) -> None:
        needed = np.zeros(len(self._made), bool)
        needed[ids // _TOKENS] = True
        with self._lock:
            for block in np.flatnonzero(needed & ~self._made):
                part = slice(block * _TOKENS, min((block + 1) * _TOKENS, len(self._embeddings)))
                product = self._kernel.times(self._embeddings[part])
                self.rows[part] = product.reshape(-1, self.width, self.channels)
                self._made[block] = True


def pool(tokens: TokenIds, rows: npt.NDArray[Any]) -> Matrix:
    """Return the maximum over each question's windows, before bias and tanh, which keep the order.

    Questions of one length are a rectangle, so nothing is padded and no mask is needed.

    Args:
        tokens: ids below the last row, which is zero: it stands for the places before and after a question.
        rows: (tokens + 1, width, channels).

    Returns:
        (questions, channels) float32.
    """
    count, width, channels = rows.shape
    flat = rows.reshape(count * width, channels)
    pooled = np.empty((len(tokens), channels), np.float32)
    for questions, ids in rectangles(tokens, max_tokens=max(_BLOCK_BYTES // (4 * channels), 1)):
        length = max(ids.shape[1], 1)  # an empty question has one window, of nothing
        padded = np.full((len(ids), length + width - 1), count - 1, np.intp)
        left = (width - 1) // 2
        padded[:, left : left + ids.shape[1]] = ids
        padded *= width
        sums = flat.take(padded[:, :length].ravel(), axis=0).astype(np.float32, copy=False)
        part = np.empty(sums.shape, rows.dtype)
        for place in range(1, width):
            flat.take((padded[:, place : place + length] + place).ravel(), axis=0, out=part, mode="clip")
            sums += part
        pooled[questions] = sums.reshape(len(ids), length, channels).max(axis=1)
    return pooled
