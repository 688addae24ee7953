"""Speed of this machine beside the one to whose builds the times of a plan were fitted.

measured_speed -> Speed -> `sizing.planning`
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from schemas.text_arrays import hash64_all, key_all

PRODUCTS_S: Final = 0.1193
ROWS_S: Final = 0.0088
"""CPU seconds of the two measured pieces of work on that machine, an idle AMD EPYC of 2025."""

_ROUNDS: Final = 7


class Speed(NamedTuple):
    """CPU time of work on this machine by that on the other one; 1 is equally fast, 2 takes twice as long.

    Attributes:
        products: of products of matrices.
        rows: of work on texts.
    """

    products: float = 1.0
    rows: float = 1.0


def measured_speed() -> Speed:
    """Measure the speed by work of about .3 s; the fastest of some rounds, since other work slows some of them."""
    left = np.random.default_rng(0).random((4_096, 256), np.float32)
    right = np.ascontiguousarray(left.T)
    texts = pa.array([f"How do I change word {number} of my {number % 97} accounts?" for number in range(20_000)])
    return Speed(
        products=_fastest(lambda: left @ right) / PRODUCTS_S,
        rows=_fastest(lambda: hash64_all(key_all(texts))) / ROWS_S,
    )


def _fastest(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)
