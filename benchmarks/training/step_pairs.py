"""Pairs of questions to time training steps on: of a dataset, or generated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from model.training.training_pairs import Pairs, read_pairs
from schemas.artifacts.dataset import open_dataset

SEED = 0
GENERATED, TOKENS = 50_000, 55_000


def generated_pairs() -> Pairs:
    """Return pairs of questions as long as Quora's, 11 words on average, whose words follow Zipf's law."""
    random = np.random.default_rng(SEED)
    lengths = random.lognormal(np.log(10), 0.45, 2 * GENERATED).round().clip(1, 60).astype(np.int64)
    chances = 1 / np.arange(1, TOKENS + 1) ** 1.25  # gives a batch Quora's number of distinct tokens
    ids = random.choice(TOKENS, lengths.sum(), p=chances / chances.sum())
    words = pa.array([f"word{number}" for number in range(TOKENS)]).take(pa.array(ids))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    numbers = np.arange(GENERATED)
    texts = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), words), " ")
    return Pairs(texts, numbers, numbers + GENERATED, numbers)


def train_pairs(dataset: str | None) -> Pairs:
    """Return the train pairs of a dataset, or generated ones."""
    return read_pairs(open_dataset(dataset))["train"] if dataset else generated_pairs()


def drawn(pairs: Pairs, *, count: int) -> Pairs:
    """Return a sample of the pairs with their questions only: no others need tokens."""
    rows = np.random.default_rng(SEED).permutation(len(pairs))[:count]
    rows_used, places = np.unique(np.concatenate([pairs.first[rows], pairs.second[rows]]), return_inverse=True)
    clusters = np.unique(pairs.clusters[rows], return_inverse=True)[1]
    return Pairs(pairs.texts.take(pa.array(rows_used)), places[: len(rows)], places[len(rows) :], clusters)
