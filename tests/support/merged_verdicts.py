"""Verdicts of a file, merged as `qpr review --merge` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.review.merging import merge, read_judged

if TYPE_CHECKING:
    from jobs.review.queues.interface import Queue
    from jobs.review.store import VerdictStore


def merge_file(store: VerdictStore, queue: Queue, file: str) -> int:
    """Add the verdicts of a file and return the number of new ones."""
    return merge(store, read_judged(queue, file))
