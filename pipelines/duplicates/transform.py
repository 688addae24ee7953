"""Clusters of questions from pairs labelled by people, for any number of pairs.

EDGES -> ClusterDuplicates -> ASKED rows that place questions, the splits of clusters held out, Written
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypedDict

import apache_beam as beam
import pyarrow as pa

from pipelines.duplicates.conflicts import CountConflicts
from pipelines.duplicates.connected_components import FindComponents
from pipelines.duplicates.held_out_split import hold_out, pairs_of, place_questions, shortlist, size_clusters
from pipelines.duplicates.labelled_pairs import sort_edges
from pipelines.duplicates.rows import SIZES
from pipelines.duplicates.settings import HeldOut
from pipelines.engine.combining import StepwiseCombine
from pipelines.engine.shuffle import GroupByShard
from pipelines.writing.reported import Written


class Clusters(TypedDict):
    """Clusters of the questions of labelled pairs.

    Attributes:
        places: `pipelines.duplicates.held_out_split.place_questions` of every question in a cluster.
        held_out: one `pipelines.duplicates.held_out_split.SPLITS_OF` table, of at most two rows for each pair held out.
        written: counts.
    """

    places: beam.PCollection[pa.Table]
    held_out: beam.PCollection[pa.Table]
    written: beam.PCollection[Written]


@dataclasses.dataclass
class ClusterDuplicates(beam.PTransform):
    """Cluster the questions that positive pairs connect, and choose the clusters of validation and test.

    Input: EDGES tables in any order.
    Output: `Clusters`.
    """

    held_out: HeldOut
    shards: int

    def expand(self, edges: beam.PCollection[pa.Table]) -> Clusters:
        """Wire the steps; each is a function of its own."""
        by_label = (
            edges
            | "ShuffleByEdge" >> GroupByShard(key="id_1", shards=self.shards)
            | "SortEdges" >> beam.FlatMap(_sort).with_outputs("negative", "written", main="positive")
        )
        member_of = by_label.positive | "FindComponents" >> FindComponents()
        together = StepwiseCombine(functools.partial(merge_dealings, held_out=self.held_out))
        dealt = (
            member_of
            | "ShuffleByComponent" >> GroupByShard(key="component", shards=self.shards)
            | "CountClusters" >> beam.Map(count_clusters)
            | "DealSplits" >> beam.CombineGlobally(together)
        )
        conflicts = (by_label.negative, member_of) | "CountConflicts" >> CountConflicts(self.shards)
        sizes = dealt | "WrittenOfClusters" >> beam.Map(lambda dealt: Written(None, dealt.counts))
        return {
            "places": member_of | "PlaceQuestions" >> beam.Map(place_questions),
            "held_out": dealt | "SplitsHeldOut" >> beam.Map(_hold_out, self.held_out),
            "written": (by_label.written, conflicts, sizes) | "WrittenOfPairs" >> beam.Flatten(),
        }


def _sort(edges: pa.Table) -> Iterator[Any]:
    by_label = sort_edges(edges)
    yield by_label.positive.select(["id_1", "id_2"])
    yield beam.pvalue.TaggedOutput("negative", by_label.negative)
    yield beam.pvalue.TaggedOutput("written", Written(None, by_label.counts))


class Dealing(NamedTuple):
    """The SIZES that may be held out, and counts of all clusters of some shards."""

    sizes: pa.Table
    clusters: int
    questions: int
    pairs: int

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts by the name that the manifest reports."""
        return {
            "components": self.clusters,
            "component_questions": self.questions,
            "closure_pairs": self.pairs,
        }


def count_clusters(member_of: pa.Table) -> Dealing:
    """Return the clusters of a shard.

    Args:
        member_of: COMPONENTS; all rows of each component are present.
    """
    sizes = size_clusters(member_of)
    return Dealing(sizes, len(sizes), sum(sizes["questions"].to_pylist()), int(pairs_of(sizes).sum()))


def merge_dealings(parts: Iterable[Dealing], held_out: HeldOut) -> Dealing:
    """Return the sum of counts of disjoint clusters, and no more SIZES than `shortlist` returns."""
    every = [Dealing(SIZES.empty_table(), 0, 0, 0), *parts]
    counts = (sum(part[place] for part in every) for place in (1, 2, 3))
    return Dealing(shortlist(pa.concat_tables(part.sizes for part in every), held_out), *counts)


def _hold_out(dealing: Dealing, held_out: HeldOut) -> pa.Table:
    return hold_out(dealing.sizes, dealing.pairs, held_out)
