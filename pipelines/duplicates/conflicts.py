"""Pairs that people marked as different although a chain of duplicates connects them.

negative EDGES, COMPONENTS -> CountConflicts -> Written
"""

from __future__ import annotations

import dataclasses

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.duplicates.rows import CROSSINGS
from pipelines.engine.shuffle import GroupByShard
from pipelines.writing.reported import Written


@dataclasses.dataclass
class CountConflicts(beam.PTransform):
    """Count the negative edges inside a component: each is joined with the component of one end, then of the other.

    Input: two PCollections, EDGES that are negative and `pipelines.duplicates.connected_components.COMPONENTS`.
    Output: `Written`, counts only.
    """

    shards: int

    def expand(
        self, inputs: tuple[beam.PCollection[pa.Table], beam.PCollection[pa.Table]]
    ) -> beam.PCollection[Written]:
        """Shuffle twice, by the one end and by the other."""
        negative, member_of = inputs
        nodes = member_of | "Nodes" >> beam.Map(from_node)
        ends = (negative | "FirstEnds" >> beam.Map(from_first), nodes)
        others = ends | "ShuffleByFirst" >> GroupByShard(key="node", shards=self.shards) | beam.Map(from_other)
        return (others, nodes) | "ShuffleBySecond" >> GroupByShard(key="node", shards=self.shards) | beam.Map(_count)


def from_node(member_of: pa.Table) -> pa.Table:
    """Return COMPONENTS as CROSSINGS."""
    node, component = member_of["node"], member_of["component"]
    return pa.table([node, pa.nulls(len(node), pa.int64()), component], schema=CROSSINGS)


def from_first(edges: pa.Table) -> pa.Table:
    """Return EDGES as CROSSINGS seen from ``id_1``."""
    return pa.table([edges["id_1"], edges["id_2"], pa.nulls(len(edges), pa.int64())], schema=CROSSINGS)


def from_other(crossings: pa.Table) -> pa.Table:
    """Return the edges whose node is in a component, seen from their other end.

    Args:
        crossings: all rows of each node are present.
    """
    edges, component = _with_own(crossings)
    turned = pa.table([edges["other"], edges["node"], component], schema=CROSSINGS)
    return turned.filter(pc.is_valid(turned["component"]))


def inside(crossings: pa.Table) -> int:
    """Return how many edges have both ends in one component.

    Args:
        crossings: `from_other` and `from_node`; all rows of each node are present.
    """
    edges, component = _with_own(crossings)
    return pc.sum(pc.equal(edges["component"], component)).as_py() or 0


def _with_own(crossings: pa.Table) -> tuple[pa.Table, pa.ChunkedArray]:
    """Return the edges and the component of the node that each is seen from, null where that is in none."""
    is_edge = pc.is_valid(crossings["other"])
    edges, nodes = crossings.filter(is_edge), crossings.filter(pc.invert(is_edge))
    return edges, nodes["component"].take(pc.index_in(edges["node"], value_set=nodes["node"]))


def _count(crossings: pa.Table) -> Written:
    return Written(None, {"negative_edges_inside_a_component": inside(crossings)})
