"""Logs of random composition to learn linkage from: what an answer is worth differs from log to log.

clusters and strays, random numbers -> mixed_log -> SilverLog

Trees that learn from a few kinds of logs recognise each of them by what is the same in the whole log. Of some hundred
logs, no two alike, they learn how these features depend on the worth of an answer instead.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, get_args

import numpy as np

from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.silver_logs import ALONE, LARGEST_TOPIC, Alike, Composition, SilverLog, log_of, merged_answers

CLUSTERS: Final = (600, 8_000)
LARGEST_ANSWER: Final = (3, 80)
"""Smallest and largest of the maximum numbers of clusters of an answer."""

UNRELATED: Final = (0.02, 1.5)
MERGED: Final = 0.6
TWO_IN_ONE: Final = 0.3
STRAYS: Final = 2.0
SINGLES: Final = 2.0
"""Largest values of `Composition`, and of the number of answers with one question for each cluster."""

LARGEST_CLUSTERS: Final = (2, 4, 8, 30, 30, 30, 30, 30)
"""Maximum numbers of questions of a cluster, one of which is drawn for a log."""

ONE_KIND: Final = 0.6
NO_UNRELATED: Final = 0.2
NO_SINGLES: Final = 0.3
"""Shares of the logs whose answers are alike in one way only, without unrelated answers, without single questions."""


def mixed_log(source: Source, generator: np.random.Generator) -> SilverLog:
    """Return a log of random size, similarity of the clusters that share an answer, and shares of all kinds of answers.

    Args:
        source: where the questions come from.
        generator: of all choices.
    """
    clusters = _drawn(source.clusters, min(round(_log_uniform(generator, CLUSTERS)), len(source.clusters)), generator)
    size = int(generator.choice(LARGEST_CLUSTERS))
    clusters = [cluster[:size] for cluster in clusters]
    strays = generator.permutation(source.strays)
    kinds: list[Alike] = _drawn(list(get_args(Alike)), 1 if generator.random() < ONE_KIND else 2, generator)
    composition = Composition(
        merged=generator.uniform(0, MERGED),
        two_in_one=generator.uniform(0, TWO_IN_ONE),
        strays=generator.uniform(0, STRAYS),
        unrelated=0.0 if generator.random() < NO_UNRELATED else _log_uniform(generator, UNRELATED),
    )
    answers: list[tuple[int, list[np.ndarray]]] = []
    for place, kind in enumerate(kinds):
        part = slice(place, None, len(kinds))
        some = dataclasses.replace(source, clusters=clusters[part], strays=strays[part])
        largest = round(_log_uniform(generator, LARGEST_ANSWER))
        largest = min(largest, LARGEST_TOPIC) if kind == "topic" else largest
        answers += _answers(some, dataclasses.replace(composition, largest=largest), generator, kind)
    singles = 0.0 if generator.random() < NO_SINGLES else generator.uniform(0, SINGLES)
    used = {row for _, groups in answers for group in groups for row in group.tolist()}
    unused = [row for row in strays.tolist() if row not in used][: round(singles * len(clusters))]
    return log_of(source, [*answers, *((ALONE, [np.array([row])]) for row in unused)])


def _answers(
    source: Source, composition: Composition, generator: np.random.Generator, alike: Alike
) -> list[tuple[int, list[np.ndarray]]]:
    """Return the answers of a composition, or of a third of its shares, or of none, as the shared words allow."""
    for part in (1, 3):
        shares = dataclasses.replace(
            composition, merged=composition.merged / part, two_in_one=composition.two_in_one / part
        )
        try:
            return merged_answers(source, shares, generator, alike=alike)
        except ValueError:
            continue
    return [(ALONE, [cluster]) for cluster in source.clusters]


def _drawn(items: list[Any], count: int, generator: np.random.Generator) -> list[Any]:
    return [items[place] for place in generator.permutation(len(items))[:count]]


def _log_uniform(generator: np.random.Generator, bounds: tuple[float, float]) -> float:
    return float(np.exp(generator.uniform(*np.log(bounds))))
