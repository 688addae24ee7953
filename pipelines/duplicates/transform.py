"""Clusters of questions from pairs labelled by people, for any number of pairs.

EDGES -> ClusterDuplicates -> ASKED rows that place questions, the splits of clusters held out, Written
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypedDict

import apache_beam as beam
import pyarrow as pa

from pipelines.duplicates.conflicts import CountConflicts
from pipelines.duplicates.held_out_split import hold_out, pairs_of, place_questions, shortlist, size_clusters
from pipelines.duplicates.labelled_pairs import sort_edges
from pipelines.duplicates.settings import HeldOut
from pipelines.duplicates.spanning_forest import FindComponents
from pipelines.engine.shuffle import GroupByShard
from pipelines.intermediate import SIZES, Written


class Clusters(TypedDict):
    """What pairs make of questions.

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

    def __post_init__(self) -> None:
        super().__init__()

    def expand(self, edges: beam.PCollection[pa.Table]) -> Clusters:
        """Wire the steps; each is a function of its own."""
        by_label = (
            edges
            | "MeetByEdge" >> GroupByShard(key="id_1", shards=self.shards)
            | "SortEdges" >> beam.FlatMap(_sort).with_outputs("negative", "written", main="positive")
        )
        member_of = by_label.positive | "FindComponents" >> FindComponents()
        dealt = (
            member_of
            | "MeetByComponent" >> GroupByShard(key="component", shards=self.shards)
            | "SizeClusters" >> beam.Map(size_clusters)
            | "DealSplits" >> beam.CombineGlobally(DealSplits(self.held_out))
        )
        conflicts = (by_label.negative, member_of) | "CountConflicts" >> CountConflicts(self.shards)
        sizes = dealt | "CountClusters" >> beam.Map(lambda dealt: Written(None, dealt.counts))
        return {
            "places": member_of | "PlaceQuestions" >> beam.Map(place_questions),
            "held_out": dealt | "SplitsHeldOut" >> beam.Map(lambda dealt: dealt.splits),
            "written": (by_label.written, conflicts, sizes) | "WrittenOfPairs" >> beam.Flatten(),
        }


def _sort(edges: pa.Table) -> Iterator[Any]:
    by_label = sort_edges(edges)
    yield by_label.positive.select(["id_1", "id_2"])
    yield beam.pvalue.TaggedOutput("negative", by_label.negative)
    yield beam.pvalue.TaggedOutput("written", Written(None, by_label.counts))


class Dealt(NamedTuple):
    """`pipelines.duplicates.held_out_split.SPLITS_OF` and counts of clusters."""

    splits: pa.Table
    counts: dict[str, int]


class Dealing(NamedTuple):
    """The SIZES that may be held out, and counts of all clusters seen."""

    sizes: pa.Table
    clusters: int = 0
    questions: int = 0
    pairs: int = 0


@dataclasses.dataclass
class DealSplits(beam.CombineFn):
    """Choose the clusters of validation and test among all; holds no more rows than `shortlist` returns."""

    held_out: HeldOut

    def create_accumulator(self) -> Dealing:
        """Return no cluster."""
        return Dealing(SIZES.empty_table())

    def add_input(self, mutable_accumulator: Dealing, element: pa.Table) -> Dealing:
        """Add SIZES."""
        seen = Dealing(element, len(element), sum(element["questions"].to_pylist()), int(pairs_of(element).sum()))
        return self.merge_accumulators([mutable_accumulator, seen])

    def merge_accumulators(self, accumulators: Iterable[Dealing]) -> Dealing:
        """Put shortlists together and shorten them again."""
        merged = self.create_accumulator()
        for other in accumulators:
            listed = shortlist(pa.concat_tables([merged.sizes, other.sizes]), self.held_out)
            merged = Dealing(listed, *(a + b for a, b in zip(merged[1:], other[1:], strict=True)))
        return merged

    def extract_output(self, accumulator: Dealing) -> Dealt:
        """Deal the splits."""
        sizes, clusters, questions, pairs = accumulator
        counts = {"components": clusters, "component_questions": questions, "closure_pairs": pairs}
        return Dealt(hold_out(sizes, pairs, self.held_out), counts)
