from __future__ import annotations

import struct

import numpy as np
import pytest

from model.index.shard_files.cursor import Cursor
from model.index.shard_files.graph import check_graph

POINTS, WIDTH, LEVELS = 3, 2, 2
HEIGHTS = (2, 1, 1)
SLOTS = (0, 4, 6)
NEIGHBOURS = (1, 2, -1, -1, -1, -1, 0, 2, -1, -1, 0, 1, -1, -1)


def vector(values, form):
    return struct.pack(f"<Q{len(values)}{form}", len(values), *values)


def graph(
    *,
    probabilities=(0.5, 0.25),
    slots=SLOTS,
    heights=HEIGHTS,
    offsets=(0, 6, 10, 14),
    neighbours=NEIGHBOURS,
    entry=0,
    highest=1,
    searched=64,
):
    return b"".join(
        [
            vector(probabilities, "d"),
            vector(slots, "i"),
            vector(heights, "i"),
            vector(offsets, "Q"),
            vector(neighbours, "i"),
            struct.pack("<5i", entry, highest, 40, searched, 1),
        ]
    )


def test_a_graph_is_read_to_its_last_byte():
    cursor = Cursor(graph() + b"next")
    check_graph(cursor, points=POINTS)
    assert cursor.take("4s") == (b"next",)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"probabilities": ()}, "a graph of 0 levels"),
        ({"probabilities": (0.1,) * 65}, "a graph of 65 levels"),
        ({"probabilities": (np.nan, 0.25)}, "probabilities of levels that are infinite or no numbers"),
        ({"slots": (0, 4, 7)}, "slots of levels that no graph of a shard has"),
        ({"slots": (0, 0, 0)}, "slots of levels that no graph"),
        ({"slots": (0, -4, -6)}, "slots of levels that no graph"),
        ({"slots": (0, 2**30, 3 * 2**29)}, "slots of levels that no graph"),
        ({"slots": (0, 4)}, "number of slots of levels is 2, not 3"),
        ({"heights": (2, 1)}, "number of levels of points is 2, not 3"),
        ({"heights": (2, 1, 0)}, "levels of points outside of 1 to 2"),
        ({"heights": (2, 1, 3)}, "levels of points outside of 1 to 2"),
        ({"offsets": (0, 6, 10, 2**63)}, "offsets of points that do not follow"),
        ({"offsets": (1, 6, 10, 14)}, "offsets of points that do not follow"),
        ({"neighbours": NEIGHBOURS[:-1]}, "number of neighbours is 13, not 14"),
        ({"neighbours": (3, *NEIGHBOURS[1:])}, "neighbours outside of the 3 points"),
        ({"neighbours": (-2, *NEIGHBOURS[1:])}, "neighbours outside of the 3 points"),
        ({"neighbours": (1, 2, -1, -1, 1, -1, *NEIGHBOURS[6:])}, "neighbours on a level that they are not on"),
        ({"entry": 3}, "a graph that is entered at 3 on level 1"),
        ({"entry": -1}, "a graph that is entered at -1"),
        ({"entry": 1}, "a graph that is entered at 1 on level 1"),
        ({"highest": 2}, "entered at 0 on level 2"),
        ({"searched": 0}, "a search of 0 points"),
        ({"searched": 2**30}, "a search of 1,073,741,824 points"),
    ],
    ids=str,
)
def test_a_graph_that_would_lead_out_of_its_memory_is_refused(changed, fault):
    with pytest.raises(ValueError, match=fault):
        check_graph(Cursor(graph(**changed)), points=POINTS)
