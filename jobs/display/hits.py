"""Hits of a question as a JSON object or a terminal table.

question, hits -> print_hits -> a line of JSON or a table
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import rich.table

from jobs.display.console import results
from jobs.display.safe_text import printable, with_text_ids

if TYPE_CHECKING:
    from model.index.hits import Hit


def print_hits(question: str, hits: Sequence[Hit], *, as_json: bool) -> None:
    """Print the hits of a question; in a table no hits are nothing."""
    if as_json:
        row = {"question": question, "hits": [with_text_ids(dataclasses.asdict(hit)) for hit in hits]}
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    elif hits:
        results.print(_table(question, hits))


def _table(question: str, hits: Sequence[Hit]) -> rich.table.Table:
    table = rich.table.Table(title=printable(question), title_justify="left")
    for name in ("rank", "score"):
        table.add_column(name, justify="right")
    table.add_column("question")
    answered = any(hit.answer for hit in hits)
    if answered:
        table.add_column("answer")
    for hit in hits:
        cells = [hit.text, *([hit.answer or ""] if answered else [])]
        table.add_row(str(hit.rank), f"{hit.score:.3f}", *map(printable, cells))
    return table
