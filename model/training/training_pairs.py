"""The pairs of a split as numbers: each distinct question once, pairs as positions in that list.

pairs table -> index_pairs -> Pairs
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.arrays import Int64s
from schemas.artifacts.dataset import Dataset
from schemas.errors import UnusableInputError
from schemas.quantities import counted
from schemas.text_arrays import key_all


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Pairs of paraphrases.

    Attributes:
        texts: (questions,) strings, the distinct questions in their original wording.
        first: position of each pair's first question in ``texts``, (pairs,).
        second: position of its second question, (pairs,).
        clusters: number of the cluster that holds both, (pairs,), from 0 without gaps.
    """

    texts: pa.Array
    first: Int64s
    second: Int64s
    clusters: Int64s

    def __len__(self) -> int:
        return len(self.first)

    @property
    def keys(self) -> pa.Array:
        """Return the questions' keys, in the order of their texts; computed at each call, so that no copy is held."""
        return key_all(self.texts)

    @property
    def cluster_count(self) -> int:
        """Number of clusters with a pair."""
        return int(self.clusters.max(initial=-1)) + 1


def index_pairs(table: pa.Table) -> Pairs:
    """Return the pairs of a table with the columns of `schemas.tables.PAIRS`, in its order."""
    ids = np.concatenate([table["question_id_1"].to_numpy(), table["question_id_2"].to_numpy()])
    _, where, positions = np.unique(ids, return_index=True, return_inverse=True)
    texts = pa.chunked_array(table["text_1"].chunks + table["text_2"].chunks, pa.string())
    clusters = np.unique(table["cluster_id"].to_numpy(), return_inverse=True)[1]
    return Pairs(
        texts.take(pa.array(where)).combine_chunks(), positions[: len(table)], positions[len(table) :], clusters
    )


def read_pairs(dataset: Dataset) -> dict[str, Pairs]:
    """Return the pairs of the train and the validation split; a cluster is in exactly one split.

    Raises:
        UnusableInputError: nothing can be learned: there is no train pair, or all are of one cluster.
    """
    pairs = dataset.table("pairs")
    clusters = dataset.table("clusters", columns=["cluster_id", "split"])
    splits = {}
    for split in ("train", "validation"):
        ids = clusters.filter(pc.equal(clusters["split"], split))["cluster_id"]
        splits[split] = index_pairs(pairs.filter(pc.is_in(pairs["cluster_id"], value_set=ids.combine_chunks())))
    if not len(splits["train"]):
        raise UnusableInputError(
            f"{dataset.url}: no train pair among {counted(len(pairs), 'pair')}. Make the dataset from more logs"
        )
    if splits["train"].cluster_count < 2:
        raise UnusableInputError(
            f"{dataset.url}: all train pairs are of one cluster: no negatives to learn from. Add data"
        )
    return splits
