"""Facts taken from the clusters of a dataset: a cluster is a fact, its texts are the wordings.

clusters table -> ClusterFacts; fact numbers -> questions, answers
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.simulation.entities import names
from schemas.errors import QprError

GENERIC_KINDS: Final = ("unknown", "yes_no", "number", "year", "date")


class ClusterFacts:
    """The clusters of a dataset as facts, numbered in order of their id, so the order of the rows has no effect.

    Args:
        clusters: rows of `schemas.tables.CLUSTERS`, at least ``cluster_id``, ``answer`` and ``texts``.

    Raises:
        QprError: there is no cluster with a text.
    """

    def __init__(self, clusters: pa.Table) -> None:
        filled = clusters.filter(pc.greater(pc.list_value_length(clusters["texts"]), 0)).sort_by("cluster_id")
        if not len(filled):
            raise QprError("the dataset holds no cluster. Make one with more data or a lower --min-coherence")
        texts = filled["texts"].combine_chunks()
        self._ids: np.ndarray = filled["cluster_id"].to_numpy()
        self._texts = pc.list_flatten(texts)
        self._sizes = pc.list_value_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
        self._first = np.cumsum(self._sizes) - self._sizes
        made_up = _made_up_answers(len(filled))
        self._answers = pc.coalesce(filled["answer"].combine_chunks(), made_up)

    def __len__(self) -> int:
        return len(self._ids)

    def popularity(self, rng: np.random.Generator) -> np.ndarray:
        """Return all fact numbers in random order."""
        return rng.permutation(len(self))

    def gold(self, facts: np.ndarray) -> np.ndarray:
        """Return the cluster id of each fact."""
        return np.take(self._ids, facts)

    def questions(self, facts: np.ndarray, *, wording: np.ndarray, alias: np.ndarray) -> pa.Array:
        """Return one of the texts of each fact; ``wording`` in [0, 1) selects it, ``alias`` has no effect."""
        del alias
        picked = self._first[facts] + (wording * self._sizes[facts]).astype(np.int64)
        return self._texts.take(pa.array(picked))

    def answers(self, facts: np.ndarray) -> pa.Array:
        """Return the dataset's answer to each fact or, where it has none, a made-up one that no other fact has."""
        return self._answers.take(pa.array(facts))

    def generic(self, facts: np.ndarray, choice: np.ndarray) -> np.ndarray:
        """Return a kind of generic answer for each fact; ``choice`` in [0, 1) selects it."""
        del facts
        return np.array(GENERIC_KINDS)[(choice * len(GENERIC_KINDS)).astype(np.int64)]


def _made_up_answers(count: int) -> pa.Array:
    """Return ``count`` distinct sentences."""
    all_names, numbers = names(), np.arange(count)
    second, first = np.divmod(numbers, all_names.count["person"])
    third, second = np.divmod(second, all_names.count["book"])
    person, book = (
        all_names.pool.take(pa.array(all_names.start[kind] + index))
        for kind, index in (("person", first), ("book", second))
    )
    page = pa.array(third + 1).cast(pa.string())
    return pc.binary_join_element_wise(person, " explains this on page ", page, " of ", book, ".", "")
