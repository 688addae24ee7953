"""Advice on compaction: deleted rows, number of segments, balance of lists, recall.

Index, manifest -> shape_of -> Shape -> reasons to compact
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from model.index.index import Index
from model.index.segments.layout import in_order, segment_of
from model.index.shards import Shard
from schemas.artifacts.manifest import Manifest
from schemas.quantities import counted, rounded_percent
from schemas.tables import SHARDS

DELETED_SHARE: Final = 0.2
"""Share of deleted rows, which are searched in vain, from which on compaction is advised."""

SEGMENTS: Final = 8
"""Number of segments up to which no compaction is advised: each takes a search of its own."""

IMBALANCE: Final = 3.0
"""Factor by which the longest list, relative to the mean, may have grown since the centroids were trained."""

RECALL_FALL: Final = 0.01
"""Fall of the recall since the centroids were trained from which they should be trained again: six standard errors."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """Properties of an index that decide how much its changes cost a search.

    Attributes:
        segments: their number.
        deleted_share: share of rows that are deleted.
        imbalance: longest list relative to the mean, in all segments.
        built_imbalance: the same in the first segment.
        recall: share of the ten nearest questions that a search of lists finds; 1 where it was not measured again.
        built_recall: the same when the index was built.
    """

    segments: int
    deleted_share: float
    imbalance: float
    built_imbalance: float
    recall: float = 1.0
    built_recall: float = 1.0

    @property
    def reasons(self) -> list[str]:
        """Return the reasons to compact the index; empty where there is none."""
        reasons = []
        if self.deleted_share >= DELETED_SHARE:
            reasons.append(f"{rounded_percent(self.deleted_share, 0)} of the rows are deleted")
        if self.segments > SEGMENTS:
            reasons.append(f"it has {counted(self.segments, 'segment')}")
        if stale := self.stale_centroids:
            reasons.append(stale)
        return reasons

    @property
    def stale_centroids(self) -> str | None:
        """Return why the centroids should be trained again; None where they need not."""
        if self.imbalance > IMBALANCE * self.built_imbalance:
            change = f"longest list is {self.imbalance:.1f} times the mean, {self.built_imbalance:.1f}"
        elif self.recall < self.built_recall - RECALL_FALL:
            change = f"recall@10 is {self.recall:.4f}, {self.built_recall:.4f}"
        else:
            return None
        return f"its {change} when it was built, so its centroids should be trained again"


def shape_of(index: Index, manifest: Manifest) -> Shape:
    """Return the shape of an index.

    Args:
        index: opened.
        manifest: of the same version.
    """
    numbers = [segment_of(file.path) for file in in_order(manifest.of(SHARDS))]
    rows = sum(map(len, index.shards))
    first = [codes.shard for codes in index.codes[:1]]
    first += [shard for shard, number in zip(index.shards, numbers, strict=True) if not number]
    built = index.settings.recall
    recall = (1.0, 1.0) if built is None or built.present_at_10 is None else (built.present_at_10, built.at_10)
    return Shape(len(set(numbers)), (rows - len(index)) / rows, imbalance(index.listed), imbalance(first), *recall)


def imbalance(shards: Sequence[Shard]) -> float:
    """Return the length of the longest inverted list relative to the mean; 1 without lists."""
    listed = [shard for shard in shards if shard.lists]
    sizes = [[shard.faiss.invlists.list_size(number) for number in range(shard.lists)] for shard in listed]
    lengths = np.sum(sizes, axis=0) if sizes else np.ones(1)
    return float(lengths.max() / lengths.mean())
