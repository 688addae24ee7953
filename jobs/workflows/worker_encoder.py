"""Encoder that travels to workers as an address and is loaded there, once per process.

model URL and digest -> WorkerEncoder -> Encoder
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
from pathlib import Path

import numpy as np
import pyarrow as pa

from model.encoders.interface import Encoder
from model.encoders.loading import digest_of, load_encoder
from model.encoders.subword.published import PREFIX as STATIC
from model.encoders.subword.settings import STATIC_FROM
from model.encoders.transformer.checkpoint_folder import MODULES
from model.encoders.transformer.checkpoint_folder import PREFIX as SENTENCES
from pipelines.linkage.settings import EncoderKind
from schemas.errors import QprError, how_to_install


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


def refining_encoder(given: str) -> tuple[WorkerEncoder, EncoderKind]:
    """Return the encoder of ``--refine-with`` and its kind, which selects the weights of the linkage.

    Args:
        given: ``static``, ``static:`` and a package or folder, ``st:`` and a folder, or the URL of a model.

    Raises:
        QprError: there is no such encoder, or a package that it needs is missing.
    """
    if given == "static" and importlib.util.find_spec(STATIC_FROM) is None:
        raise QprError(f"static needs the package {STATIC_FROM}. {how_to_install('static')}")
    url = f"{STATIC}{STATIC_FROM}" if given == "static" else given
    if (Path(given) / MODULES).is_file():
        raise QprError(f"{given}: a model of sentence-transformers. Write {SENTENCES}{given}")
    kind: EncoderKind = "static" if url.startswith(STATIC) else "st" if url.startswith(SENTENCES) else "model"
    return WorkerEncoder.of(url), kind


@functools.lru_cache(maxsize=1)  # one model for all bundles of a worker
def _load(url: str, digest: str) -> Encoder:
    encoder = load_encoder(url)
    if encoder.digest != digest:
        raise QprError(f"{url}: the model was replaced during the run. Start the run again")
    return encoder
