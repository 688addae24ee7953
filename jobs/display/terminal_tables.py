"""Tables in the terminal at the end of a run.

manifest -> dataset_tables -> rich tables; result of an evaluation -> metrics_table -> rich table
table with texts of a log -> keep_order -> the same table
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import rich.box
import rich.console
import rich.table
import rich.text

from jobs.display.safe_text import LEFT_TO_RIGHT, is_right_to_left
from jobs.display.summary_tables import SummaryTable, other_counts, speed, summary_tables
from model.choices import WITHOUT_VECTORS
from schemas.quantities import counted

if TYPE_CHECKING:
    from schemas.artifacts.manifest import Manifest

_METRICS: Final = {"hits_at_1": "H@1", "hits_at_10": "H@10", "mrr": "MRR", "ndcg_at_10": "nDCG@10"}


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


def keep_order(table: rich.table.Table, texts: Iterable[str]) -> None:
    """Keep the columns of each row of a table in their order where a cell has right-to-left text.

    Many terminals write right-to-left text with all up to the next Latin letter from right to left, and so would
    exchange two columns. A mark at each divider ends such a text.

    Args:
        table: table with a box, in place.
        texts: of its cells.
    """
    if table.box is None or not any(map(is_right_to_left, texts)):
        return
    table.box = copy.copy(table.box)
    for part, place in itertools.product(("head", "mid", "foot"), ("left", "vertical", "right")):
        divider = getattr(table.box, f"{part}_{place}")
        setattr(table.box, f"{part}_{place}", f"{LEFT_TO_RIGHT}{divider}{LEFT_TO_RIGHT}")


def metrics_table(result: Mapping[str, Any]) -> rich.table.Table:
    """Return the metrics of the result of an evaluation."""
    title = f"{result['split']}: {counted(result['queries'], 'query')}, "
    title += counted(result["documents"], "document") if "beir" in result else counted(result["pairs"], "pair")
    if "model" in result:
        title += ", exact search"
    else:
        used, way = result["index"], f"mode {result['mode']}"
        if result["mode"] not in WITHOUT_VECTORS:
            way = f"{used['factory']}, {counted(used['probes'], 'probe') + ', ' if used['probes'] else ''}{way}"
        times = f"{result['mean_ms']:.2f} ms a query (95 %: {result['p95_ms']:.2f})"
        title += f", {used['questions']:,} indexed\n{way}, {times}"
    heads = map(_METRICS.__getitem__, result["per_question"])
    table = rich.table.Table("", *heads, title=title, title_justify="left")
    for name in filter(result.__contains__, ("per_question", "per_pair")):
        table.add_row(name.replace("_", " "), *(f"{value:.4f}" for value in result[name].values()))
        if bounds := result.get(f"{name}_interval"):
            table.add_row("95 % interval", *(f"{low:.4f} to {high:.4f}" for low, high in bounds.values()))
    return table
