"""The queue that the options of `qpr review` name.

ReviewSettings, dataset -> open_queue -> Queue
"""

from __future__ import annotations

from jobs.review.queues.interface import Queue
from jobs.review.settings import ReviewSettings
from schemas.artifacts.dataset import open_dataset
from schemas.errors import UsageError


def open_queue(dataset: str | None, settings: ReviewSettings) -> Queue:
    """Return the queue.

    Raises:
        UsageError: the source of the queue is missing, or one of another queue is given.
        QprError: the source cannot be read or has nothing to judge.
    """
    if settings.queue == "requests":
        if dataset is not None or settings.requests is None:
            raise UsageError("--queue requests: judges the answers of --requests FILE, without --dataset")
        from jobs.review.queues.requests import RequestQueue

        return RequestQueue(settings.requests, settings.seed)
    if settings.requests is not None:
        raise UsageError(f"--queue {settings.queue}: give --requests with --queue requests only. Add --queue requests")
    if dataset is None:
        raise UsageError(
            f"--queue {settings.queue}: give --dataset, whose {settings.queue} are judged; only --report needs none"
        )
    match settings.queue:
        case "pairs":
            from jobs.review.queues.pairs import PairQueue

            return PairQueue(dataset, settings.seed)
        case "clusters":
            from jobs.review.queues.clusters import ClusterQueue

            return ClusterQueue(open_dataset(dataset), settings.seed)
