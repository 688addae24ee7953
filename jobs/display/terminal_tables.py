"""Tables in the terminal at the end of a run.

manifest -> dataset_tables -> rich tables
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich.box
import rich.console
import rich.table
import rich.text

from jobs.display.summary_tables import SummaryTable, other_counts, speed, summary_tables

if TYPE_CHECKING:
    from schemas.artifacts.manifest import Manifest


def dataset_tables(url: str, manifest: Manifest) -> rich.console.Group:
    """Return a heading and one small table each for rows, questions, splits, clusters and other counts."""
    heading = f"{url}: {speed(manifest.counters.get('rows_read', 0), manifest.seconds)}"
    parts: list[rich.console.RenderableType] = [rich.text.Text(heading, style="bold")]
    tables = summary_tables(manifest.counters, manifest.distributions, manifest.configuration, manifest.inputs)
    for table in (*tables, other_counts(manifest.counters)):
        if table.rows:
            parts.append(terminal_table(table))
        if table.note:
            parts.append(rich.text.Text(f"{table.note}\n", style="dim"))
    return rich.console.Group(*parts)


def terminal_table(summary: SummaryTable) -> rich.table.Table:
    """Return a summary table for a terminal, without its bars."""
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(summary.head):
        left = number < summary.named
        table.add_column(rich.text.Text(name), justify="left" if left else "right", no_wrap=not left, overflow="fold")
    for row in summary.rows:
        table.add_row(*map(rich.text.Text, row))
    return table
