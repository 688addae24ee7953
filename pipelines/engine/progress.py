"""Progress counters of the steps in this process.

count in a step -> Counts of this process -> counts, read by another thread

Counts are for the eye alone: a repeated bundle counts twice, and steps in other processes count there. The figures of
a run travel with its data (`pipelines.writing.run_report`).
"""

from __future__ import annotations

import threading

from schemas.quantities import counted

_counts: dict[tuple[str, str], int] = {}
_lock = threading.Lock()


def count(number: int, noun: str, done: str) -> None:
    """Add to what this process has done, such as ``count(65_536, "row", "read")``.

    A call takes under a microsecond; steps make one a batch.
    """
    with _lock:
        _counts[noun, done] = _counts.get((noun, done), 0) + number


def counts() -> list[str]:
    """Return what was done since `reset`, such as ``65,536 rows read``, in the order in which it began."""
    with _lock:
        return [f"{counted(number, noun)} {done}" for (noun, done), number in _counts.items()]


def reset() -> None:
    """Forget all counts, before a run begins."""
    with _lock:
        _counts.clear()
