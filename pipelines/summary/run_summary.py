"""Summary of a finished run.

run -> Findings -> a page, tables in a terminal
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.intermediate import BroadAnswer
from pipelines.summary.cluster_summary import Overview
from pipelines.summary.fallbacks import warnings
from pipelines.summary.reject_examples import RejectExamples
from schemas.artifacts.manifest import Source


class Findings(NamedTuple):
    """All that a person may want to know of a run, before it is published.

    Attributes:
        url: the dataset's folder.
        run_id: the run's.
        seconds: how long it took so far.
        fault: why it will not be published, None if it will be.
        inputs: what it read.
        configuration: what decided what became of that.
        counters: of the manifest.
        overview: of the clusters.
        leakage: what ``leakage.json`` holds.
        rejects: some rows and questions that were rejected, for every reason.
        fallbacks: answers that look like a fallback, the most frequent first.
    """

    url: str
    run_id: str
    seconds: float
    fault: str | None
    inputs: list[Source]
    configuration: dict[str, Any]
    counters: dict[str, int]
    overview: Overview
    leakage: dict[str, Any]
    rejects: Sequence[RejectExamples] = ()
    fallbacks: Sequence[BroadAnswer] = ()

    @property
    def warnings(self) -> list[str]:
        """Return what a person should look into, a sentence each."""
        return warnings(self.fallbacks, rows=self.counters.get("rows_read", 0))
