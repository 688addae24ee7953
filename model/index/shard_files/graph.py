"""The bytes of a graph over centroids or codes (HNSW), checked before FAISS walks it without bounds.

bytes -> check_graph -> nothing, or an error with the position

A point of level n has a fixed number of slots for neighbours on each of the levels 0 to n - 1, twice as many on
level 0; an empty slot is -1 (faiss/impl/HNSW.h).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from model.index.shard_files.cursor import Cursor
from schemas.arrays import Int64s
from schemas.quantities import counted

MOST_NEIGHBOURS: Final = 64
"""Maximum neighbours of a point on the upper levels; more than 32 add memory and hardly recall."""


_POINTS: Final = 65_536
"""Points whose neighbours are checked at a time."""

SEARCHED: Final = 64
"""Centroids that a search keeps in view, at least: the nearest of 4,096 is then found in over 99 % of cases."""

_MOST_SEARCHED: Final = 2**16
"""Maximum points in view that a file may state: FAISS takes memory for all of them in each search."""

_MOST_LEVELS: Final = 64
"""Maximum levels that a file may state; FAISS makes 29 at 2 neighbours, the minimum, and fewer at more."""


def check_graph(cursor: Cursor, *, points: int) -> None:
    """Read a graph to its last byte.

    Args:
        cursor: before the graph.
        points: the number of centroids or codes.

    Raises:
        ValueError: a count is absurd, or a neighbour is outside of the graph or does not exist on that level.
    """
    if points < 1:
        raise ValueError(f"before byte {cursor.place:,}: a graph without a point")
    [levels] = cursor.take("Q")
    if not 1 <= levels <= _MOST_LEVELS:
        raise ValueError(f"before byte {cursor.place:,}: a graph of {counted(levels, 'level')}")
    cursor.numbers("probabilities of levels", count=levels, kind="<f8")
    slots = cursor.vector("slots of levels", count=levels + 1, kind="<i4").astype(np.int64)
    width = int(slots[1]) // 2
    if not 1 <= width <= MOST_NEIGHBOURS or (slots != [0, *(width * (2 + np.arange(levels)))]).any():
        raise ValueError(f"before byte {cursor.place:,}: slots of levels that no graph of a shard has")
    heights = cursor.vector("levels of points", count=points, kind="<i4").astype(np.int64)
    if heights.min() < 1 or heights.max() > levels:
        raise ValueError(f"before byte {cursor.place:,}: levels of points outside of 1 to {levels:,}")
    offsets = cursor.vector("offsets of points", count=points + 1, kind="<u8")
    sizes = slots[heights]
    if (offsets != np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)).any():
        raise ValueError(f"before byte {cursor.place:,}: offsets of points that do not follow from their levels")
    _check_neighbours(cursor, slots, heights, offsets.astype(np.int64))
    entry, highest, _, searched, _ = cursor.take("iiiii")
    if not 0 <= entry < points or highest != heights.max() - 1 or heights[entry] != highest + 1:
        raise ValueError(f"before byte {cursor.place:,}: a graph that is entered at {entry:,} on level {highest:,}")
    if not 1 <= searched <= _MOST_SEARCHED:
        raise ValueError(f"before byte {cursor.place:,}: a search of {counted(searched, 'point')}")


def _check_neighbours(cursor: Cursor, slots: Int64s, heights: Int64s, offsets: Int64s) -> None:
    """Read the neighbours of all points, each of which must be a point of that level.

    Args:
        cursor: before them.
        slots: (levels + 1,) slots of a point below each level.
        heights: (points,) levels of each point.
        offsets: (points + 1,) first slot of each point, and their number.
    """
    points, sizes = len(heights), slots[heights]
    neighbours = cursor.vector("neighbours", count=int(offsets[-1]), kind="<i4")
    if neighbours.min() < -1 or neighbours.max() >= points:
        raise ValueError(f"before byte {cursor.place:,}: neighbours outside of the {counted(points, 'point')}")
    for first in range(0, points, _POINTS):
        part = slice(first, first + _POINTS)
        starts = offsets[:-1][part]
        of_part = neighbours[starts[0] : starts[-1] + sizes[part][-1]]
        slot = np.arange(len(of_part)) - np.repeat(starts - starts[0], sizes[part])
        level = np.searchsorted(slots, slot, side="right") - 1
        if ((of_part >= 0) & (heights[of_part] <= level)).any():
            raise ValueError(f"before byte {cursor.place:,}: neighbours on a level that they are not on")
