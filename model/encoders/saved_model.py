"""The model artefact: names of its files, writing and reading.

config, vocabulary, weights, metrics -> save_model -> manifest -> load_parts -> ModelParts
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pydantic
import safetensors.numpy

from model.encoders.config import ModelConfig
from model.encoders.finite_weights import first_not_finite
from model.encoders.interface import Weights as Weights
from model.encoders.registry import kind_of
from model.encoders.tensors import check_finite, first_difference, mapped_tensors, read_tensors, signature
from model.text.vocabulary import Vocabulary
from schemas.artifacts.manifest import (
    REPORTS,
    File,
    Manifest,
    Source,
    first_fault,
    or_upgrade,
    read_manifest,
    read_verified,
)
from schemas.errors import QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    from schemas.artifacts.verified_files.files import VerifiedFiles
    from schemas.artifacts.writer import Output

CONFIG = "config.json"
VOCABULARY = "vocabulary.txt"
WEIGHTS = "weights.safetensors"
METRICS = "metrics.jsonl"
CURVE = "curve.png"
CARD = "README.md"
OWN_FILES = frozenset({CONFIG, VOCABULARY, WEIGHTS})
"""Files that this module reads and writes; all others of a model are its kind's."""


@dataclasses.dataclass(frozen=True)
class ModelParts:
    """A model read back: manifest, configuration, vocabulary, weights by name, further files by name.

    An encoder without a vocabulary has no words and no weights, but files.
    """

    manifest: Manifest
    config: ModelConfig
    vocabulary: Vocabulary
    weights: Weights
    files: Mapping[str, bytes]


def weight_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every weight in the weights file of a model of this configuration."""
    return kind_of(config.shape).weights(config.shape, config.words + config.hash_bins)


def save_model(
    output: Output,
    *,
    parts: tuple[ModelConfig, Vocabulary, Weights],
    metrics: Sequence[Mapping[str, Any]],
    files: Mapping[str, bytes],
    pages: Mapping[str, bytes],
    inputs: list[Source],
    counters: dict[str, int],
) -> Manifest:
    """Write a model and publish it; the model that was there stays whole until then.

    Args:
        output: place of the model, claimed before training began.
        parts: configuration, vocabulary and weights, which become of the type that the kind of encoder stores.
        metrics: one JSON object a line of metrics.jsonl.
        files: further files of the encoder by name.
        pages: files for people by name, such as the model card and the curve.
        inputs: sources of the training.
        counters: counts of the run.

    Raises:
        QprError: a file cannot be written, or a weight is not finite as the type that is stored.
    """
    config, vocabulary, weights = parts
    contents = {CONFIG: config.model_dump_json(indent=2).encode() + b"\n"}
    reports = {METRICS: "".join(json.dumps(line) + "\n" for line in metrics).encode(), **pages}
    with output:
        if (kind := kind_of(config.shape)).has_vocabulary:
            contents[VOCABULARY] = vocabulary.to_text().encode()
            contents[WEIGHTS] = _stored(output.url, weights, kind.stored_as)
        written = [output.write(name, content, table="model") for name, content in {**contents, **files}.items()]
        written += [output.write(name, content, table=REPORTS) for name, content in reports.items()]
        return output.publish(written, inputs=inputs, configuration=config.model_dump(mode="json"), counters=counters)


def _stored(url: str, weights: Weights, stored_as: type[np.floating]) -> bytes:
    if name := first_not_finite(weights, stored_as):
        raise QprError(
            f"{url}: {name} is not finite as {stored_as.__name__}, so no model is written. Lower --learning-rate"
        )
    return safetensors.numpy.save({name: np.ascontiguousarray(part, stored_as) for name, part in weights.items()})


def load_parts(url: str, stored: VerifiedFiles | None = None) -> ModelParts:
    """Read the model at an fsspec URL; every byte is checked against the manifest.

    Args:
        url: the model's folder.
        stored: its files, if weights may be read-only views of mapped memory and digests are remembered.

    Raises:
        QprError: there is no complete model, or its files are damaged or do not fit together.
    """
    manifest = read_manifest(url, "model")
    listed = {file.path.partition("/")[2]: file for file in manifest.of("model")}
    required = {CONFIG, VOCABULARY, WEIGHTS}

    def read(file: File) -> bytes:
        return read_verified(url, file) if stored is None else bytes(stored.read(file))

    if CONFIG in listed:
        config = _config(url, read(listed[CONFIG]))
        kind = kind_of(config.shape)
        required = {CONFIG, *([VOCABULARY, WEIGHTS] if kind.has_vocabulary else []), *kind.required_files}
    if missing := required - listed.keys():
        raise QprError(f"{url}: the model has no {min(missing)}. Train it again")
    files = {name: read(file) for name, file in listed.items() if name not in OWN_FILES}
    vocabulary, weights = Vocabulary((), hash_bins=0), Weights()
    if kind.has_vocabulary:
        vocabulary = _vocabulary(url, read(listed[VOCABULARY]), config)
        weights = _weights(url, listed[WEIGHTS], config, stored)
    try:
        kind.check(config.shape, files)
    except QprError as error:
        raise QprError(f"{url}: {error}. Train the model again") from error
    return ModelParts(manifest, config, vocabulary, weights, files)


def read_config(url: str) -> ModelConfig:
    """Return the settings of the model at an fsspec URL, without reading its weights.

    Raises:
        QprError: there is no complete model, or its settings are damaged.
    """
    files = [file for file in read_manifest(url, "model").of("model") if file.path.partition("/")[2] == CONFIG]
    if not files:
        raise QprError(f"{url}: the model has no {CONFIG}. Train it again")
    return _config(url, read_verified(url, files[0]))


def _config(url: str, content: bytes) -> ModelConfig:
    try:
        config = ModelConfig.model_validate_json(content)
    except pydantic.ValidationError as error:
        advice = f"Train the model again{or_upgrade(error)}"
        raise QprError(f"{url}: {CONFIG}: {first_fault(error)}. {advice}") from error
    return config if "tokenizer" in config.model_fields_set else config.model_copy(update={"tokenizer": 1})


def _vocabulary(url: str, content: bytes, config: ModelConfig) -> Vocabulary:
    try:
        vocabulary = Vocabulary.from_text(content.decode(), hash_bins=config.hash_bins, tokenizer=config.tokenizer)
    except (UnicodeDecodeError, QprError) as error:
        raise QprError(f"{url}: {VOCABULARY} is damaged: {error}. Train the model again") from error
    if len(vocabulary.words) != config.words:
        counts = f"{VOCABULARY} holds {counted(len(vocabulary.words), 'word')}, {CONFIG} lists {config.words}"
        raise QprError(f"{url}: {counts}. Train the model again")
    return vocabulary


def _weights(url: str, file: File, config: ModelConfig, stored: VerifiedFiles | None) -> Weights:
    content = read_verified(url, file) if stored is None else stored.read(file, by_rows=True)
    try:
        if stored is None or isinstance(content, bytes):
            weights: Weights = read_tensors(bytes(content))
        else:
            weights = mapped_tensors(content)
            stored.check("finite-1", [file], lambda: check_finite(weights))
    except ValueError as error:
        raise QprError(f"{url}: {WEIGHTS} is damaged: {error}. Train the model again") from error
    actual, stored_as = signature(weights), np.dtype(kind_of(config.shape).stored_as).name
    expected = {name: (*shape, stored_as) for name, shape in weight_shapes(config).items()}
    if (wrong := first_difference(actual, expected)) is not None:
        name = wrong if wrong.isprintable() else ascii(wrong)
        shapes = f"{name} is {actual.get(wrong, 'missing')}, {CONFIG} asks for {expected.get(wrong, 'no such weight')}"
        raise QprError(f"{url}: {WEIGHTS}: {shapes}. Train the model again")
    return weights
