"""The encoder of a saved model, without PyTorch except for transformers.

model URL -> load_encoder -> Encoder
"""

from __future__ import annotations

import os

from model.encoders.interface import Encoder
from model.encoders.registry import kind_of, kind_of_address
from model.encoders.saved_model import ModelParts, load_parts
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.paths import url_text
from schemas.artifacts.verified_files.files import VerifiedFiles


def load_encoder(url: str | os.PathLike[str], *, stored: VerifiedFiles | None = None) -> Encoder:
    """Load the encoder of the model at an fsspec URL.

    Args:
        url: the model's folder, or ``st:`` and the folder of a sentence-transformers model.
        stored: the files of a model's folder, as of `model.encoders.saved_model.load_parts`.

    Raises:
        QprError: there is no complete model, or it is damaged.
        UsageError: ``url`` is neither a str nor a path.
    """
    url = url_text(url)
    if kind := kind_of_address(url):
        return kind.open(url)
    return encoder_of(load_parts(url, stored), name=url)


def digest_of(url: str) -> str:
    """Return the digest that the encoder at ``url`` would have, without loading it.

    Raises:
        QprError: there is no complete model.
    """
    kind = kind_of_address(url)
    return kind.digest(url) if kind else read_manifest(url, "model").digest


def encoder_of(parts: ModelParts, *, name: str = "the model") -> Encoder:
    """Return the encoder that a model's parts describe; a message calls it ``name``."""
    return kind_of(parts.config.shape).encoder(parts.config.shape, parts, name=name)
