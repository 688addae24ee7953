"""The order of a graph's points in memory, by which near points are near each other.

graph of FAISS -> ordered -> the same graph in an index that maps its points to their rows

A search visits near points one after the other. In the order of their rows, which is that of a hash, each of them is on
another page (Coleman et al. 2022, "Graph Reordering for Cache-Efficient Near Neighbor Search").
"""

from __future__ import annotations

from typing import Any, Final

import faiss
import numpy as np
import numpy.typing as npt
from faiss import rev_swig_ptr

Ints = npt.NDArray[np.int64]

_GROUP: Final = 512
"""Points of a group of k-means, which are next to each other; their codes and links take 270 kB."""

_SAMPLED, _ROUNDS, _SEED, _AT_ONCE = 64, 6, 1234, 16_384


def ordered(graph: Any) -> Any:
    """Return FAISS's ``IndexIDMap`` of the graph, whose points are reordered in place.

    The links stay what they are, so that a search finds the same rows. The same graph gives the same order if matrix
    products are made in one thread.

    Args:
        graph: of codes, to which all points have been added.
    """
    order = _by_group(graph)
    graph.permute_entries(order)
    mapped: Any = faiss.IndexIDMap(faiss.IndexFlatL2(graph.d))  # which takes only an empty index
    mapped.index, mapped.ntotal = graph, graph.ntotal
    faiss.copy_array_to_vector(order, mapped.id_map)
    return mapped


def rows_of_points(index: Any) -> Ints | None:
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


def _by_group(graph: Any) -> Ints:
    """Return the points ordered by group, and in a group as they came."""
    points, groups = graph.ntotal, graph.ntotal // _GROUP
    if groups < 2:
        return np.arange(points)
    sample = np.linspace(0, points - 1, min(points, _SAMPLED * groups)).astype(np.int64)
    settings: Any = faiss.ClusteringParameters()
    settings.niter, settings.seed, settings.max_points_per_centroid = _ROUNDS, _SEED, _SAMPLED
    centroids: Any = faiss.IndexFlatL2(graph.d)
    faiss.Clustering(graph.d, groups, settings).train(graph.storage.reconstruct_batch(sample), centroids)
    starts = range(0, points, _AT_ONCE)
    blocks = (graph.storage.reconstruct_n(start, min(_AT_ONCE, points - start)) for start in starts)
    return np.argsort(np.concatenate([centroids.search(block, 1)[1][:, 0] for block in blocks]), kind="stable")
