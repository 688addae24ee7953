"""Reads side by side: a remote store answers each request after some time, and many at once.

places, function that reads one -> read_each -> results in order
files -> groups -> those that are read together
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

_MOST: Final = 16
_MOST_BYTES: Final = 2**24
"""Reads that run at the same time, and their bytes. Others begin after these, so that an error ends all soon."""

_Place = TypeVar("_Place")
_Result = TypeVar("_Result")


def read_each(
    read: Callable[[_Place], _Result], places: Iterable[_Place], bytes_of: Callable[[_Place], int] = lambda _: 0
) -> Iterator[_Result]:
    """Yield the result of each read, in the order of the places; the first error in this order is raised.

    Args:
        read: called with each place, in a thread.
        places: of the reads, such as files or days.
        bytes_of: bytes that are read at a place. Reads that run at the same time have 16 MB together, or are a single
            one.
    """
    with ThreadPoolExecutor(_MOST) as pool:
        for group in groups(places, bytes_of, most_bytes=_MOST_BYTES):
            yield from pool.map(read, group)


def groups(
    places: Iterable[_Place], bytes_of: Callable[[_Place], int], *, most_bytes: int
) -> Iterator[Sequence[_Place]]:
    """Yield up to 16 places at a time, in order, with at most ``most_bytes`` together, or a single larger one."""
    group: list[_Place] = []
    size = 0
    for place in places:
        if group and (len(group) == _MOST or size + bytes_of(place) > most_bytes):
            yield group
            group, size = [], 0
        group.append(place)
        size += bytes_of(place)
    if group:
        yield group
