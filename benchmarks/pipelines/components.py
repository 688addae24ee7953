"""Cost of connected components: the transform of the pipelines, scipy, networkx.

Run: python -m benchmarks.pipelines.components --nodes 1000000 --small 100000

A graph has as many edges as nodes: a third of the nodes in one path, in random order, the others joined at random; ids
are hashes. Every program makes the same edges and finds the components in its own process. Results are compared by the
number of nodes and components and a sum of hashes of all rows. networkx, with an object for each node, runs on the
small graph only.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_call
from schemas.hashing import mix

ROWS = 2**16
STRIDE = 7_368_787
"""A prime: its multiples modulo the number of nodes are a permutation of the nodes."""


def edges_from(start: int, nodes: int, seed: int) -> pa.Table:
    """Return `ROWS` edges, fewer at the end, int64 ``id_1`` and ``id_2``: those numbered from ``start`` on."""
    number = np.arange(start, min(start + ROWS, nodes))
    chance = np.random.default_rng([seed, start])
    order = number * STRIDE % nodes
    in_path = order < nodes // 3
    at_random = chance.integers(nodes // 3 + 1, nodes, (2, len(number)))
    ends = np.where(in_path, [order, order + 1], at_random)
    return pa.table({"id_1": mix(ends[0], seed).view(np.int64), "id_2": mix(ends[1], seed).view(np.int64)})


def all_edges(nodes: int, seed: int) -> pa.Table:
    """Return all edges."""
    return pa.concat_tables(edges_from(start, nodes, seed) for start in range(0, nodes, ROWS)).combine_chunks()


def summary(node: np.ndarray, component: np.ndarray) -> np.ndarray:
    """Return nodes, components and the sum of a hash of each row, (3,) uint64: sums of it add up over parts."""
    rows = mix(mix(node, 0).view(np.int64) ^ component, 1).sum(dtype=np.uint64)
    return np.array([len(node), np.count_nonzero(node == component), rows], np.uint64)


def by_pipeline(nodes: int, seed: int) -> None:
    """Print the summary of what `pipelines.duplicates.connected_components.FindComponents` finds."""
    import apache_beam as beam

    from pipelines.duplicates.connected_components import FindComponents

    def summarise(components: pa.Table) -> np.ndarray:
        return summary(components["node"].to_numpy(), components["component"].to_numpy())

    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        (
            pipeline
            | beam.Create(range(0, nodes, ROWS))
            | "MakeEdges" >> beam.Map(edges_from, nodes, seed)
            | FindComponents()
            | "Summarise" >> beam.Map(summarise)
            | beam.CombineGlobally(sum)
            | beam.Map(lambda total: print(*total))
        )


def by_scipy(nodes: int, seed: int) -> None:
    """Print the summary of what scipy finds in a sparse matrix of all edges."""
    from scipy import sparse
    from scipy.sparse import csgraph

    edges = all_edges(nodes, seed)
    ids, rows = np.unique(np.concatenate([edges["id_1"], edges["id_2"]]), return_inverse=True)
    graph = sparse.coo_array((np.ones(nodes, np.int8), (rows[:nodes], rows[nodes:])), shape=(len(ids), len(ids)))
    _, label = csgraph.connected_components(graph, directed=False)
    _, first = np.unique(label, return_index=True)
    print(*summary(ids, ids[first[label]]))


def by_networkx(nodes: int, seed: int) -> None:
    """Print the summary of what networkx finds in a graph of Python objects."""
    import networkx as nx

    edges = all_edges(nodes, seed)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(zip(edges["id_1"].to_pylist(), edges["id_2"].to_pylist(), strict=True))
    smallest: dict[int, int] = {}
    for members in nx.connected_components(graph):
        smallest |= dict.fromkeys(members, min(members))
    print(*summary(np.fromiter(smallest, np.int64), np.fromiter(smallest.values(), np.int64)))


PROGRAMS = {"FindComponents": by_pipeline, "scipy": by_scipy, "networkx": by_networkx}


def main(
    nodes: Annotated[int, typer.Option(help="Nodes and edges of the large graph.")] = 10_000_000,
    small: Annotated[int, typer.Option(help="Nodes and edges of the graph for networkx too.")] = 1_000_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure each program on each graph."""
    report = Report(as_json=as_json, seed=seed)
    for count, names in ((small, [*PROGRAMS]), (nodes, ["FindComponents", "scipy"])):
        first = None
        for name in names:
            cost = measure_call(PROGRAMS[name], count, seed)
            first = first or cost.output
            reached, components, _ = map(int, cost.output.split())
            counts = {"nodes": reached, "components": components}
            result = "equal" if cost.output == first else "DIFFERS"
            report.row(edges=count, program=name, **cost.cells(), **counts, result=result)


if __name__ == "__main__":
    run(main)
