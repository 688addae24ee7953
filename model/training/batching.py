"""Batches of training pairs.

number of examples -> batches -> arrays of their numbers
clusters of pairs -> unique_batches -> arrays of pair numbers, no cluster twice in one
train pairs, TrainingSettings -> fitted -> epoch_batches: one of the two
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs
from schemas.arrays import Int64s
from schemas.quantities import counted
from schemas.ragged import ranks_in_runs, starts_of_runs


def epoch_batches(pairs: Pairs, settings: TrainingSettings, *, epoch: int) -> Iterator[Int64s]:
    """Yield the pairs of every step of an epoch."""
    size, seed = settings.batch_size, settings.seed
    if not settings.deals_clusters:
        return batches(len(pairs), size=size, seed=seed, epoch=epoch)
    per_cluster = settings.pairs_per_cluster or None
    return unique_batches(pairs.clusters, per_cluster=per_cluster, size=size, seed=seed, epoch=epoch)


def fitted(settings: TrainingSettings, pairs: Pairs, *, inform: Callable[[str], None]) -> TrainingSettings:
    """Return settings whose batch is no larger than the data; report clusters that distort batches."""
    if settings.deals_clusters:
        return _fitted_to_clusters(settings, pairs, inform=inform)
    size, clusters = settings.batch_size, pairs.cluster_count
    if size > len(pairs):
        inform(f"batch size reduced from {size:,} to {len(pairs):,}, the number of train pairs")
        settings = settings.model_copy(update={"batch_size": len(pairs)})
    if settings.batch_size > clusters:
        alone = "--unique-clusters lets each come once"
        inform(f"a batch holds pairs of at most {counted(clusters, 'cluster')}, fewer than its pairs; {alone}")
    return settings


def _fitted_to_clusters(settings: TrainingSettings, pairs: Pairs, *, inform: Callable[[str], None]) -> TrainingSettings:
    """Return settings whose batch is no larger than those of `unique_batches`, and report why it is smaller.

    They are smaller where there are fewer clusters, or where the largest cluster has more pairs than there would be
    batches.
    """
    size = settings.batch_size
    drawn = _drawn(pairs.clusters, settings.pairs_per_cluster or None)
    total, largest_cluster = int(drawn.sum()), int(drawn.max())
    count = _batch_count(drawn, size)
    largest = -(-total // count)
    if size > largest == len(drawn):
        clusters = "the number of train clusters, each of which comes once in a batch"
        inform(f"batch size reduced from {size:,} to {largest:,}, {clusters}")
    elif largest_cluster > -(-total // size):
        alone = max(2 * count - total, 0)
        steps = f"an epoch takes {counted(count - alone, 'step')}"
        if alone:
            steps += f", and {counted(alone, 'pair')} alone in a batch {'is' if alone == 1 else 'are'} left out"
        change = "Lower" if settings.pairs_per_cluster else "Set"
        cause = (
            f"the largest cluster has {counted(largest_cluster, 'pair')} an epoch, at most one in a batch, so {steps}"
        )
        advice = f"{change} --pairs-per-cluster for larger batches"
        inform(f"batch size reduced from {size:,} to {largest:,}: {cause}. {advice}")
    else:
        return settings
    return settings.model_copy(update={"batch_size": largest})


def batches(pairs: int, *, size: int, seed: int, epoch: int) -> Iterator[Int64s]:
    """Yield every pair number of an epoch once, in an order that depends on the seed and the epoch alone.

    The last batch may be shorter; it is left out if it holds a single pair, which has no negatives.

    Args:
        pairs: number of examples.
        size: examples of a batch, at least 2.
        seed: of the whole training.
        epoch: its number.
    """
    order = np.random.default_rng([seed, epoch]).permutation(pairs)
    for start in range(0, pairs, size):
        if len(batch := order[start : start + size]) >= 2:
            yield batch


def unique_batches(clusters: Int64s, *, per_cluster: int | None, size: int, seed: int, epoch: int) -> Iterator[Int64s]:
    """Yield pairs drawn for this epoch, each drawn pair once, no two of a cluster in one batch.

    At most ``per_cluster`` pairs of a cluster are drawn, evenly. The drawn pairs, clusters in random order and a
    cluster's pairs together, are distributed in turn over as many batches as hold them, at least the number of pairs
    of any cluster; so batches differ by at most one pair. A batch of a single pair is left out; that requires a cluster
    with more than half of all drawn pairs. A draw depends on the seed and the epoch alone.

    Args:
        clusters: cluster number of each pair, from 0 without gaps, of at least two clusters.
        per_cluster: maximum pairs of a cluster, at least 1; None: all.
        size: maximum pairs of a batch, at least 2.
        seed: of the whole training.
        epoch: its number.
    """
    drawn = _drawn(clusters, per_cluster)
    count = _batch_count(drawn, size)
    random = np.random.default_rng([seed, epoch])
    rank = random.permutation(int(clusters.max()) + 1)[clusters]
    order = np.lexsort((random.random(len(clusters)), rank))
    place = ranks_in_runs(starts_of_runs(rank[order]), len(order))
    distributed = order if per_cluster is None else order[place < per_cluster]
    for first in range(count):
        if len(batch := distributed[first::count]) >= 2:
            yield batch


def _drawn(clusters: Int64s, per_cluster: int | None) -> Int64s:
    """Return the number of pairs drawn of every cluster."""
    counts = np.bincount(clusters)
    return counts if per_cluster is None else np.minimum(counts, per_cluster)


def _batch_count(drawn: Int64s, size: int) -> int:
    """Return the number of batches that hold all drawn pairs, those of a lone pair included."""
    return max(-(-int(drawn.sum()) // size), int(drawn.max()))
