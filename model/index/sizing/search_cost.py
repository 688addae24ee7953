"""Computed time of a search by vectors: the number of those that it compares.

index, queries, probes -> median_compared -> number of vectors -> search_ms -> milliseconds
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import faiss
import numpy as np

from model.index.arithmetic import one_thread
from model.index.factory import factory_of_codes, is_graph, lists_of, refines
from model.index.index import Index
from model.index.refinement import FEWEST_CANDIDATES
from schemas.arrays import Matrix

_NEIGHBOURS: Final = 10
"""Neighbours of the searches whose comparisons are counted."""

NANOSECONDS: Final = {
    "Flat": 0.7,
    "SQfp16": 0.45,
    "SQbf16": 0.45,
    "SQ8": 0.4,
    "SQ6": 0.85,
    "SQ4": 0.7,
    "PQ": 0.4,
    "fs": 0.04,
    "graph": 0.7,
}
"""Time to compare one number of a vector with a query's, in a core of an AMD EPYC with other work
(`benchmarks/retrieval/index.py`)."""

_CENTROIDS: Final = 2_048
"""Centroids that a search of a graph over them compares: `shard_files.graph.SEARCHED` times 32 neighbours."""


def median_compared(index: Index, vectors: Matrix, probes: int) -> int:
    """Return the median number of vectors that are compared with a query, without centroids."""
    if is_graph(index.settings.factory):
        searched = dataclasses.replace(index, probes=probes)
        return int(np.median([_compared_in_graphs(searched, vector[None]) for vector in vectors]))
    listed = index.listed[0]
    sizes = np.zeros(listed.lists + 1, np.int64)  # the last for list -1, which a graph did not find
    for shard in index.listed:
        sizes[:-1] += [shard.faiss.invlists.list_size(number) for number in range(shard.lists)]
    numbers = listed.nearest_lists(np.ascontiguousarray(vectors), min(probes, listed.lists))[1]
    return int(np.median(sizes[numbers].sum(axis=1)))


def _compared_in_graphs(index: Index, vector: Matrix) -> int:
    """Return the number of codes that are compared with a vector, (1, dimension), by FAISS's own count."""
    library: Any = faiss  # its stubs lack the counts
    with one_thread():
        library.cvar.hnsw_stats.reset()
        index.rank_vectors(vector, _NEIGHBOURS)
        return int(library.cvar.hnsw_stats.ndis)


def search_ms(index: Index, compared: int, *, exact: int = 0) -> float:
    """Return the computed CPU milliseconds of a search.

    Args:
        index: to search.
        compared: number of vectors or codes in lists or graphs that it compares.
        exact: number of vectors that it compares beside them.
    """
    factory, dimension = index.settings.factory, index.settings.dimension
    codes = factory_of_codes(factory).rpartition(",")[2]
    lists = lists_of(factory)
    centroids = min(lists, _CENTROIDS) if "_HNSW" in factory else lists
    kind = "PQ" if codes.startswith("PQ") else codes
    each = NANOSECONDS["graph" if is_graph(factory) else "fs" if codes.endswith("fs") else kind]
    exact += centroids + (FEWEST_CANDIDATES if refines(factory) else 0)
    return dimension * (compared * each + exact * NANOSECONDS["Flat"]) / 1e6
