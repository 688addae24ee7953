"""CPU seconds, wall seconds and memory of connected components: the pipelines' transform, scipy, networkx.

Run: python -m benchmarks.components [--nodes 10000000] [--seed 0] [--for-networkx 1000000]

A graph has as many edges as nodes: a third of the nodes in one path, in no order, the others joined at random; ids are
hashes. Every program makes the same edges and finds the components in a process of its own, start included; what it
found is compared by the number of nodes and components and a sum of hashes of all rows. networkx, which wants an object
a node, gets a smaller graph of the same kind.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from schemas.hashing import mix

ROWS = 2**16
STRIDE = 7_368_787
"""A prime: its multiples modulo the number of nodes are all nodes, in another order."""


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
    """Print the summary of what `pipelines.duplicates.spanning_forest.FindComponents` finds."""
    import apache_beam as beam

    from pipelines.duplicates.spanning_forest import FindComponents

    def summarise(found: pa.Table) -> np.ndarray:
        return summary(found["node"].to_numpy(), found["component"].to_numpy())

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


PROGRAMS: dict[str, Callable[[int, int], None]] = {
    "FindComponents": by_pipeline,
    "scipy": by_scipy,
    "networkx": by_networkx,
}


def main() -> None:
    """Measure each program on each size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--for-networkx", type=int, default=1_000_000)
    parser.add_argument("--program", choices=PROGRAMS, help="run this one here")
    options = parser.parse_args()
    if options.program:
        PROGRAMS[options.program](options.nodes, options.seed)
        return
    print(describe_machine(), f"seed {options.seed}", sep="; ")
    print(f"{'nodes':>12} {'program':16} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}  result")
    for nodes, names in _plan(options.for_networkx, options.nodes):
        results = []
        for name in names:
            command = [sys.executable, "-m", "benchmarks.components", "--program", name, "--nodes", str(nodes)]
            cost = measure([*command, "--seed", str(options.seed)])
            results.append([int(number) for number in cost.output.split()])
            verdict = "equal" if results[-1] == results[0] else "DIFFERS"
            told = f"{results[-1][0]:,} nodes, {results[-1][1]:,} components, {verdict}"
            spent = f"{cost.cpu_s:7.1f} {cost.wall_s:7.1f} {cost.memory_mb:8.0f}"
            print(f"{nodes:12,} {name:16} {spent}  {told}", flush=True)


def _plan(small: int, large: int) -> Iterator[tuple[int, list[str]]]:
    yield small, list(PROGRAMS)
    yield large, [name for name in PROGRAMS if name != "networkx"]


if __name__ == "__main__":
    main()
