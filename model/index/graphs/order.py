"""The order of a graph's points in memory, by which near points are near each other.

graph of FAISS, groups of its points -> ordered -> the same graph in an index that maps its points to their rows

A search visits near points one after the other. In the order of their rows, which is that of a hash, each of them is on
another page (Coleman et al. 2022, "Graph Reordering for Cache-Efficient Near Neighbor Search").
"""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
from faiss import rev_swig_ptr

from schemas.arrays import Int64s


def ordered(graph: Any, groups: Int64s) -> Any:
    """Return FAISS's ``IndexIDMap`` of the graph, whose points are reordered in place, by group and then as they came.

    The links stay what they are, so that a search finds the same rows.

    Args:
        graph: of codes, to which all points have been added.
        groups: (points,) number of the group of near ones that each is in.
    """
    order = np.argsort(groups, kind="stable")
    graph.permute_entries(order)
    mapped: Any = faiss.IndexIDMap(faiss.IndexFlatL2(graph.d))  # which takes only an empty index
    mapped.index, mapped.ntotal = graph, graph.ntotal
    faiss.copy_array_to_vector(order, mapped.id_map)
    return mapped


def rows_of_points(index: Any) -> Int64s | None:
    """Return the row of each point, a view that lives as long as the index; None where an index does not map points.

    The bytes of a shard have the same numbers, but at an odd place: numpy copies all of them to look up one.
    """
    return rev_swig_ptr(index.id_map.data(), index.ntotal) if isinstance(index, faiss.IndexIDMap) else None


def graph_in(index: Any) -> Any:
    """Return the graph of an index that maps its points to rows, or any other index itself."""
    if not isinstance(index, faiss.IndexIDMap):
        return index
    graph: Any = faiss.downcast_index(index.index)
    graph.referenced_objects = [index]  # it owns the graph
    return graph
