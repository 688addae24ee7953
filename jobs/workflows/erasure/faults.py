"""Faults of an erasure, which goes on with the next place.

place, its fault -> kept -> Faults
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, MutableMapping

from schemas.errors import QprError

Faults = MutableMapping[str, str]
"""Places that cannot be read or erased from, and why, by their URLs."""


@contextlib.contextmanager
def kept(url: str, faults: Faults) -> Iterator[None]:
    """Note the fault of a place and go on with the next one."""
    try:
        yield
    except QprError as error:
        faults[url] = str(error)
