"""The reranker artefact: how it is written and read.

settings, WordCounts, weights -> save_reranker -> manifest -> load_reranker -> Reranker
"""

from __future__ import annotations

from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from model.addresses import checked_address
from model.inference import load_encoder
from model.reranking.reranker import OtherEncoder, Reranker, RerankerSettings, Weights, weight_shapes
from model.reranking.word_table import WordCounts
from schemas.errors import QprError
from schemas.manifest import Manifest, Source, read_manifest, read_settings, read_verified
from schemas.output import Output

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
) -> Manifest:
    """Write a reranker and publish it.

    Raises:
        QprError: a file cannot be written.
    """
    arrays = {name: np.ascontiguousarray(weight, np.float32) for name, weight in weights.items()}
    contents = {
        WORDS: "".join(f"{word}\n" for word in counts.words).encode(),
        WEIGHTS: safetensors.numpy.save({**arrays, "counts": np.asarray(counts.counts, np.int64)}),
    }
    try:
        files = [output.write(name, content, table="reranker") for name, content in contents.items()]
    except BaseException:
        output.abandon()
        raise
    return output.publish(files, inputs=inputs, configuration=settings.model_dump(mode="json"), counters=counters)


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
    if settings.model_digest != model_digest:
        models = f"was learned with an index of model {settings.model_digest[:12]}, this index has {model_digest[:12]}"
        raise QprError(f"{url}: {models}. Learn one for this index with `qpr rerank`")
    files = {file.path.rsplit("/", 1)[-1]: read_verified(url, file) for file in manifest.of("reranker")}
    if missing := {WORDS, WEIGHTS} - files.keys():
        raise QprError(f"{url}: there is no {min(missing)}. {_AGAIN}")
    try:
        arrays: dict[str, Any] = safetensors.numpy.load(files[WEIGHTS])
        words = tuple(files[WORDS].decode().splitlines())
        counts = arrays.pop("counts")
        checked = WordCounts(words, counts, settings.questions, settings.mean_length).checked()
    except (safetensors.SafetensorError, UnicodeDecodeError, KeyError, QprError) as error:
        raise QprError(f"{url}: {WEIGHTS} and {WORDS} are damaged: {error}. {_AGAIN}") from error
    if (found := {name: array.shape for name, array in arrays.items()}) != weight_shapes(settings):
        raise QprError(f"{url}: {WEIGHTS} holds {found}, not {weight_shapes(settings)}. {_AGAIN}")
    return Reranker(url, settings, checked, arrays, tuple(_encoder(url, other) for other in settings.encoders))


def _encoder(url: str, other: OtherEncoder) -> Any:
    encoder = load_encoder(checked_address(other.url, of=url))
    if encoder.digest != other.digest:
        models = f"was learned with model {other.digest[:12]} at {other.url}, which is now {encoder.digest[:12]}"
        raise QprError(f"{url}: {models}. {_AGAIN}")
    return encoder
