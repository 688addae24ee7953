"""Texts of answers in messages, and answer ids of many texts, as a skill or a topic has them.

text -> shown, ignore_option -> parts of a sentence
MEMBERS of whole answers -> many_text_counts -> counters of a run -> many_text_warnings
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.quantities import counted, rounded_percent
from schemas.ragged import starts_of_runs

PREFIX: Final = "many_texts_"
"""Beginning of the counters."""

MANY: Final = 5
"""Minimum number of texts of an answer id that is counted; an answer that was edited now and then has fewer."""

MAX_SHARE: Final = 0.5
"""Maximum share of its rows that have the most frequent text: a text that most rows have stands for the answer."""

MIN_SHARE: Final = 0.05
"""Minimum share of a log's rows with such ids that causes a warning."""

LONGEST_OPTION: Final = 200
"""Maximum number of characters of an answer that is given on a command line."""

_SHOWN: Final = 60


def on_one_line(answer: str) -> str:
    """Return an answer without line breaks, which count as spaces."""
    return " ".join(answer.split())


def shown(answer: str) -> str:
    """Return the beginning of an answer on one line."""
    line = on_one_line(answer)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def ignore_option(answer: str) -> str:
    """Return the option of a command that ignores an answer, after the word "add"."""
    line = on_one_line(answer)
    short = len(line) <= LONGEST_OPTION
    return f"--ignore-answer {shlex.quote(line)}" if short else "it to a file for --ignore-answer @FILE"


def many_text_counts(members: pa.Table) -> dict[str, int]:
    """Return the number of answers with many texts, and of their rows; nothing where there are none.

    Args:
        members: MEMBERS; all rows of each answer are present.
    """
    answers = members.filter(pc.is_valid(members["answer"]))
    texts = answers.group_by(["answer_id", "answer"], use_threads=False).aggregate([("events", "sum")])
    ids, events = texts["answer_id"].to_numpy(), texts["events_sum"].to_numpy()
    order = np.argsort(ids, kind="stable")
    starts = starts_of_runs(ids[order])
    if not len(starts):
        return {}
    rows = np.add.reduceat(events[order], starts)
    most = np.maximum.reduceat(events[order], starts)
    found = (np.diff(np.append(starts, len(ids))) >= MANY) & (most <= MAX_SHARE * rows)
    counts = {f"{PREFIX}answers": int(found.sum()), f"{PREFIX}rows": int(rows[found].sum())}
    return counts if found.any() else {}


def many_text_warnings(counters: Mapping[str, int], columns: Mapping[str, str]) -> list[str]:
    """Return a sentence if a considerable share of the rows has ids of many texts, nothing otherwise.

    Args:
        counters: as in the manifest.
        columns: columns of the files by our names.
    """
    answers, rows = (counters.get(f"{PREFIX}{name}", 0) for name in ("answers", "rows"))
    if not answers or rows < MIN_SHARE * counters.get("rows_read", 0):
        return []
    ids = f"{counted(answers, 'answer id')} with {rounded_percent(rows / counters['rows_read'])} of the rows"
    return [
        f"{ids} {'has' if answers == 1 else 'have'} {MANY} or more texts each, and none that most of its rows have. "
        "Rows of an id count as one answer, shown by its most frequent text. If the ids name skills or topics, compare "
        f"the answers by their texts: --column answer_id={columns.get('answer', 'answer')}"
    ]
