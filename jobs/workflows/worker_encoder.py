"""An encoder that travels to Beam's workers as an address, and is loaded there once a process.

model URL and digest -> WorkerEncoder -> Encoder
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pyarrow as pa

from model.encoders.interface import Encoder
from model.encoders.registry import digest_of, load_encoder
from schemas.errors import QprError


@dataclasses.dataclass(frozen=True)
class WorkerEncoder:
    """The model that a run began with.

    Attributes:
        url: the model's folder, readable by every worker.
        digest: its digest when the run began.
    """

    url: str
    digest: str

    @classmethod
    def of(cls, url: str) -> WorkerEncoder:
        """Return the model that is at ``url`` now.

        Raises:
            QprError: there is none.
        """
        return cls(url, digest_of(url))

    def load(self) -> Encoder:
        """Return the encoder.

        Raises:
            QprError: it is not the one the run began with.
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
