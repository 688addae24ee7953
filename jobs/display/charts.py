"""Histograms of a dataset's clusters as static SVG.

name, distribution -> histogram -> Histogram
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final, NamedTuple

import leather
from markupsafe import Markup

from jobs.display.summary_tables import FIVE, SummaryTable, label, percent, shown, whole

if TYPE_CHECKING:
    from pipelines.summary.histogram import Distribution

WIDTH, HEIGHT = 360, 190
"""Units of the drawing: pixels on a phone, where a page is 375 wide."""

_MAX_TICKS: Final = 10
"""Labels of sizes that fit below a plot: the widest, such as 500M, take 30 units."""

_UNITS: Final = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


class Histogram(NamedTuple):
    """A plot and the same numbers as text.

    Attributes:
        title: subject of the plot.
        quartiles: minimum, quartiles and maximum in words.
        axis: meaning of the labels below the columns.
        drawing: SVG group of `WIDTH` times `HEIGHT` units, without scripts, ids or fonts.
        numbers: label, count and share of every bin that is not empty.
    """

    title: str
    quartiles: str
    axis: str
    drawing: Markup
    numbers: SummaryTable


def histogram(name: str, distribution: Distribution) -> Histogram:
    """Return the histogram of a column of the clusters: ``size`` or a score in [0, 1]."""
    if name == "size":
        spans = size_spans(round(distribution.quantile(0)), round(distribution.quantile(1)))
        edges = [*(float(low) for low, _ in spans), float(spans[-1][1])]
        labels = [whole(low) if low == high else f"{whole(low)} to {whole(high)}" for low, high in spans]
        every = -(-len(spans) // _MAX_TICKS)
        ticks = ["" if place % every else _short(high) for place, (_, high) in enumerate(spans)]
    else:
        edges = [step / 20 for step in range(21)]
        labels = [f"{low:.2f} to {high:.2f}" for low, high in itertools.pairwise(edges)]
        ticks = ["" if step % 5 else f"{edge:g}" for step, edge in enumerate(edges[:-1])]  # at 0, .25, .5 and .75
    counts = distribution.bins(edges)
    rows = [(text, whole(n), percent(n / distribution.total)) for text, n in zip(labels, counts, strict=True) if n]
    return Histogram(
        title=label(name).capitalize(),
        quartiles=", ".join(
            f"{FIVE[quantile]} {shown(value, name)}" for quantile, value in distribution.five().items()
        ),
        axis="questions, up to" if name == "size" else label(name),
        drawing=_columns(labels, counts, ticks),
        numbers=SummaryTable((label(name), "clusters", "share"), rows),
    )


def size_spans(smallest: int, largest: int) -> list[tuple[int, int]]:
    """Return first and last size of each bin: one size each up to 5, then up to 10, 20, 50, 100, 200 and so on."""
    decades = (step * 10**power for power in range(1, len(str(largest)) + 1) for step in (1, 2, 5))
    spans = itertools.pairwise([0, 1, 2, 3, 4, 5, *decades])
    return [(low + 1, high) for low, high in spans if high >= smallest and low < largest]


def _columns(labels: list[str], counts: list[int], ticks: list[str]) -> Markup:
    """Return one column a label; an empty bin has none, so that the outline of a column marks at least one cluster."""
    chart = leather.Chart()
    chart.add_columns([(text, count or None) for text, count in zip(labels, counts, strict=True)])
    chart.add_x_axis(tick_formatter=lambda _, place, __: ticks[place])
    chart.add_y_axis(tick_formatter=lambda value, _, __: _short(float(value)))
    return Markup(leather.svg.stringify(chart.to_svg_group(WIDTH, HEIGHT)))  # noqa: S704  # numbers and our own labels


def _short(number: float) -> str:
    for unit, name in _UNITS:
        if number >= unit:
            return f"{number / unit:g}{name}"
    return f"{number:g}"
