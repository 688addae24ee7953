"""Links to the points of a graph that no search would reach.

graph of FAISS -> link_unreachable -> the same graph, in which each point can be reached

A point is linked to the nearest others when it comes, and they to it, but they drop links that other ones make needless
(Malkov and Yashunin 2018, algorithm 4). Of many points that are almost equal some so lose all links to them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from faiss import rev_swig_ptr, vector_to_array

Ints = npt.NDArray[np.int64]

_NEAREST: Final = 64


def link_unreachable(index: Any) -> None:
    """Link each point that cannot be reached from the entry point, from the nearest one that has a free slot.

    Args:
        index: graph of FAISS, to which all points have been added.
    """
    graph = index.hnsw
    neighbours = rev_swig_ptr(graph.neighbors.data(), graph.neighbors.size())
    slots = vector_to_array(graph.offsets).astype(np.int64)[:-1, None] + np.arange(graph.nb_neighbors(0))
    for point in unreachable(neighbours, slots, graph.entry_point).tolist():
        found = index.search(index.reconstruct(point)[None], min(_NEAREST, len(slots)))[1][0]
        for near in found[(found >= 0) & (found != point)].tolist():
            free = slots[near][neighbours[slots[near]] < 0]
            if len(free):
                neighbours[free[0]] = point
                break


def unreachable(neighbours: npt.NDArray[np.int32], slots: Ints, entry: int) -> Ints:
    """Return the points that no path of links leads to.

    Args:
        neighbours: (links,) points by slot, -1 where a slot is free.
        slots: (points, links of a point) slots of each.
        entry: point where paths begin.
    """
    reached, last = np.zeros(len(slots), bool), np.array([entry])
    while len(last):
        reached[last] = True
        linked = np.unique(neighbours[slots[last]])
        linked = linked[linked >= 0]
        last = linked[~reached[linked]]
    return np.flatnonzero(~reached)
