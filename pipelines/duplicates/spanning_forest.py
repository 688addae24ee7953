"""Connected components of more edges than a worker can hold.

PCollection of edges -> FindComponents -> PCollection of COMPONENTS
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pipelines.duplicates.connected_components import NO_TREES, Forest, Ids, as_table, connect

MIN_EDGES: Final = 2**20
"""So many edges wait at least until they are worked into a forest."""

ROWS_A_TABLE: Final = 2**20


@dataclasses.dataclass
class Growing:
    """A forest and edges that wait to be worked into it: fewer than it has nodes, or than `MIN_EDGES`."""

    forest: Forest = NO_TREES
    waiting: list[tuple[Ids, Ids]] = dataclasses.field(default_factory=list)
    edges_waiting: int = 0

    def add(self, edges: tuple[Ids, Ids]) -> None:
        """Let edges wait, and work all in once so many wait that it pays."""
        self.waiting.append(edges)
        self.edges_waiting += len(edges[0])
        if self.edges_waiting >= max(MIN_EDGES, len(self.forest.node)):
            self.settle()

    def settle(self) -> None:
        """Work in all that waits."""
        if self.waiting:
            one, two = (np.concatenate(ends) for ends in zip(self.forest, *self.waiting, strict=True))
            self.forest, self.waiting, self.edges_waiting = connect(one, two), [], 0


class MergeForests(beam.CombineFn):
    """Reduce tables of edges to one forest, which has a row for every node however many edges there were.

    In whatever order tables and forests are merged, the result is the same.
    """

    def create_accumulator(self) -> Growing:
        """Return no tree."""
        return Growing()

    def add_input(self, mutable_accumulator: Growing, element: pa.Table) -> Growing:
        """Add the edges of a table, ``id_1`` and ``id_2``."""
        mutable_accumulator.add((element["id_1"].to_numpy(), element["id_2"].to_numpy()))
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[Growing]) -> Growing:
        """Add the trees of each forest, which are edges too, to the first."""
        others = iter(accumulators)
        merged = next(others, Growing())
        for other in others:
            for edges in (other.forest, *other.waiting):
                merged.add(edges)
        return merged

    def compact(self, accumulator: Growing) -> Growing:
        """Leave nothing waiting before a forest travels."""
        accumulator.settle()
        return accumulator

    def extract_output(self, accumulator: Growing) -> Forest:
        """Return the forest."""
        return self.compact(accumulator).forest


@dataclasses.dataclass
class FindComponents(beam.PTransform):
    """Find the connected components of all edges.

    Input: ``pa.Table`` with int64 ``id_1`` and ``id_2``; repeated edges and edges to oneself are allowed.
    Output: `pipelines.duplicates.connected_components.COMPONENTS` tables, every node once, as many as the size
    wants; none without edges.

    No worker holds the edges, one holds 16 bytes for each node.
    """

    def __post_init__(self) -> None:
        super().__init__()

    def expand(self, edges: beam.PCollection[pa.Table]) -> beam.PCollection[pa.Table]:
        """Combine edges into one forest and cut it into tables."""
        merged = edges | "MergeForests" >> beam.CombineGlobally(MergeForests()).without_defaults()
        return merged | "CutIntoTables" >> beam.FlatMap(cut).with_output_types(pa.Table)


def cut(forest: Forest, rows: int = ROWS_A_TABLE) -> Iterator[pa.Table]:
    """Yield a forest as `COMPONENTS` tables of at most so many rows."""
    for start in range(0, len(forest.node), rows):
        yield as_table(Forest(*(column[start : start + rows] for column in forest)))
