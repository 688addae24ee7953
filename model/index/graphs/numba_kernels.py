"""The walk through a graph of codes as machine code, made by numba.

vectors, codes, links -> walk -> distances, points

A walk reads thousands of codes, each somewhere else in memory. As soon as a point has been reached, all codes that it
links to are asked for, so that they come while others are compared; hnswlib does the same. Machine code that was kept
is not compiled again when only `prefetch.py` or `schemas/compiled.py` has changed: touch this file too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from model.index.graphs.prefetch import fetch
from schemas.arrays import Bools, Float32s, Int64s
from schemas.compiled import compile_reordered

Codes = npt.NDArray[np.uint8]
Points = npt.NDArray[np.int32]

_REACHED_FOR_EACH_IN_VIEW = 64
"""Places for reached points for each point in view; about 25 are reached for each. They are doubled when half full."""

_SPREAD, _HIGH = 0x9E3779B1, 15
"""Multiplier, and number of lower bits of the product that are left out: the numbers of points are spread over a table
(multiplicative hashing; Knuth, The Art of Computer Programming 3, section 6.4)."""


@njit(inline="always")
def _distance(vector: Any, steps: Any, code: Any) -> Any:
    """Return the squared distance of a vector and a code."""
    total = np.float32(0)
    for number in range(len(code)):
        difference = vector[number] - steps[number] * np.float32(code[number])
        total += difference * difference
    return total


@njit(inline="always")
def _reach(reached: Any, point: Any) -> Any:
    """Add a point to the table of those that have been reached; return whether it is new. The table has free places."""
    last = len(reached) - 1
    place = ((point * _SPREAD) >> _HIGH) & last
    while reached[place] >= 0:
        if reached[place] == point:
            return False
        place = (place + 1) & last
    reached[place] = point
    return True


@njit(inline="always")
def _table(in_view: Any, linked: Any) -> Any:
    """Return a table for the points that a walk reaches; its size is a power of 2."""
    places = 1
    while places < _REACHED_FOR_EACH_IN_VIEW * in_view + 2 * linked:
        places *= 2
    return np.empty(places, np.int32)


@njit(inline="always")
def _grown(reached: Any) -> Any:
    """Return a larger table of the same points."""
    larger = np.full(2 * len(reached), -1, np.int32)
    for point in reached:
        if point >= 0:
            _reach(larger, point)
    return larger


@njit(inline="always")
def _entered(vector: Any, steps: Any, codes: Any, links: Any, offsets: Any, slots: Any, entry: Any, top: Any) -> Any:
    """Return the point where the lowest level is entered, and its distance."""
    numbers, dimension = codes.reshape(-1), codes.shape[1]
    nearest, distance = entry, _distance(vector, steps, codes[entry])
    for level in range(top, 0, -1):
        moved = True
        while moved:
            moved = False
            start = offsets[nearest]
            of_level = links[start + slots[level] : start + slots[level + 1]]
            for near in of_level:
                if near < 0:
                    break
                fetch(numbers, near * dimension, dimension)
            for near in of_level:
                if near < 0:
                    break
                to_near = _distance(vector, steps, codes[near])
                if to_near < distance:
                    nearest, distance, moved = near, to_near, True
    return nearest, distance


@njit(inline="always")
def _insert(point: Any, distance: Any, points: Any, distances: Any, count: Any) -> Any:
    """Insert a point into ``count`` points in order of distance; return its place, or their maximum number.

    The last one leaves if there is no room; of equally far ones the later comes after.
    """
    if count == len(points) and distance >= distances[count - 1]:
        return len(points)
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if distances[middle] <= distance:
            low = middle + 1
        else:
            high = middle
    for place in range(min(count, len(points) - 1), low, -1):
        points[place], distances[place] = points[place - 1], distances[place - 1]
    points[low], distances[low] = point, distance
    return low


@njit(inline="always")
def _reach_linked(linked: Any, reached: Any, new: Any, numbers: Any, dimension: Any) -> Any:
    """Write the points among those that are linked that have not been reached before; return their number."""
    fresh = 0
    for near in linked:
        if near < 0:
            break
        if _reach(reached, near):
            new[fresh] = near
            fresh += 1
            fetch(numbers, near * dimension, dimension)
    return fresh


@njit(inline="always")
def _keep(
    new: Any, fresh: Any, vector: Any, steps: Any, codes: Any, offsets: Any, allowed: Any, view: Any, far: Any,
    kept: Any, of_vector: Any, to_them: Any, written: Any,
) -> Any:  # fmt: skip
    """Insert new points into those in view and into those that are found.

    Returns:
        The numbers of both, and the first place in view that has changed.
    """
    first = len(view)
    for near in new[:fresh]:
        distance = _distance(vector, steps, codes[near])
        if len(allowed) and allowed[near]:
            _insert(near, distance, of_vector, to_them, written)
            written = min(written + 1, len(of_vector))
        inserted = _insert(near, distance, view, far, kept)
        if inserted < len(view):
            fetch(offsets, near, 1)
            kept = min(kept + 1, len(view))
            first = min(first, inserted)
    return kept, written, first


@compile_reordered
def walk(
    vectors: Float32s,
    steps: Float32s,
    codes: Codes,
    links: Points,
    offsets: Int64s,
    slots: Int64s,
    entry: int,
    highest: int,
    in_view: int,
    allowed: Bools,
    distances: Float32s,
    points: Int64s,
) -> None:
    """Write the nearest points of each vector, nearest first; what is missing is point -1 and infinitely far.

    The nearest point of each level is where the next lower one is entered. On the lowest one the nearest points are
    kept in view, and those that each of them links to are compared (Malkov and Yashunin 2018, algorithm 2).

    Args:
        vectors: (n, dimension), less the vector of a code of zeros.
        steps: (dimension,) difference of two successive codes.
        codes: (points, dimension).
        links: points by slot, -1 from the first free slot of a point and level on.
        offsets: (points,) first slot of each point.
        slots: (levels + 1,) slots of a point below each level.
        entry: point where a walk begins.
        highest: its level.
        in_view: number of points; if k is larger, links of those that are farther than the last one are not followed.
        allowed: (points,) those that may be found; empty: all.
        distances: (n, k) squared Euclidean, overwritten.
        points: of the same shape, overwritten.
    """
    reached, new, size = _table(in_view, slots[1]), np.empty(slots[1], np.int32), max(in_view, points.shape[1])
    view, far = np.empty(size, np.int32), np.empty(size, np.float32)
    points[:], distances[:] = -1, np.inf
    numbers, dimension = codes.reshape(-1), codes.shape[1]
    for number in range(len(vectors)):
        vector, of_vector, to_them = vectors[number], points[number], distances[number]
        nearest, distance = _entered(vector, steps, codes, links, offsets, slots, entry, highest)
        view[0], far[0] = nearest, distance
        kept, written, place, taken = 1, 0, 0, 1
        if len(allowed) and allowed[nearest]:
            _insert(nearest, distance, of_vector, to_them, 0)
            written = 1
        reached[:] = -1
        _reach(reached, nearest)
        while place < kept and (place < in_view or far[place] <= far[in_view - 1]):  # as far as FAISS among equal ones
            if view[place] < 0:  # its links have been followed
                place += 1
                continue
            start = offsets[view[place]]
            view[place] = ~view[place]
            if 2 * (taken + slots[1]) > len(reached):
                reached = _grown(reached)
            fresh = _reach_linked(links[start : start + slots[1]], reached, new, numbers, dimension)
            taken += fresh
            if place + 1 < kept and view[place + 1] >= 0:  # probably the next
                fetch(links, offsets[view[place + 1]], slots[1])
            kept, written, first = _keep(
                new, fresh, vector, steps, codes, offsets, allowed, view, far, kept, of_vector, to_them, written
            )
            place = min(place + 1, first)
        if not len(allowed):
            written = min(kept, len(of_vector))
            for place in range(written):
                of_vector[place], to_them[place] = max(view[place], ~view[place]), far[place]
