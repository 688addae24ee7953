"""Clusters and strays of a dataset, to make logs of.

dataset -> halves -> Source -> divide -> Source without a part, and that part
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.artifacts.dataset import Dataset
from schemas.text_arrays import key_all, tokens_all

LARGEST_CLUSTER = 30


@dataclasses.dataclass(frozen=True)
class Source:
    """Clusters and strays to make logs of.

    Attributes:
        texts: of all questions.
        words: distinct words of each text.
        ids: of those questions.
        clusters: rows of each cluster.
        strays: rows that are in no cluster.
    """

    texts: pa.Array
    words: Sequence[frozenset[str]]
    ids: np.ndarray
    clusters: list[np.ndarray]
    strays: np.ndarray


def halves(dataset: Dataset, *, seed: int) -> tuple[Source, Source]:
    """Return the dataset's clusters of 2 to 30 questions and its strays in two random halves."""
    table = dataset.table("questions", columns=["question_id", "text", "cluster_id"]).sort_by("question_id")
    cluster = pc.fill_null(table["cluster_id"], 0).to_numpy()
    clustered = pc.is_valid(table["cluster_id"]).to_numpy()
    order = np.flatnonzero(clustered)[np.argsort(cluster[clustered], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1)
    usable = [group for group in groups if 2 <= len(group) <= LARGEST_CLUSTER]
    generator = np.random.default_rng(seed)
    chosen = [usable[i] for i in generator.permutation(len(usable))]
    strays = generator.permutation(np.flatnonzero(~clustered))
    texts, ids = table["text"].combine_chunks(), table["question_id"].to_numpy()
    words = [frozenset(of_text) for of_text in tokens_all(key_all(texts)).to_pylist()]
    first, second = (Source(texts, words, ids, chosen[half::2], strays[half::2]) for half in (0, 1))
    return first, second


def divide(source: Source, *, part: int, parts: int) -> tuple[Source, Source]:
    """Return the source without one of some equal parts, and that part."""

    def pick(items: np.ndarray, *, inside: bool) -> np.ndarray:
        chosen: np.ndarray = items[(np.arange(len(items)) % parts == part) == inside]
        return chosen

    numbers = np.arange(len(source.clusters))
    rest, taken = (
        dataclasses.replace(
            source,
            clusters=[source.clusters[i] for i in pick(numbers, inside=inside)],
            strays=pick(source.strays, inside=inside),
        )
        for inside in (False, True)
    )
    return rest, taken
