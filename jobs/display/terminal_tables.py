"""Tables in the terminal at the end of a run.

manifest -> dataset_tables -> rich tables
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich.box
import rich.console
import rich.table
import rich.text

from jobs.display.summary_tables import Sheet, other_counts, sheets, speed

if TYPE_CHECKING:
    from schemas.artifacts.manifest import Manifest


def dataset_tables(url: str, manifest: Manifest) -> rich.console.Group:
    """Return what a run made: a heading and a small table each for rows, questions, splits, clusters and the rest."""
    heading = f"{url}: {speed(manifest.counters.get('rows_read', 0), manifest.seconds)}"
    summed_up = sheets(manifest.counters, manifest.distributions, manifest.configuration)
    every = [*summed_up, other_counts(manifest.counters)]
    parts: list[rich.console.RenderableType] = [rich.text.Text(heading, style="bold")]
    for sheet in every:
        if sheet.rows:
            parts += [drawn(sheet), *_note(sheet)]
    return rich.console.Group(*parts)


def _note(sheet: Sheet) -> list[rich.text.Text]:
    return [rich.text.Text(f"{sheet.note}\n", style="dim")] if sheet.note else []


def drawn(sheet: Sheet) -> rich.table.Table:
    """Return a sheet as a table; its bars are left out."""
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(sheet.head):
        left = number < sheet.named
        table.add_column(rich.text.Text(name), justify="left" if left else "right", no_wrap=not left, overflow="fold")
    for row in sheet.rows:
        table.add_row(*map(rich.text.Text, row))
    return table
