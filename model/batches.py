"""Which pairs meet in a training step.

number of pairs -> batches -> arrays of pair numbers
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def batches(pairs: int, *, size: int, seed: int, epoch: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield every pair number of an epoch once, in an order that depends on the seed and the epoch alone.

    The last batch may be shorter; it is left out if it holds a single pair, which has nothing to be told from.

    Args:
        pairs: how many there are.
        size: pairs a batch, at least 2.
        seed: of the whole training.
        epoch: its number.
    """
    order = np.random.default_rng([seed, epoch]).permutation(pairs)
    for start in range(0, pairs, size):
        if len(batch := order[start : start + size]) >= 2:
            yield batch


def batch_count(pairs: int, *, size: int) -> int:
    """Return how many batches `batches` yields."""
    return pairs // size + (pairs % size >= 2)
