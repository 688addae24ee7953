"""Bins of a histogram.

distribution of sizes or scores -> size_bins, score_bins -> Bins
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from jobs.display.summary_tables import whole


class Bins(NamedTuple):
    """The columns of a plot.

    Attributes:
        edges: one more than there are bins; a bin holds its lower edge, the last both.
        labels: what a bin holds.
        ticks: what stands below it, empty for nothing.
    """

    edges: list[float]
    labels: list[str]
    ticks: list[str]


def score_bins() -> Bins:
    """Return twenty bins from 0 to 1; every fourth, .1, .3 and so on, has a tick where it begins."""
    edges = [step / 20 for step in range(21)]
    labels = [f"{low:.2f} to {high:.2f}" for low, high in itertools.pairwise(edges)]
    return Bins(edges, labels, [f"{edge:.1f}" if step % 4 == 2 else "" for step, edge in enumerate(edges[:-1])])


def size_bins(least: int, most: int) -> Bins:
    """Return bins for whole numbers, each up to five alone, then up to 10, 20, 50, 100, 200 and so on."""
    highs = [1, 2, 3, 4, 5]
    for power in itertools.count():
        if highs[-1] >= most:
            break
        highs += [step * 10**power for step in (10, 20, 50)]
    spans = [(low + 1, high) for low, high in itertools.pairwise([0, *highs]) if high >= least and low < most]
    labels = [whole(low) if low == high else f"{whole(low)} to {whole(high)}" for low, high in spans]
    return Bins([*(low for low, _ in spans), spans[-1][1]], labels, [_short(high) for _, high in spans])


def _short(number: int) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:g}{name}"
    return str(number)
