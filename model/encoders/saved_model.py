"""The model artefact: what its files are called and how they are written and read.

config, vocabulary, weights, metrics -> save_model -> manifest -> load_parts -> ModelParts
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pydantic
import safetensors.numpy

from model.encoders.config import ModelConfig, Shape, StaticSettings, SubwordSettings, TransformerSettings
from model.encoders.finite_weights import first_not_finite
from model.encoders.subword.tokenizer import Pieces
from model.encoders.tensors import read_tensors
from model.encoders.transformer.checkpoint_folder import MODULES
from model.text.vocabulary import Vocabulary
from schemas.artifacts.manifest import REPORTS, Manifest, Source, first_fault, read_manifest, read_verified
from schemas.errors import QprError

if TYPE_CHECKING:
    from schemas.artifacts.writer import Output

Weights = dict[str, npt.NDArray[Any]]

CONFIG = "config.json"
VOCABULARY = "vocabulary.txt"
WEIGHTS = "weights.safetensors"
TOKENIZER = "tokenizer.json"
METRICS = "metrics.jsonl"
CURVE = "curve.png"
CARD = "README.md"
TOKENS_LICENCE = "LICENSE.tokens.txt"
TRANSFORMER = "transformer/"
"""Begins the names of a transformer's files, which are a folder of sentence-transformers."""


@dataclasses.dataclass(frozen=True)
class ModelParts:
    """A model read back: manifest, configuration, vocabulary, weights by name (of `weight_type`), tokenizer if any.

    A transformer has no vocabulary and no weights, but files by their name in its folder.
    """

    manifest: Manifest
    config: ModelConfig
    vocabulary: Vocabulary
    weights: Weights
    pieces: Pieces | None = None
    files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)


def weight_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every weight a model of this configuration has in a file of its own."""
    shape, words = config.shape, config.words + config.hash_bins
    if isinstance(shape, SubwordSettings):
        tokens = shape.tokens if isinstance(shape, StaticSettings) else 0
        return {"embedding.weight": (words + shape.ngram_bins + shape.bigram_bins + tokens, shape.dimension)}
    if isinstance(shape, TransformerSettings):
        return {}
    channels = shape.channels * len(shape.windows)
    kernels = {
        f"kernels.{number}": (shape.embedding_dimension, width * shape.channels)
        for number, width in enumerate(shape.windows)
    }
    return {
        "embedding.weight": (words, shape.embedding_dimension),
        **kernels,
        "bias": (channels,),
        "projection.weight": (shape.dimension, channels),
        "projection.bias": (shape.dimension,),
    }


def weight_type(shape: Shape) -> type[np.floating]:
    """Return the type of a model's weights: rows of a large table that are only summed are stored at half precision."""
    return np.float16 if isinstance(shape, SubwordSettings) else np.float32


def save_model(
    output: Output,
    *,
    parts: tuple[ModelConfig, Vocabulary, Weights],
    metrics: Sequence[Mapping[str, Any]],
    pages: Mapping[str, bytes],
    inputs: list[Source],
    counters: dict[str, int],
) -> Manifest:
    """Write a model and publish it; the model that was there stays whole until then.

    Args:
        output: the place, claimed before training began.
        parts: configuration, vocabulary and weights, which become of `weight_type`.
        metrics: one JSON object a line of metrics.jsonl.
        pages: further files by name, such as the model card and the curve; a static encoder's tokenizer and all
            files of a transformer too.
        inputs: what the model was trained on.
        counters: what the run counted.

    Raises:
        QprError: a file cannot be written, or a weight is not finite as `weight_type`.
    """
    config, vocabulary, weights = parts
    learned = {VOCABULARY: vocabulary.to_text().encode(), WEIGHTS: _stored(output, weights, weight_type(config.shape))}
    contents = {
        CONFIG: config.model_dump_json(indent=2).encode() + b"\n",
        **({} if config.encoder == "transformer" else learned),
        METRICS: "".join(json.dumps(line) + "\n" for line in metrics).encode(),
        **pages,
    }
    try:
        what_it_is = (CONFIG, VOCABULARY, WEIGHTS, TOKENIZER, TRANSFORMER)
        files = [
            output.write(name, content, table="model" if name.startswith(what_it_is) else REPORTS)
            for name, content in contents.items()
        ]
    except BaseException:
        output.abandon()
        raise
    return output.publish(files, inputs=inputs, configuration=config.model_dump(mode="json"), counters=counters)


def _stored(output: Output, weights: Weights, stored_as: type[np.floating]) -> bytes:
    if name := first_not_finite(weights, stored_as):
        output.abandon()
        raise QprError(
            f"{output.url}: {name} is not finite as {stored_as.__name__}, so no model is written. Lower --learning-rate"
        )
    return safetensors.numpy.save({name: np.ascontiguousarray(part, stored_as) for name, part in weights.items()})


def load_parts(url: str) -> ModelParts:
    """Read the model at an fsspec URL; every byte is checked against the manifest.

    Raises:
        QprError: there is no complete model, or its files are damaged or do not fit together.
    """
    manifest = read_manifest(url, "model")
    files = {file.path.partition("/")[2]: file for file in manifest.of("model")}
    wanted = {CONFIG, VOCABULARY, WEIGHTS}
    if CONFIG in files:
        config = _config(url, read_verified(url, files[CONFIG]))
        wanted |= {TOKENIZER} if config.encoder == "static" else set()
        wanted = {CONFIG, TRANSFORMER + MODULES} if config.encoder == "transformer" else wanted
    if missing := wanted - files.keys():
        raise QprError(f"{url}: the model has no {min(missing)}. Train it again")
    if config.encoder == "transformer":
        folder = {name: read_verified(url, file) for name, file in files.items() if name.startswith(TRANSFORMER)}
        contents = {name.removeprefix(TRANSFORMER): content for name, content in folder.items()}
        return ModelParts(manifest, config, Vocabulary((), hash_bins=0), {}, files=contents)
    vocabulary = _vocabulary(url, read_verified(url, files[VOCABULARY]), config)
    if len(vocabulary.words) != config.words:
        counts = f"{VOCABULARY} holds {len(vocabulary.words)} words, {CONFIG} says {config.words}"
        raise QprError(f"{url}: {counts}. Train the model again")
    weights = _weights(url, read_verified(url, files[WEIGHTS]), config)
    pieces = _pieces(url, read_verified(url, files[TOKENIZER]), config) if TOKENIZER in wanted else None
    return ModelParts(manifest, config, vocabulary, weights, pieces)


def _config(url: str, content: bytes) -> ModelConfig:
    try:
        return ModelConfig.model_validate_json(content)
    except pydantic.ValidationError as error:
        raise QprError(f"{url}: {CONFIG}: {first_fault(error)}. Train the model again") from error


def _vocabulary(url: str, content: bytes, config: ModelConfig) -> Vocabulary:
    try:
        return Vocabulary.from_text(content.decode(), hash_bins=config.hash_bins)
    except (UnicodeDecodeError, QprError) as error:
        raise QprError(f"{url}: {VOCABULARY} is damaged: {error}. Train the model again") from error


def _pieces(url: str, content: bytes, config: ModelConfig) -> Pieces:
    tokens = config.shape.tokens if isinstance(config.shape, StaticSettings) else 0
    try:
        pieces = Pieces(content).checked()
    except QprError as error:
        raise QprError(f"{url}: {TOKENIZER}: {error}. Train the model again") from error
    if pieces.largest_id() >= tokens:
        counts = f"holds token {pieces.largest_id():,}, {CONFIG} says there are {tokens:,}"
        raise QprError(f"{url}: {TOKENIZER} {counts}. Train the model again")
    return pieces


def _weights(url: str, content: bytes, config: ModelConfig) -> Weights:
    try:
        weights: Weights = read_tensors(content)
    except ValueError as error:
        raise QprError(f"{url}: {WEIGHTS} is damaged: {error}. Train the model again") from error
    found = {name: (*weight.shape, weight.dtype.name) for name, weight in weights.items()}
    kind = np.dtype(weight_type(config.shape)).name
    wanted = {name: (*shape, kind) for name, shape in weight_shapes(config).items()}
    if found != wanted:
        wrong = min(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
        name = wrong if wrong.isprintable() else ascii(wrong)
        shapes = f"{name} is {found.get(wrong, 'missing')}, {CONFIG} asks for {wanted.get(wrong, 'no such weight')}"
        raise QprError(f"{url}: {WEIGHTS}: {shapes}. Train the model again")
    return weights
