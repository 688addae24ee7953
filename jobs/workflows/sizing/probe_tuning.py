"""Choice of the probes of an index, by recall on its own questions.

an index that is not published yet -> with_probes -> settings with probes and recall
"""

from __future__ import annotations

from collections.abc import Callable

from jobs.display.console import say, working
from model.index.factory import is_graph, most_probes
from model.index.index import Index
from model.index.settings import IndexSettings
from model.index.sizing.recall import tuned
from schemas.quantities import counted


def with_probes(
    settings: IndexSettings, opened: Callable[[], Index], *, probes: int | None, recall: float, latency_ms: float
) -> IndexSettings:
    """Return the settings of an index with the probes of a search and the recall that they reach.

    A recall that cannot be reached is reported on standard error.

    Args:
        settings: of the index.
        opened: returns the index, opened.
        probes: that were given; None: the fewest for the recall.
        recall: target share of the ten nearest questions.
        latency_ms: maximum median CPU milliseconds of a query.
    """
    if not most_probes(settings.factory) or settings.questions < 2:
        return settings
    index = opened()
    with working("Comparing searches with exact ones"):
        found = tuned(
            index, recall=recall, latency_ms=latency_ms, probes=probes and min(probes, most_probes(settings.factory))
        )
    if probes is None and found.figures.at_10 < recall:
        advice = (
            f"more would exceed --latency-ms {latency_ms:g}. Raise it, or lower --recall"
            if found.capped
            else "more do not help, since the vectors are stored as codes. Choose a --factory of longer codes"
        )
        searched = counted(found.probes, "point" if is_graph(settings.factory) else "list")
        say(f"recall@10 is {found.figures.at_10:.4f} with {searched}, below --recall {recall:g}: {advice}")
    return settings.model_copy(update={"probes": found.probes, "recall": found.figures})
