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
from schemas.text import question_id

if TYPE_CHECKING:
    from model.search.results import Hit

SHOWN_WORDS = 5
"""Maximum shared words in a row of the table."""


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
    table.add_column("rank", justify="right")
    likely = any(hit.probability is not None for hit in hits)
    if likely:
        table.add_column("probability", justify="right")
    table.add_column("question")
    answered = any(hit.answer for hit in hits)
    if answered:
        table.add_column("answer")
    table.add_column("why")
    for hit in hits:
        cells = [hit.text, *([hit.answer or ""] if answered else []), _reasons(question, hit)]
        probability = [] if not likely else ["" if hit.probability is None else f"{hit.probability:.2f}"]
        table.add_row(str(hit.rank), *probability, *map(printable, cells))
    return table


def _reasons(question: str, hit: Hit) -> str:
    if hit.question_id == question_id(question):
        return "the same question"
    words = hit.why.shared_words
    shown = [" ".join(words[:SHOWN_WORDS]) + (" …" if len(words) > SHOWN_WORDS else "")] if words else []
    ranks = {"nearest": hit.why.dense_rank, "BM25": hit.why.lexical_rank}
    return ", ".join([*shown, *(f"{name} {rank}" for name, rank in ranks.items() if rank)])
