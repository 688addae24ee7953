"""``report.html``: a page about a run, without network or script.

RunSummary -> dataset_page -> HTML
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobs.display.charts import HEIGHT, WIDTH, histogram
from jobs.display.option_names import option_rows
from jobs.display.rendering import render
from jobs.display.summary_tables import (
    SummaryTable,
    extreme_answers,
    other_counts,
    rows_per_second,
    summary_tables,
    whole,
)
from pipelines.summary.row_balance import row_balance

if TYPE_CHECKING:
    from pipelines.summary.run_summary import RunSummary

SHOWN_INPUTS = 100
"""Input files that the page lists; a run can have thousands, all of which are in its manifest."""


def dataset_page(summary: RunSummary) -> bytes:
    """Return the page of a run, UTF-8; equal summaries give equal bytes."""
    counters, distributions = summary.counters, summary.clusters.distributions
    quartiles = {name: distribution.five() for name, distribution in distributions.items()}
    check = summary.leakage.get("check", {})
    inputs = [(i.url, "" if i.bytes is None else whole(i.bytes)) for i in summary.inputs[:SHOWN_INPUTS]]
    return render(
        "report.html",
        summary=summary,
        balance=row_balance(counters),
        speed=rows_per_second(counters.get("rows_read", 0), summary.seconds),
        tables=summary_tables(counters, quartiles, summary.configuration, summary.inputs),
        answers=extreme_answers(summary.judged_answers, counters, summary.configuration),
        histograms=[histogram(name, distribution) for name, distribution in distributions.items()],
        size=(WIDTH, HEIGHT),
        compared=sum(n for name, n in check.get("compared", {}).items() if name != "pairs_of_sets") if check else None,
        leaked=check.get("found", 0),
        leakage=_leakage_table(summary.leakage),
        other_counts=other_counts(counters),
        options=SummaryTable(("Option", "value"), option_rows(summary.configuration), named=2),
        inputs=SummaryTable(("File", "bytes"), inputs, note=_hidden(len(summary.inputs) - len(inputs))),
    ).encode()


def _hidden(inputs: int) -> str:
    return f"and {whole(inputs)} more, all of them in manifest.json" if inputs else ""


def _leakage_table(leakage: Mapping[str, Any]) -> SummaryTable:
    """Return the numbers of questions found and removed, a row for each split and way of finding."""
    rows = []
    for split in ("validation", "test"):
        found, removed = (leakage.get(name, {}).get(split, {}) for name in ("found", "removed"))
        for way in sorted({*found, *removed}):
            counts = (whole(of.get(way, 0)) for of in (found, removed))
            rows.append((split, way.replace("_", " "), *counts))
    return SummaryTable(
        ("Question of", "found again as", "found", "removed"),
        rows,
        named=2,
        note="A question that is found in several ways is removed once. leakage.json has the rule, and the number of "
        "questions compared.",
    )
