"""Progress counters of the steps in this process.

count in a step -> Counts of this process -> counts, read by another thread

Counts are only displayed: a repeated bundle counts twice, and steps in other processes count there. The counters of a
run travel with its data (`pipelines.writing.run_report`).
"""

from __future__ import annotations

import threading

from schemas.quantities import counted

_counts: dict[tuple[str, str], int] = {}
_lock = threading.Lock()


def count(number: int, noun: str, done: str) -> None:
    """Add to the counts of this process, such as ``count(65_536, "row", "read")``.

    A call takes under a microsecond; steps make one call per batch.
    """
    with _lock:
        _counts[noun, done] = _counts.get((noun, done), 0) + number


def counts() -> list[str]:
    """Return the counts since `reset`, such as ``65,536 rows read``, in the order in which they began."""
    with _lock:
        return [f"{counted(number, noun)} {done}" for (noun, done), number in _counts.items()]


def reset() -> None:
    """Remove all counts, before a run begins."""
    with _lock:
        _counts.clear()
