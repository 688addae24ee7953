"""``report.html``: a page about a run, without network or script.

Findings -> dataset_page -> HTML
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.display.charts import HEIGHT, WIDTH, histogram
from jobs.display.option_names import option_rows
from jobs.display.rendering import render
from jobs.display.summary_tables import Sheet, flat, other_counts, rows_per_second, sheets, whole
from pipelines.summary.row_balance import accounts

if TYPE_CHECKING:
    from pipelines.summary.run_summary import Findings

SHOWN_INPUTS = 100


def dataset_page(findings: Findings) -> bytes:
    """Return the page of a run, UTF-8; equal findings give equal bytes."""
    counters, distributions = findings.counters, findings.overview.distributions
    quartiles = {name: distribution.five() for name, distribution in distributions.items()}
    leakage = [(name.replace("_", " ").replace(".", ", "), v) for name, v in flat(findings.leakage) if v != "0"]
    check = findings.leakage.get("check", {})
    inputs = [(i.url, "" if i.bytes is None else whole(i.bytes)) for i in findings.inputs[:SHOWN_INPUTS]]
    return render(
        "report.html",
        findings=findings,
        accounts=accounts(counters),
        speed=rows_per_second(counters.get("rows_read", 0), findings.seconds),
        sheets=sheets(counters, quartiles, findings.configuration),
        histograms=[histogram(name, distribution) for name, distribution in distributions.items()],
        size=(WIDTH, HEIGHT),
        compared=sum(n for name, n in check.get("compared", {}).items() if name != "pairs_of_sets") if check else None,
        leaked=check.get("found", 0),
        leakage=Sheet(("Comparison", "value"), leakage, named=2),
        other_counts=other_counts(counters),
        options=Sheet(("Option", "value"), option_rows(findings.configuration), named=2),
        inputs=Sheet(("File", "bytes"), inputs),
        hidden_inputs=len(findings.inputs) - len(inputs),
    ).encode()
