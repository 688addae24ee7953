"""Encoder that travels to workers as an address and is loaded there, once per process.

model URL and digest -> WorkerEncoder -> Encoder
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pyarrow as pa

from model.encoders.interface import Encoder
from model.encoders.loading import digest_of, load_encoder
from schemas.errors import QprError


@dataclasses.dataclass(frozen=True)
class WorkerEncoder:
    """A model at an address, fixed by its digest.

    Attributes:
        url: the model's folder, readable by every worker.
        digest: its digest at the start of the run.
    """

    url: str
    digest: str

    @classmethod
    def of(cls, url: str) -> WorkerEncoder:
        """Return the present model at ``url``.

        Raises:
            QprError: there is none.
        """
        return cls(url, digest_of(url))

    def load(self) -> Encoder:
        """Return the encoder.

        Raises:
            QprError: the model was replaced since the start of the run.
        """
        return _load(self.url, self.digest)

    def __call__(self, texts: pa.ChunkedArray) -> np.ndarray:
        """Return the texts' vectors, (n, d) float32."""
        return self.load().encode(texts)


@functools.lru_cache(maxsize=1)
def _load(url: str, digest: str) -> Encoder:
    encoder = load_encoder(url)
    if encoder.digest != digest:
        raise QprError(f"{url}: the model was replaced during the run. Start the run again")
    return encoder
