"""Waits for what another thread or process does.

condition -> wait_until -> the same condition, fulfilled
"""

from __future__ import annotations

import time
from collections.abc import Callable

_MOST_S = 120


def wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as a condition is true; a busy machine has two minutes for it.

    Raises:
        TimeoutError: it is still false.
    """
    until = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {_MOST_S} s")
        time.sleep(0.01)
