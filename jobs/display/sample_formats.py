"""A sample of clusters as a terminal table, Markdown, CSV or Parquet.

sampled clusters -> terminal_table, file_content
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import rich.box
import rich.table
import rich.text

from jobs.display.safe_text import csv_bytes, printable
from jobs.display.terminal_tables import keep_order
from schemas.quantities import counted
from schemas.tables import CLUSTERS, COHERENCE_COLUMNS

CLUSTER_FIGURES: Final = ("size", "events", *COHERENCE_COLUMNS.values())
"""Numbers of a cluster that are shown beside its answer, split and questions."""

FORMATS: Final = {".md": "markdown", ".csv": "csv", ".parquet": "parquet"}
"""Format of a file by the end of its name."""

QUESTION_ROWS: Final = pa.schema(
    [
        *(CLUSTERS.field(name).with_metadata(None) for name in ("cluster_id", "split", "answer", *CLUSTER_FIGURES)),
        pa.field("question", pa.string(), nullable=False),
        pa.field("question_events", pa.int64(), nullable=False),
    ]
)
"""One row a question of the sample, its cluster's columns repeated."""


def terminal_table(sample: list[dict[str, Any]], *, shown: int) -> rich.table.Table:
    """Return a table with one row a cluster and its ``shown`` most asked questions."""
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, show_lines=True)
    table.add_column("answer", ratio=2, overflow="fold")
    table.add_column("events × question", ratio=5, overflow="fold")
    table.add_column("coherence", justify="right", no_wrap=True)
    for cluster in sample:
        answer = rich.text.Text(_answer(cluster), style="bold")
        answer.append(f"\n{counted(cluster['size'], 'question')}, {cluster['split']}", style="not bold dim")
        lines = [f"{q['events']:,} × {printable(q['text'])}" for q in cluster["questions"][:shown]]
        scores = [f"{label} {cluster[name]:.2f}" for label, name in COHERENCE_COLUMNS.items()]
        table.add_row(answer, rich.text.Text("\n".join([*lines, *_more(cluster, shown)])), "\n".join(scores))
    keep_order(table, (text for row in sample for text in (_answer(row), *(q["text"] for q in row["questions"]))))
    return table


def markdown(sample: list[dict[str, Any]], *, shown: int) -> str:
    """Return a Markdown document with one section a cluster and its ``shown`` most asked questions."""
    from jobs.display.rendering import render

    return render("sample.md", sample=sample, shown=shown)


def file_content(sample: list[dict[str, Any]], form: str, *, shown: int) -> bytes:
    """Return the sample as a file in ``markdown``, ``csv`` or ``parquet``; the first has ``shown`` questions each."""
    if form == "markdown":
        return markdown(sample, shown=shown).encode()
    return csv_bytes(one_row_a_question(sample)) if form == "csv" else parquet_bytes(sample)


def parquet_bytes(sample: list[dict[str, Any]]) -> bytes:
    """Return a Parquet file with one row for every question."""
    sink = pa.BufferOutputStream()
    pq.write_table(one_row_a_question(sample), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def _answer(cluster: dict[str, Any]) -> str:
    return "(no answer)" if cluster["answer"] is None else printable(cluster["answer"])


def _more(cluster: dict[str, Any], shown: int) -> list[str]:
    hidden = len(cluster["questions"]) - shown
    return [f"... and {hidden:,} more"] if hidden > 0 else []


def one_row_a_question(sample: list[dict[str, Any]]) -> pa.Table:
    """Return the sample as a flat table of schema `QUESTION_ROWS`, for a spreadsheet."""
    rows = [
        {**cluster, "question": question["text"], "question_events": question["events"]}
        for cluster in sample
        for question in cluster["questions"]
    ]
    return pa.Table.from_pylist(rows, schema=QUESTION_ROWS)
