"""Links of a graph in both directions, between equal points, and to those that no search would reach.

graph of FAISS with links to near points -> drop_farthest -> link_equal -> link_far -> link_back -> link_unreachable

A point is not linked to near ones that others lead to (Malkov and Yashunin 2018, algorithm 4). Of many points that are
almost equal some so have no links to them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from faiss import rev_swig_ptr, vector_to_array

from schemas.arrays import Bools, Int64s
from schemas.ragged import ranks_in_runs, starts_of_runs

Neighbours = npt.NDArray[np.int32]

_NEAREST: Final = 64
"""Nearest points among which one with a free slot is sought."""

_AT_ONCE: Final = 2**16
"""Points or links compared at a time: 16 MB of their 64 slots."""


def drop_farthest(index: Any) -> None:
    """Drop the links from each point beyond half of its slots, the farthest, so that others can be linked to it."""
    neighbours, starts, width = _slots_of(index)
    for slot in range(width // 2, width):
        neighbours[starts + slot] = -1


def link_far(index: Any) -> None:
    """Give the points of the upper levels their links of level 1 on the lowest level too, in both directions.

    Nearest others lead from group to group only where groups touch. The links of level 1 are between few points, and of
    a time when there were fewer still.

    Args:
        index: graph of FAISS with links on its upper levels.
    """
    neighbours, starts, width = _slots_of(index)
    upper = np.flatnonzero(vector_to_array(index.hnsw.levels) > 1)
    links = neighbours[starts[upper, None] + np.arange(width, width + index.hnsw.nb_neighbors(1))]
    row, slot = np.nonzero(links >= 0)
    points, targets = upper[row], links[row, slot].astype(np.int64)
    _append(index, np.concatenate([points, targets]), np.concatenate([targets, points]))


def link_equal(index: Any, first: Int64s) -> None:
    """Link points with equal codes as a binary tree, in both directions.

    Args:
        index: graph of FAISS, in which the first point of equal ones has links in at most half of its slots, and the
            others have none.
        first: (points,) first point that is equal to it, which may be itself.
    """
    order = np.argsort(first, kind="stable")
    place = ranks_in_runs(starts_of_runs(first[order]), len(order))
    child = np.flatnonzero(place)
    parent = child - place[child] + (place[child] - 1) // 2
    _append(index, np.concatenate([order[child], order[parent]]), np.concatenate([order[parent], order[child]]))


def link_back(index: Any) -> None:
    """Link each point from those that it has links to, while these have free slots; its nearest ones come first.

    Args:
        index: graph of FAISS with links from points to near ones, and trees of equal ones.
    """
    links = links_of(index)
    from_rank = [np.flatnonzero(of_rank >= 0).astype(np.int32) for of_rank in links.T]
    to = np.concatenate([links[points, rank] for rank, points in enumerate(from_rank)])
    _append(index, to, np.concatenate(from_rank))


def link_unreachable(index: Any) -> None:
    """Link each point that cannot be reached from the entry point, from the nearest one that has a free slot.

    Where none of the `_NEAREST` has one, the point takes the last slot of the nearest, and passes on its link.

    Args:
        index: graph of FAISS, to which all points have been added.
    """
    links, entry = links_of(index), index.hnsw.entry_point
    neighbours, starts, width = _slots_of(index)
    reached = reachable(links, entry)
    for point in np.flatnonzero(~reached).tolist():
        if reached[point]:  # by a point that has been linked meanwhile
            continue
        candidates = index.search(index.reconstruct(point)[None], min(_NEAREST, len(links)))[1][0]
        nearest = [near for near in candidates.tolist() if near >= 0 and reached[near]] or [entry]
        _link(links, nearest, point)
        for changed in (*nearest, point):
            neighbours[starts[changed] : starts[changed] + width] = links[changed]
        reachable(links, point, reached)


def links_of(index: Any) -> Neighbours:
    """Return a copy of the links of each point on the lowest level, (points, slots), -1 where a slot is free."""
    neighbours, starts, width = _slots_of(index)
    links = np.empty((len(starts), width), np.int32)
    for start in range(0, len(starts), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        links[part] = neighbours[starts[part, None] + np.arange(width)]
    return links


def _slots_of(index: Any) -> tuple[Neighbours, Int64s, int]:
    """Return the points by slot, without a copy, and on the lowest level the first slot of each and their number."""
    graph = index.hnsw
    neighbours: Neighbours = rev_swig_ptr(graph.neighbors.data(), graph.neighbors.size())
    return neighbours, vector_to_array(graph.offsets).astype(np.int64)[:-1], graph.nb_neighbors(0)


def _append(index: Any, points: npt.NDArray[np.integer[Any]], to: npt.NDArray[np.integer[Any]]) -> None:
    """Add links from points to others, where they do not exist; those that no slot is left for are left out."""
    neighbours, starts, width = _slots_of(index)
    order = np.sort(np.unique((points.astype(np.int64) << 32) | to, return_index=True)[1])  # points have 31 bits
    order = order[np.argsort(points[order], kind="stable")]
    points, to = points[order], to[order]
    new, taken = np.empty(len(points), bool), np.empty(len(points), np.int64)
    for start in range(0, len(points), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        links = neighbours[starts[points[part], None] + np.arange(width)]
        new[part], taken[part] = (links != to[part, None]).all(axis=1), np.count_nonzero(links >= 0, axis=1)
    points, to, place = points[new], to[new], taken[new]
    place += ranks_in_runs(starts_of_runs(points), len(points))
    fits = place < width
    neighbours[starts[points[fits]] + place[fits]] = to[fits]


def _link(links: Neighbours, nearest: list[int], point: int) -> None:
    """Link a point that cannot be reached, from one of the nearest ones that can."""
    for near in nearest:
        free = np.flatnonzero(links[near] < 0)
        if len(free):
            links[near, free[0]] = point
            return
    free = np.flatnonzero(links[point] < 0)
    links[point, free[0] if len(free) else -1] = links[nearest[0], -1]
    links[nearest[0], -1] = point


def reachable(links: Neighbours, entry: int, reached: Bools | None = None) -> Bools:
    """Return the mask of the points that a path of links leads to.

    Args:
        links: (points, slots) of each, -1 where a slot is free.
        entry: point where paths begin.
        reached: (points,) mask of points that are reached already, to which the others are added; None: no point is.
    """
    reached, last = np.zeros(len(links), bool) if reached is None else reached, np.array([entry])
    while len(last):
        reached[last] = True
        linked = np.unique(links[last])
        linked = linked[linked >= 0]
        last = linked[~reached[linked]]
    return reached
