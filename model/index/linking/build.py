"""Graphs of codes, whose links lead to some of the nearest others of each point.

trained graph, flat shards -> build_graph -> bytes

FAISS links one point after the other by a walk through those before it, in one thread, and four fifths of the time it
waits for memory. Here the nearest others of all points are found first, some thousand at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import faiss
import numpy as np
from faiss import rev_swig_ptr, swig_ptr

from model.index.arithmetic import matrix_products, measure_each_pair, one_thread
from model.index.graphs.order import ordered
from model.index.linking.groups import grouped
from model.index.linking.links import drop_farthest, link_back, link_equal, link_far, link_unreachable
from model.index.linking.nearest import nearest_others
from model.index.linking.vectors import Counted
from model.index.shards import Shard, serialised
from schemas.arrays import Int64s
from schemas.hashing import mix

NEAREST: Final = 100
"""Nearest others of a point among which FAISS chooses its links."""


def build_graph(trained: bytes, shards: Sequence[Shard], linked: Counted | None = None) -> bytes:
    """Return the graph whose points are the codes of the vectors of flat shards, serialised.

    FAISS links the few points of the upper levels, one after the other. On the lowest level, which has all points, it
    chooses those of the nearest others of a point that lie in different directions (Malkov and Yashunin 2018, algorithm
    4), and these are linked back.

    Args:
        trained: the result of `shards.train` for a graph.
        shards: flat; the same shards give the same bytes.
        linked: function that takes the number of vectors whose nearest others have been found.
    """
    measure_each_pair()
    graph: Any = faiss.deserialize_index(np.frombuffer(trained, np.uint8))
    graph.init_level0 = False
    with one_thread():  # points of several threads are linked in the order in which they come
        for shard in shards:
            graph.add(shard.vectors)
    if not graph.ntotal:
        return serialised(graph)
    if graph.hnsw.entry_point < 0:  # no point is on an upper level
        graph.hnsw.entry_point, graph.hnsw.max_level = 0, 0
    with matrix_products():
        groups = grouped(shards)
    first = _first_of_equal(graph)
    unequal = first == np.arange(len(first))
    distances, rows = nearest_others(shards, groups, unequal, count=NEAREST + 1, searched=linked)
    graph.init_level_0_from_knngraph(rows.shape[1], swig_ptr(distances), swig_ptr(rows))
    del distances, rows
    drop_farthest(graph)
    link_equal(graph, first)
    link_far(graph)
    link_back(graph)
    with one_thread():
        link_unreachable(graph)
    return serialised(ordered(graph, groups.of_row))


def _first_of_equal(graph: Any) -> Int64s:
    """Return for each point the first one with the same code."""
    storage: Any = faiss.downcast_index(graph.storage)
    size = storage.code_size
    codes = rev_swig_ptr(storage.codes.data(), graph.ntotal * size).reshape(-1, size)
    hashed = np.zeros(len(codes), np.int64)
    for start in range(0, size, 8):
        word = np.zeros((len(codes), 8), np.uint8)
        word[:, : size - start] = codes[:, start : start + 8]
        hashed = mix(hashed ^ word.view(np.int64)[:, 0], 0).view(np.int64)
    _, first, group = np.unique(hashed, return_index=True, return_inverse=True)
    return first[group].astype(np.int64)
