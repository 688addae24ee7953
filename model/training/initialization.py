"""Start of a training: its vocabulary, and a network with fresh weights or those of an older model.

train pairs -> build_network -> Vocabulary, Network; URL of a model -> older_model -> begin_from -> weights of a network
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import torch

from model.encoders.config import ModelConfig, Shape
from model.encoders.network import Network
from model.encoders.new_network import network_of
from model.encoders.registry import kind_of
from model.encoders.saved_model import ModelParts, load_parts
from model.text.vocabulary import Vocabulary
from model.training.memory.devices import checked_device
from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs
from schemas.arrays import Int64s
from schemas.errors import QprError
from schemas.quantities import counted

EMBEDDING = "embedding.weight"


def build_network(
    pairs: Pairs,
    *,
    shape: Shape,
    settings: TrainingSettings,
    device: str | None,
    older: ModelParts | None,
    inform: Callable[[str], None],
) -> tuple[Vocabulary, Network]:
    """Return the vocabulary of the train questions and a network on its device.

    Args:
        pairs: train pairs.
        shape: settings of the encoder.
        settings: settings of the training.
        device: PyTorch's name of a device; None for CUDA if available, else the processor.
        older: a model whose weights to begin with.
        inform: called with a note on the weights taken from it.

    Raises:
        QprError: no question has a token, or the device does not work.
    """
    vocabulary = _vocabulary(pairs, shape, settings)
    network = network_of(vocabulary, shape, dropout=settings.dropout, seed=settings.seed).to(checked_device(device))
    if older:
        inform(f"beginning with the weights of a model: {begin_from(older, network, vocabulary)}")
    return vocabulary, network


def _vocabulary(pairs: Pairs, shape: Shape, settings: TrainingSettings) -> Vocabulary:
    """Return the words of the train questions; none for an encoder with tokens of its own."""
    if not kind_of(shape).has_vocabulary:
        return Vocabulary((), hash_bins=0)
    vocabulary = Vocabulary.learn(pairs.keys, words=settings.vocabulary_size, hash_bins=settings.hash_bins)
    if not len(vocabulary):
        raise QprError("no train question has a word and there are no hash bins. Check the dataset's texts")
    return vocabulary


def older_model(url: str, shape: Shape) -> ModelParts:
    """Return the model at ``url``, to begin from.

    Raises:
        QprError: there is none, it is damaged, or its encoder is of another kind or shape.
    """
    parts = load_parts(url)
    if difference := shape_difference(parts.config, shape):
        raise QprError(
            f"{url}: cannot begin from a network of another shape: {difference}. Give the model's or leave out "
            "--init-from"
        )
    return parts


def shape_difference(older: ModelConfig, shape: Shape) -> str | None:
    """Return the first option in which an encoder differs from an older model, so that no weights carry over; or None.

    Args:
        older: settings of the model.
        shape: of the encoder.
    """
    of_model = {"encoder": older.encoder, **older.shape.model_dump()}
    of_encoder = {"encoder": kind_of(shape).name, **shape.model_dump()}
    for name in of_model:
        if name in of_encoder and of_model[name] != of_encoder[name]:
            return f"--{name.replace('_', '-')} is {_shown(of_model[name])} there and {_shown(of_encoder[name])} here"
    return None


@torch.no_grad()
def begin_from(older: ModelParts, network: Network, vocabulary: Vocabulary) -> str:
    """Copy the older model's weights to a fresh network and return a note on them.

    A word of both vocabularies takes its row, a new one keeps its random row. Rows that other words share are copied
    if there are as many of them, since a word's row is its hash modulo their number. All else has one shape.
    """
    weights = dict(network.body.named_parameters())
    if kind_of(older.config.shape).start_from(older, network):
        return f"all {len(weights)} of them"
    beyond = len(older.weights[EMBEDDING]) - len(older.vocabulary)
    new, old, shared_words = rows_in_common(older.vocabulary, vocabulary, beyond=beyond)
    rows = torch.from_numpy(older.weights[EMBEDDING][old].astype(np.float32))
    table = weights.pop(EMBEDDING)
    table[torch.from_numpy(new)] = rows.to(table.device)
    for name, weight in weights.items():
        weight.copy_(torch.from_numpy(older.weights[name].astype(np.float32)))
    taken = f"it has {shared_words:,} of {counted(len(vocabulary.words), 'word')}"
    if older.vocabulary.hash_bins != vocabulary.hash_bins:
        bins = f"it has {older.vocabulary.hash_bins:,} of them, not {vocabulary.hash_bins:,}"
        taken += f"; the rows of all other words begin at random: {bins}"
    return taken


def rows_in_common(older: Vocabulary, newer: Vocabulary, *, beyond: int) -> tuple[Int64s, Int64s, int]:
    """Return rows of a new table, the same rows in the older one, and the number of listed words among them.

    Args:
        older: vocabulary of the older model.
        newer: vocabulary of the new one.
        beyond: rows of both tables that follow those of the vocabulary.
    """
    ids = older.ids_of_distinct(pa.array(newer.words, pa.string())).astype(np.int64)
    listed = np.flatnonzero((ids >= 0) & (ids < len(older.words)))
    bins = np.arange(newer.hash_bins if newer.hash_bins == older.hash_bins else 0)
    rest = np.arange(beyond)
    new = [listed, len(newer.words) + bins, len(newer) + rest]
    old = [ids[listed], len(older.words) + bins, len(older) + rest]
    return np.concatenate(new), np.concatenate(old), len(listed)


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
