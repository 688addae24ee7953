"""Batches of training pairs.

number of pairs -> batches -> arrays of pair numbers
clusters of pairs -> unique_batches -> arrays of pair numbers, no cluster twice in one
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def batches(pairs: int, *, size: int, seed: int, epoch: int) -> Iterator[Numbers]:
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


def unique_batches(
    clusters: Numbers, *, per_cluster: int | None, size: int, seed: int, epoch: int
) -> Iterator[Numbers]:
    """Yield pairs drawn afresh for this epoch, each drawn one once, no two of a cluster in one batch.

    Of a cluster with more than ``per_cluster`` pairs so many are drawn evenly, else all. The drawn pairs, clusters in
    random order and a cluster's together, are dealt to as many batches in turn as hold them, and to no fewer than the
    pairs of a cluster; so batches differ by one pair at most. One that holds a single pair is left out, which takes a
    cluster with more pairs than half of all drawn. A draw depends on the seed and the epoch alone.

    Args:
        clusters: cluster number of each pair, from 0 without gaps, of at least two clusters.
        per_cluster: most pairs of a cluster, at least 1; None: all of them.
        size: most pairs a batch, at least 2.
        seed: of the whole training.
        epoch: its number.
    """
    drawn, count = _drawn(clusters, per_cluster=per_cluster, size=size)
    random = np.random.default_rng([seed, epoch])
    rank = random.permutation(int(clusters.max()) + 1)[clusters]
    order = np.lexsort((random.random(len(clusters)), rank))
    dealt = order if per_cluster is None else order[_place_in_run(rank[order]) < per_cluster]
    assert len(dealt) == drawn
    for first in range(count):
        if len(batch := dealt[first::count]) >= 2:
            yield batch


def unique_batch_count(clusters: Numbers, *, per_cluster: int | None, size: int) -> int:
    """Return how many batches `unique_batches` yields."""
    drawn, count = _drawn(clusters, per_cluster=per_cluster, size=size)
    return count if drawn >= 2 * count else drawn - count


def _drawn(clusters: Numbers, *, per_cluster: int | None, size: int) -> tuple[int, int]:
    """Return how many pairs are drawn and to how many batches they are dealt."""
    drawn = np.bincount(clusters)
    if per_cluster is not None:
        drawn = np.minimum(drawn, per_cluster)
    return int(drawn.sum()), max(-(-int(drawn.sum()) // size), int(drawn.max()))


def _place_in_run(values: Numbers) -> Numbers:
    """Return how many equal values stand before each, where equal ones stand together."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    return np.arange(len(values)) - np.repeat(starts, np.diff(starts, append=len(values)))
