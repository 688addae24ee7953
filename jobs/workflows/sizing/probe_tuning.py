"""Choice of the probes of an index, by recall on its own questions.

an index that is not published yet -> with_probes -> settings with probes and recall
a changed index -> with_present_recall -> settings with its recall
"""

from __future__ import annotations

from collections.abc import Callable

from jobs.display.console import say, working
from model.index.factory import is_graph, lists_of, most_probes
from model.index.index import Index
from model.index.settings import IndexSettings
from model.index.sizing.recall import recall_of, sample_of, tuned
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
        tuning = tuned(
            index, recall=recall, latency_ms=latency_ms, probes=probes and min(probes, most_probes(settings.factory))
        )
    if probes is None and tuning.figures.at_10 < recall:
        advice = (
            f"more would exceed --latency-ms {latency_ms:g}. Raise it, or lower --recall"
            if tuning.capped
            else "more do not help, since the vectors are stored as codes. Choose a --factory of longer codes"
        )
        searched = counted(tuning.probes, "point" if is_graph(settings.factory) else "list")
        say(f"recall@10 is {tuning.figures.at_10:.4f} with {searched}, below --recall {recall:g}: {advice}")
    return settings.model_copy(update={"probes": tuning.probes, "recall": tuning.figures})


def with_present_recall(settings: IndexSettings, index: Index) -> IndexSettings:
    """Return the settings of an index to which questions were added, with the recall that its probes reach now.

    Lists share the centroids of the first build, so added questions can lie far from all of them. Each segment of a
    graph has links of its own, so its recall is not measured again.

    Args:
        settings: of the index.
        index: opened, with at least two questions.
    """
    if settings.recall is None or not lists_of(settings.factory) or settings.questions < 2:
        return settings
    with working("Comparing searches with exact ones"):
        present = round(recall_of(index, sample_of(index), settings.probes), 4)
    return settings.model_copy(update={"recall": settings.recall.model_copy(update={"present_at_10": present})})
