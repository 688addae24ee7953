"""Speed of this machine beside the one to whose builds the times of a plan were fitted.

product_time -> `sizing.planning`
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

PRODUCT_S: Final = 0.1193
"""CPU seconds of the measured product on that machine."""

_ROUNDS: Final = 5
"""Products, of which the fastest counts."""


def product_time() -> float:
    """Measure products of matrices for half a second: CPU time here by that on the other machine, 2 is twice as slow.

    The fastest of some rounds counts, since other work slows some of them. Work on rows and in graphs is not measured:
    in .1 s its time differs by half from one process to the next on the same machine.
    """
    left = np.random.default_rng(0).random((4_096, 256), np.float32)
    right = np.ascontiguousarray(left.T)
    seconds = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        np.matmul(left, right)
        seconds.append(time.process_time() - started)
    return min(seconds) / PRODUCT_S
