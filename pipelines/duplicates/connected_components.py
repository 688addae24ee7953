"""Connected components of labelled pairs, of more edges than a worker can hold.

PCollection of edges -> FindComponents -> PCollection of COMPONENTS
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final

import apache_beam as beam
import networkx as nx
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from scipy.sparse import csgraph

from pipelines.duplicates.rows import COMPONENTS
from schemas.errors import QprError

Ids = npt.NDArray[np.int64]

SMALL_GRAPH: Final = 250_000
"""Maximum number of edges for networkx: about 1.6 s and 160 MB; scipy finds the components of larger graphs."""

MAX_NODES: Final = 2**31 - 1
"""Maximum number of nodes that scipy numbers: its labels are int32."""

MIN_EDGES: Final = 2**20
"""Minimum number of edges that an accumulator collects before it merges them."""

ROWS_A_TABLE: Final = 2**20
"""Maximum number of nodes of an output table, 16 bytes each."""


def components(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the component of every node that has an edge.

    Args:
        tables: edges as two int64 columns, in any direction; repeated edges and edges to oneself are allowed.
            COMPONENTS are edges too, and connect what the edges they were made from connect.

    Returns:
        COMPONENTS, ascending by node.

    Raises:
        QprError: there are more than `MAX_NODES` nodes.
    """
    edges = pa.concat_tables(table.rename_columns(COMPONENTS.names) for table in tables)
    left, right = (edges[name].to_numpy() for name in COMPONENTS.names)
    connect = _connect_by_networkx if len(left) <= SMALL_GRAPH else _connect_by_scipy
    return pa.table([*connect(left, right)], schema=COMPONENTS)


def _connect_by_networkx(left: Ids, right: Ids) -> tuple[Ids, Ids]:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(zip(left.tolist(), right.tolist(), strict=True))
    smallest: dict[int, int] = {}
    for nodes in nx.connected_components(graph):
        smallest |= dict.fromkeys(nodes, min(nodes))
    node, component = np.array(sorted(smallest.items()), np.int64).reshape(-1, 2).T
    return node, component


def _connect_by_scipy(left: Ids, right: Ids) -> tuple[Ids, Ids]:
    nodes, rows = np.unique(np.concatenate([left, right]), return_inverse=True)
    if len(nodes) > MAX_NODES:
        raise QprError(
            f"the pairs labelled as duplicates contain {len(nodes):,} questions; "
            f"the maximum is {MAX_NODES:,}: give fewer pairs"
        )
    rows = rows.astype(np.int32)  # int64 rows double the matrix
    edges = np.ones(len(left), bool)  # scipy reads the places of the values alone
    matrix = sparse.coo_array((edges, (rows[: len(left)], rows[len(left) :])), shape=(len(nodes), len(nodes)))
    _, label = csgraph.connected_components(matrix, directed=False)
    _, first = np.unique(label, return_index=True)  # nodes ascend: the first of a component is its smallest
    return nodes, nodes[first[label]]


class MergeComponents(beam.CombineFn):
    """Reduce tables of edges to COMPONENTS, one row a node however many edges there are.

    An accumulator is a list of tables: COMPONENTS, then edges not merged yet, fewer than the former or `MIN_EDGES`. So
    each edge is merged a fixed number of times. The result does not depend on the order of merges.
    """

    def create_accumulator(self) -> list[pa.Table]:
        """Return no node."""
        return [COMPONENTS.empty_table()]

    def add_input(self, mutable_accumulator: list[pa.Table], element: pa.Table) -> list[pa.Table]:
        """Add a table of edges."""
        tables = [*mutable_accumulator, element]
        return self.compact(tables) if sum(map(len, tables[1:])) >= max(MIN_EDGES, len(tables[0])) else tables

    def merge_accumulators(self, accumulators: Iterable[list[pa.Table]]) -> list[pa.Table]:
        """Add the tables of each accumulator, components and edges alike, to the first."""
        every = iter(accumulators)
        merged = next(every, self.create_accumulator())
        for tables in every:
            for table in tables:
                merged = self.add_input(merged, table)
        return merged

    def compact(self, accumulator: list[pa.Table]) -> list[pa.Table]:
        """Merge all edges, so that only components travel."""
        return [components(accumulator)] if len(accumulator) > 1 else accumulator

    def extract_output(self, accumulator: list[pa.Table]) -> pa.Table:
        """Return the components."""
        return self.compact(accumulator)[0]


@dataclasses.dataclass
class FindComponents(beam.PTransform):
    """Find the connected components of all edges.

    Input: ``pa.Table`` with two int64 columns; repeated edges and edges to oneself are allowed.
    Output: COMPONENTS tables of at most `ROWS_A_TABLE` rows, every node once; none without edges.

    No worker holds the edges, one holds 16 bytes for each node.
    """

    def expand(self, edges: beam.PCollection[pa.Table]) -> beam.PCollection[pa.Table]:
        """Combine edges into one table and cut it."""
        merged = edges | "MergeComponents" >> beam.CombineGlobally(MergeComponents()).without_defaults()
        return merged | "CutIntoTables" >> beam.FlatMap(_cut).with_output_types(pa.Table)


def _cut(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, len(table), ROWS_A_TABLE):
        yield table.slice(start, ROWS_A_TABLE)
