"""Batches of an epoch, by the settings of the training.

train pairs, TrainingSettings -> fitted -> epoch_batches -> arrays of pair numbers
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from model.training.batching import Numbers, batch_count, batches, unique_batch_count, unique_batches
from model.training.settings import TrainingSettings
from model.training.training_pairs import Pairs
from schemas.quantities import counted

MANY_STEPS = 100
"""Fewer steps an epoch cost seconds, whatever their size; a small dataset always has small ones."""


def epoch_batches(pairs: Pairs, settings: TrainingSettings, *, epoch: int) -> Iterator[Numbers]:
    """Yield the pairs of every step of an epoch."""
    size, seed = settings.batch_size, settings.seed
    if not settings.deals_clusters:
        return batches(len(pairs), size=size, seed=seed, epoch=epoch)
    per_cluster = settings.pairs_per_cluster or None
    return unique_batches(pairs.clusters, per_cluster=per_cluster, size=size, seed=seed, epoch=epoch)


def batches_an_epoch(pairs: Pairs, settings: TrainingSettings) -> int:
    """Return how many batches `epoch_batches` yields."""
    if not settings.deals_clusters:
        return batch_count(len(pairs), size=settings.batch_size)
    per_cluster = settings.pairs_per_cluster or None
    return unique_batch_count(pairs.clusters, per_cluster=per_cluster, size=settings.batch_size)


def fitted(settings: TrainingSettings, pairs: Pairs, *, say: Callable[[str], None]) -> TrainingSettings:
    """Return settings whose batch is no larger than the data; say so, and what few or large clusters do to batches."""
    size, of = settings.batch_size, "pairs"
    largest = len(pairs)
    if settings.deals_clusters:
        largest, of = pairs.cluster_count, "clusters, each of which comes once in a batch"
    if size > largest:
        say(f"batch size reduced from {size} to {largest}, the number of train {of}")
        settings = settings.model_copy(update={"batch_size": largest})
    if settings.deals_clusters:
        _say_what_is_dealt(settings, pairs, say=say)
    elif settings.batch_size > pairs.cluster_count:
        alone = "--unique-clusters lets each come once"
        say(f"a batch holds pairs of at most {pairs.cluster_count} clusters, fewer than its pairs; {alone}")
    return settings


def _say_what_is_dealt(settings: TrainingSettings, pairs: Pairs, *, say: Callable[[str], None]) -> None:
    """Say so if one cluster has so many pairs that an epoch takes many small steps."""
    drawn = np.bincount(pairs.clusters)
    if settings.pairs_per_cluster:
        drawn = np.minimum(drawn, settings.pairs_per_cluster)
    total, most = int(drawn.sum()), int(drawn.max())
    if most > MANY_STEPS and most * settings.batch_size > 2 * total:
        size = f"{most:,} steps of at most {counted(-(-total // most), 'pair')}, not {settings.batch_size:,}"
        say(f"an epoch takes {size}: one cluster has {most:,} pairs, one for each step. Set --pairs-per-cluster")
