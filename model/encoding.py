"""What every trained encoder offers: texts in, vectors out.

texts -> keys, a chunk at a time -> Encoder.encode_keys -> float32 matrix
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from schemas.columns import key_all

Matrix = npt.NDArray[np.float32]

CHUNK = 16_384
"""Questions whose distinct words are looked up together: 94 MB of tables at the paper's sizes."""


@dataclasses.dataclass(frozen=True)
class Encoder(abc.ABC):
    """A trained question encoder; pickles, so that it can travel to workers.

    Attributes:
        digest: the digest of the model it was loaded from.
    """

    digest: str

    @property
    @abc.abstractmethod
    def dimension(self) -> int:
        """Return how many numbers a question's vector has."""

    @abc.abstractmethod
    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key; its memory grows with the number of distinct words."""

    def encode(self, texts: pa.Array | pa.ChunkedArray | Sequence[str]) -> Matrix:
        """Return one vector a question text as it was asked, (len(texts), dimension) float32.

        A question's vector does not depend on the others. A null is an empty text.
        """
        array = pa.array(texts, pa.string()) if not isinstance(texts, pa.Array | pa.ChunkedArray) else texts
        whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        vectors = np.empty((len(whole), self.dimension), np.float32)
        for start in range(0, len(whole), CHUNK):
            vectors[start : start + CHUNK] = self.encode_keys(key_all(whole.slice(start, CHUNK)))
        return vectors
