"""The reranker artefact: how it is written and read.

settings, WordCounts, weights -> save_reranker -> manifest -> load_reranker -> Reranker
"""

from __future__ import annotations

from typing import Any

import numpy as np
import safetensors.numpy

from model.encoders.addresses import checked_address
from model.encoders.finite_weights import first_not_finite
from model.encoders.loading import load_encoder
from model.encoders.tensors import first_difference, read_tensors, signature
from model.reranking.reranker import OtherEncoder, Reranker, RerankerSettings, Weights, weight_shapes
from model.reranking.term_statistics import WordCounts
from model.reranking.weight_limits import unusable
from model.text.vocabulary import Vocabulary
from schemas.artifacts.manifest import Source, read_manifest, read_settings, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError

WORDS, WEIGHTS = "words.txt", "reranker.safetensors"
_AGAIN = "Learn the reranker again"


def save_reranker(
    output: Output,
    settings: RerankerSettings,
    counts: WordCounts,
    weights: Weights,
    *,
    inputs: list[Source],
    counters: dict[str, int],
) -> None:
    """Write a reranker and publish it.

    Raises:
        QprError: a file cannot be written, or a weight is not finite or too large for finite scores.
    """
    with output:
        if name := first_not_finite(weights, np.float32):
            raise QprError(f"{output.url}: {name} is not finite, so no reranker is written. {_AGAIN}")
        arrays = {name: np.ascontiguousarray(weight, np.float32) for name, weight in weights.items()}
        if fault := unusable(arrays):
            raise QprError(f"{output.url}: {fault}, so no reranker is written. {_AGAIN}")
        contents = {
            WORDS: "".join(f"{word}\n" for word in counts.words).encode(),
            WEIGHTS: safetensors.numpy.save({**arrays, "counts": np.asarray(counts.counts, np.int64)}),
        }
        files = [output.write(name, content, table="reranker") for name, content in contents.items()]
        output.publish(files, inputs=inputs, configuration=settings.model_dump(mode="json"), counters=counters)


def load_reranker(url: str, *, model_digest: str) -> Reranker:
    """Read the reranker at an fsspec URL; every byte is checked against the manifest.

    Args:
        url: the reranker.
        model_digest: of the encoder of the index whose hits it is to order.

    Raises:
        QprError: there is none, it is damaged, or was learned with an index of another model or other encoders.
    """
    manifest = read_manifest(url, "reranker")
    settings = read_settings(url, manifest, RerankerSettings, again=_AGAIN)
    if "tokenizer" not in settings.model_fields_set:  # of a release before there were versions
        settings = settings.model_copy(update={"tokenizer": 1})
    if settings.model_digest != model_digest:
        models = f"was learned with an index of model {settings.model_digest[:12]}, this index has {model_digest[:12]}"
        raise QprError(f"{url}: {models}. Learn one for this index with `qpr train-reranker`")
    files = {file.path.rsplit("/", 1)[-1]: read_verified(url, file) for file in manifest.of("reranker")}
    if missing := {WORDS, WEIGHTS} - files.keys():
        raise QprError(f"{url}: there is no {min(missing)}. {_AGAIN}")
    arrays = _tensors(url, files[WEIGHTS], settings)
    try:
        words = Vocabulary.from_text(files[WORDS].decode(), hash_bins=0).words
    except (UnicodeDecodeError, QprError) as error:
        raise QprError(f"{url}: {WORDS} is damaged: {error}. {_AGAIN}") from error
    try:
        measures = settings.questions, settings.mean_length, settings.tokenizer
        checked = WordCounts(words, arrays.pop("counts"), *measures).checked()
    except QprError as error:
        raise QprError(f"{url}: {WORDS} and counts of {WEIGHTS}: {error}. {_AGAIN}") from error
    return Reranker(url, settings, checked, arrays, tuple(_encoder(url, other) for other in settings.encoders))


def _tensors(url: str, content: bytes, settings: RerankerSettings) -> dict[str, Any]:
    """Return the weights and the counts, of the right shapes and types; weights give finite scores."""
    try:
        arrays = read_tensors(content)
    except ValueError as error:
        raise QprError(f"{url}: {WEIGHTS} is damaged: {error}. {_AGAIN}") from error
    stored = signature(arrays)
    expected = {name: (*shape, "float32") for name, shape in weight_shapes(settings).items()}
    expected["counts"] = (*stored.get("counts", (0,))[:1], "int64")
    if (wrong := first_difference(stored, expected)) is not None:
        shapes = f"{stored.get(wrong, 'missing')}, expected {expected.get(wrong, 'no such tensor')}"
        raise QprError(f"{url}: {WEIGHTS}: {wrong[:60]!a} is {shapes}. {_AGAIN}")
    if fault := unusable(arrays):
        raise QprError(f"{url}: {WEIGHTS}: {fault}. {_AGAIN}")
    return arrays


def _encoder(url: str, other: OtherEncoder) -> Any:
    encoder = load_encoder(checked_address(other.url, of=url))
    if encoder.digest != other.digest:
        models = f"was learned with model {other.digest[:12]} at {other.url}, which is now {encoder.digest[:12]}"
        raise QprError(f"{url}: {models}. {_AGAIN}")
    return encoder
