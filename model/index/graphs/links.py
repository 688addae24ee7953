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
Neighbours = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_NEAREST: Final = 64


def link_unreachable(index: Any) -> None:
    """Link each point that cannot be reached from the entry point, from the nearest one that has a free slot.

    Where none of the `_NEAREST` has one, the point takes the last slot of the nearest, and passes on its link.

    Args:
        index: graph of FAISS, to which all points have been added.
    """
    neighbours, slots = links_of(index)
    entry = index.hnsw.entry_point
    reached = reachable(neighbours, slots, entry)
    for point in np.flatnonzero(~reached).tolist():
        if reached[point]:  # by a point that has been linked meanwhile
            continue
        found = index.search(index.reconstruct(point)[None], min(_NEAREST, len(slots)))[1][0]
        nearest = [near for near in found.tolist() if near >= 0 and reached[near]]
        _link(neighbours, slots, nearest or [entry], point)
        reachable(neighbours, slots, point, reached)


def links_of(index: Any) -> tuple[Neighbours, Ints]:
    """Return the points by slot, without a copy, and the slots of each point on the lowest level, as `reachable`."""
    graph = index.hnsw
    neighbours: Neighbours = rev_swig_ptr(graph.neighbors.data(), graph.neighbors.size())
    starts = vector_to_array(graph.offsets).astype(np.int64)[:-1]
    return neighbours, starts[:, None] + np.arange(graph.nb_neighbors(0))


def _link(neighbours: Neighbours, slots: Ints, nearest: list[int], point: int) -> None:
    """Link a point that cannot be reached, from one of the nearest ones that can."""
    for near in nearest:
        free = slots[near][neighbours[slots[near]] < 0]
        if len(free):
            neighbours[free[0]] = point
            return
    last, own = slots[nearest[0]][-1], slots[point]
    free = own[neighbours[own] < 0]
    neighbours[free[0] if len(free) else own[-1]] = neighbours[last]
    neighbours[last] = point


def reachable(neighbours: Neighbours, slots: Ints, entry: int, reached: Mask | None = None) -> Mask:
    """Return the mask of the points that a path of links leads to.

    Args:
        neighbours: (links,) points by slot, -1 where a slot is free.
        slots: (points, links of a point) slots of each.
        entry: point where paths begin.
        reached: (points,) mask of points that are reached already, to which the others are added; None: no point is.
    """
    reached, last = np.zeros(len(slots), bool) if reached is None else reached, np.array([entry])
    while len(last):
        reached[last] = True
        linked = np.unique(neighbours[slots[last]])
        linked = linked[linked >= 0]
        last = linked[~reached[linked]]
    return reached
