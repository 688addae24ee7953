"""The convolutional encoder with numpy alone.

keys -> token ids -> projected tokens looked up -> windows summed -> maximum -> float32 matrix
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pyarrow as pa

from model.encoders.cnn.lookup_tables import Projected
from model.encoders.interface import Encoder, Weights
from model.encoders.kernels.matrix_products import ExactWeights
from model.text.vocabulary import TokenIds, Vocabulary
from schemas.arrays import Matrix

_PIECE = 1_024
"""Questions whose maxima are projected together: they stay in a core's second-level cache."""


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class CnnEncoder(Encoder):
    """A trained convolutional encoder.

    Attributes:
        vocabulary: its words.
        windows: widths of its convolution, in tokens.
        weights: its weights by name, float32.
        half: look projected tokens up at half precision.
    """

    vocabulary: Vocabulary
    windows: tuple[int, ...]
    weights: Weights
    half: bool = False

    @property
    def dimension(self) -> int:
        """Return the length of a question's vector."""
        return len(self.weights["projection.bias"])

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key; a key without a word is a window of nothing."""
        return self.encode_tokens(self.vocabulary.ids(keys))

    def encode_tokens(self, tokens: TokenIds) -> Matrix:
        """Return one vector a question."""
        vectors = np.empty((len(tokens), self.dimension), np.float32)
        for start in range(0, len(tokens), _PIECE):
            pooled = self.pooled(tokens.slice(start, _PIECE))
            np.tanh(pooled, out=pooled)
            vectors[start : start + _PIECE] = self._projection.times(pooled) + self.weights["projection.bias"]
        return vectors

    def pooled(self, tokens: TokenIds) -> Matrix:
        """Return the convolution's maximum over each question, (questions, channels of all windows)."""
        pooled = np.hstack([projected.pool(tokens) for projected in self._projected])
        pooled += self.weights["bias"]
        return pooled

    def halved(self) -> CnnEncoder:
        """Return the encoder with its look-up tables at half precision."""
        return dataclasses.replace(self, half=True)

    @functools.cached_property
    def _projection(self) -> ExactWeights:
        return ExactWeights.of(self.weights["projection.weight"].T)

    @functools.cached_property
    def _projected(self) -> list[Projected]:
        embeddings = self.weights["embedding.weight"]
        return [
            Projected(embeddings, self.weights[f"kernels.{number}"], width=width, half=self.half)
            for number, width in enumerate(self.windows)
        ]
