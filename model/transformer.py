"""Encoders of sentence-transformers, as teachers and to compare with: ``st:<folder>`` in place of a model's URL.

st:<folder> -> TransformerEncoder -> encode(texts) -> float32 matrix
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from model.encoding import Encoder, Matrix
from schemas.errors import QprError

PREFIX = "st:"
"""Begins the address of such an encoder."""

_BATCH = 64


@dataclasses.dataclass(frozen=True)
class TransformerEncoder(Encoder):
    """A sentence-transformers model in a folder; it reads texts as they were asked, and its vectors have length 1.

    Vectors are computed in padded batches, so their last digits depend on what is encoded together.

    Attributes:
        folder: the one that holds ``modules.json``.
    """

    folder: str

    @property
    def dimension(self) -> int:
        """Return how many numbers a question's vector has."""
        return int(self._model.get_embedding_dimension())

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key."""
        return self.encode(keys)

    def encode(self, texts: pa.Array | pa.ChunkedArray | Sequence[str], *, threads: int = 1) -> Matrix:  # noqa: ARG002
        """Return one vector a question text, (len(texts), dimension); PyTorch takes the threads it wants."""
        listed = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else list(texts)
        if not listed:
            return np.empty((0, self.dimension), np.float32)
        strings = [text or "" for text in listed]
        vectors = self._model.encode(strings, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    @functools.cached_property
    def _model(self) -> Any:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # standard error belongs to the command
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise QprError(f"{PREFIX}{self.folder} needs a package: {error}. pip install '.[transformers]'") from error
        safe = {"use_safetensors": True}  # a pickle of weights could run code
        try:
            return SentenceTransformer(self.folder, local_files_only=True, model_kwargs=safe)
        except Exception as error:
            raise QprError(f"{PREFIX}{self.folder}: cannot be loaded: {str(error).partition(chr(10))[0]}") from error


def is_transformer(url: str) -> bool:
    """Tell whether a model's URL is the address of such an encoder."""
    return url.startswith(PREFIX)


def load_transformer(url: str) -> TransformerEncoder:
    """Return the encoder at ``st:<folder>``; its weights are read when they are needed.

    Raises:
        QprError: there is no such folder.
    """
    return TransformerEncoder(transformer_digest(url), url.removeprefix(PREFIX))


def transformer_digest(url: str) -> str:
    """Return the sha256 of the names and contents of all files in the folder of ``st:<folder>``.

    Raises:
        QprError: there is no such folder, or it holds no model of sentence-transformers.
    """
    folder = Path(url.removeprefix(PREFIX))
    if not (folder / "modules.json").is_file():
        raise QprError(f"{url}: no modules.json in {folder}. Give the folder of a sentence-transformers model")
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(
            f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return digest.hexdigest()
