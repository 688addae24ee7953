"""The queue of all clusters of a dataset, in the order of `qpr sample`.

dataset, seed -> ClusterQueue -> Item
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.review.queues.interface import Item, Line, QueueIdentity, question_name
from jobs.workflows.cluster_sample import event_counts, order_of, random_ranks
from pipelines.calibration.verdicts.verdict_file import cluster_name
from schemas.artifacts.dataset import Dataset
from schemas.errors import QprError

_AT_A_TIME: Final = 256
"""Clusters that are read together: each read passes over the whole table."""

_CLASSES: Final = ((2, "2 questions"), (5, "3 to 5"), (20, "6 to 20"))
"""Largest size and name of each class of clusters, which has a share of its own in the report; larger: "over 20"."""


class ClusterQueue:
    """All clusters of a dataset.

    Args:
        dataset: the dataset.
        seed: of the order.

    Raises:
        QprError: the dataset has no cluster.
    """

    def __init__(self, dataset: Dataset, seed: int) -> None:
        table = dataset.table("clusters", columns=["cluster_id", "size"])
        if not len(table):
            fault = "has no cluster, so there is nothing to judge"
            raise QprError(f"{dataset.url}: {fault}. `rejected` in the dataset lists the reasons")
        ids, sizes = table["cluster_id"].to_numpy(), table["size"].to_numpy()
        order = np.lexsort((ids, random_ranks(ids, order_of(dataset.manifest, seed))))
        self._dataset = dataset
        self._ids = ids[order]
        self.places = {cluster_name(int(number)): place for place, number in enumerate(self._ids)}
        self._kept: dict[int, Item] = {}
        self.source = QueueIdentity(
            "clusters", dataset.manifest.digest, seed, len(ids), int(sizes.sum()), int(sizes.max(initial=1))
        )

    def item(self, place: int) -> Item:
        """Return the cluster at a place, its most asked wordings first."""
        if place not in self._kept:
            start = place - place % _AT_A_TIME
            self._kept |= self._read(start, self._ids[start : start + _AT_A_TIME])
        return self._kept[place]

    def _read(self, start: int, ids: np.ndarray) -> dict[int, Item]:
        chosen = pa.array(ids)
        parts = [part.filter(pc.is_in(part["cluster_id"], chosen)) for part in self._dataset.parts("clusters")]
        clusters = pa.concat_tables(parts)
        events = event_counts(clusters, self._dataset.parts("questions", columns=["question_id", "events"]))
        places = {int(number): start + place for place, number in enumerate(ids)}
        return {
            places[row["cluster_id"]]: _item(row, places[row["cluster_id"]], events) for row in clusters.to_pylist()
        }


def _item(row: dict[str, Any], place: int, events: Mapping[int, int]) -> Item:
    lines = [
        Line(question_name(number), text, events.get(number, 0))
        for number, text in zip(row["question_ids"], row["texts"], strict=True)
    ]
    lines.sort(key=lambda line: (-(line.events or 0), line.text))
    strata = {"split": row["split"], "size": size_class(row["size"])}
    return Item(cluster_name(row["cluster_id"]), place, row["answer"], tuple(lines), row["size"], strata)


def size_class(size: int) -> str:
    """Return the class of clusters that have about as many questions."""
    return next((name for largest, name in _CLASSES if size <= largest), "over 20")
