"""The encoder of a saved model, with numpy alone but for transformers: what workers, the search and the server use.

model URL -> load_encoder -> Encoder
"""

from __future__ import annotations

from model.encoders.cnn.inference import CnnEncoder
from model.encoders.config import SubwordSettings, TransformerSettings
from model.encoders.interface import Encoder
from model.encoders.saved_model import ModelParts, load_parts
from model.encoders.subword.inference import BagEncoder
from model.encoders.subword.row_ids import Subwords
from model.encoders.transformer.inference import (
    TransformerEncoder,
    is_transformer,
    load_transformer,
    transformer_digest,
)
from schemas.artifacts.manifest import read_manifest


def load_encoder(url: str, *, half: bool = False) -> Encoder:
    """Load the encoder of the model at an fsspec URL.

    Args:
        url: the model's folder, or ``st:`` and the folder of a sentence-transformers model.
        half: keep what is looked up at half precision where it is not yet: half the memory, vectors equal to 1e-3.

    Raises:
        QprError: there is no complete model, or it is damaged.
    """
    if is_transformer(url):
        return load_transformer(url)
    return encoder_of(load_parts(url), half=half, name=url)


def digest_of(url: str) -> str:
    """Return the digest that the encoder at ``url`` would have, without loading it.

    Raises:
        QprError: there is no complete model.
    """
    return transformer_digest(url) if is_transformer(url) else read_manifest(url, "model").digest


def encoder_of(parts: ModelParts, *, half: bool = False, name: str = "the model") -> Encoder:
    """Return the encoder that a model's parts describe, ``half`` as in `load_encoder`; a message calls it ``name``."""
    shape, digest = parts.config.shape, parts.manifest.digest
    if isinstance(shape, TransformerSettings):
        return TransformerEncoder(digest, name, parts.files)
    if isinstance(shape, SubwordSettings):
        subwords = Subwords.of(parts.vocabulary, shape, parts.pieces)
        return BagEncoder(digest, subwords, parts.weights["embedding.weight"], shape.ngram_weight)
    return CnnEncoder(digest, parts.vocabulary, shape.windows, parts.weights, half)
