"""Answers that changed: from some time on questions got another answer, and the old one never again.

ASKED of whole questions -> changed_answers -> ChangedAnswer of a shard -> merge_changes -> those of a run -> warnings
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.questions.answer_texts import LONGEST_OPTION, ignore_option, shown
from pipelines.writing.reported import ChangedAnswer
from schemas.quantities import counted
from schemas.ragged import starts_of_runs
from schemas.text_arrays import beginnings, in_order

FEWEST: Final = 5
"""Minimum number of questions whose answer changed; of fewer one answer can follow the other by chance."""

_MOST: Final = 500
"""Maximum number of changes that a shard reports, those of most questions."""

_EXTREMES: Final = {"first_old": "min", "last_old": "max", "first_new": "min", "last_new": "max"}

FEWEST_REPLACED: Final = 3
"""Minimum number of answers that one and the same answer replaced, as in an outage; two can have been merged."""

_NAMED: Final = 5
"""Maximum number of changes with a sentence of their own."""


def changed_answers(asked: pa.Table) -> list[ChangedAnswer]:
    """Return for each two answers that some questions got last, one after the other, how many questions and when.

    Args:
        asked: ASKED; all rows of each question are present. Rows without a time are left out.
    """
    timed = asked.filter(pc.is_valid(asked["last_seen"]))
    if not len(timed):
        return []
    answers = timed.group_by(["question_id", "answer_id"], use_threads=False).aggregate(
        [("first_seen", "min"), ("last_seen", "max")]
    )
    ids, questions = answers["answer_id"].to_numpy(), answers["question_id"].to_numpy()
    first, last = (answers[name].cast(pa.int64()).to_numpy() for name in ("first_seen_min", "last_seen_max"))
    order = np.lexsort((ids, first, last, questions))
    newest = np.append(starts_of_runs(questions[order])[1:], len(order)) - 1
    several = newest[(newest > 0) & (questions[order[newest]] == questions[order[newest - 1]])]
    old, new = order[several - 1], order[several]
    columns = (ids[old], ids[new], first[old], last[old], first[new], last[new])
    pairs = (
        pa.table(columns, names=["old_id", "new_id", *_EXTREMES])
        .group_by(["old_id", "new_id"], use_threads=False)
        .aggregate([([], "count_all"), *_EXTREMES.items()])
        .sort_by([("count_all", "descending"), ("old_id", "ascending"), ("new_id", "ascending")])
        .slice(0, _MOST)
    )
    texts = _texts(timed, pa.chunked_array([*pairs["old_id"].chunks, *pairs["new_id"].chunks], pa.int64()))
    return [
        ChangedAnswer(old_id, new_id, texts[old_id], texts[new_id], *numbers)
        for old_id, new_id, *numbers in zip(*(column.to_pylist() for column in pairs.columns), strict=True)
    ]


def merge_changes(changes: Iterable[ChangedAnswer]) -> list[ChangedAnswer]:
    """Return the changes of a run of `FEWEST` questions or more, those of most questions first.

    All questions must have got the old answer before any got the new one, and none the other way round.

    Args:
        changes: of all shards.
    """
    merged = _merged(changes)
    pairs = {(change.old_id, change.new_id) for change in merged}
    clear = [
        change
        for change in merged
        if change.questions >= FEWEST
        and change.first_old < change.last_old <= change.first_new < change.last_new
        and (change.new_id, change.old_id) not in pairs
    ]
    return sorted(clear, key=lambda change: (-change.questions, change))


def change_warnings(changes: Sequence[ChangedAnswer]) -> list[str]:
    """Return a sentence about each of the first changes, and one about the number of the others.

    Answers that have another id but the same text have one sentence together, and so have those that one and the same
    answer replaced: to ignore each of them would remove right answers.
    """
    renamed = [change for change in changes if change.old == change.new]
    by_new = collections.defaultdict(list)
    for change in changes:
        if change.old != change.new:
            by_new[change.new_id].append(change)
    single = [change for group in by_new.values() if len(group) < FEWEST_REPLACED for change in group]
    single.sort(key=lambda change: (-change.questions, change))
    sentences = [_renamed_warning(renamed)] if renamed else []
    sentences += [_replaced_warning(group) for group in by_new.values() if len(group) >= FEWEST_REPLACED]
    sentences += [
        f"an answer seems to have changed on {_date(change)}: {counted(change.questions, 'question')} got "
        f"{shown(change.old)!r} before and only {shown(change.new)!r} since. If the old one is out of date, add "
        f"{ignore_option(change.old)}"
        for change in single[:_NAMED]
    ]
    others = len(single) - _NAMED
    return sentences + ([f"{counted(others, 'other answer')} seem to have changed too"] if others > 0 else [])


def changes_as_json(changes: Sequence[ChangedAnswer]) -> list[dict[str, Any]]:
    """Return changes for a program: the beginnings of both answers, the number of questions and the date."""
    return [{"old": c.old, "new": c.new, "questions": c.questions, "date": _date(c)} for c in changes]


def _texts(asked: pa.Table, ids: pa.ChunkedArray) -> dict[int, str]:
    """Return the beginning of the smallest form of each answer."""
    rows = asked.filter(pc.is_in(asked["answer_id"], value_set=ids))
    texts = in_order(rows["answer"])
    coded = pa.table({"answer_id": rows["answer_id"], "answer": texts.indices})
    forms = coded.group_by("answer_id", use_threads=False).aggregate([("answer", "min")])
    smallest = pa.DictionaryArray.from_arrays(forms["answer_min"].combine_chunks(), texts.dictionary)
    beginning = beginnings(smallest, LONGEST_OPTION + 1)
    return dict(zip(forms["answer_id"].to_pylist(), beginning.to_pylist(), strict=True))


def _merged(changes: Iterable[ChangedAnswer]) -> list[ChangedAnswer]:
    by_pair = collections.defaultdict(list)
    for change in changes:
        by_pair[change.old_id, change.new_id].append(change)
    return [
        ChangedAnswer(
            *pair,
            min(change.old for change in group),
            min(change.new for change in group),
            sum(change.questions for change in group),
            min(change.first_old for change in group),
            max(change.last_old for change in group),
            min(change.first_new for change in group),
            max(change.last_new for change in group),
        )
        for pair, group in by_pair.items()
    ]


def _renamed_warning(changes: Sequence[ChangedAnswer]) -> str:
    questions = sum(change.questions for change in changes)
    return (
        f"since {_date(min(changes, key=_begin))} {counted(len(changes), 'answer')} of "
        f"{counted(questions, 'question')} have the same texts and another answer id, or none. Check the column "
        "answer_id of the files since then"
    )


def _replaced_warning(changes: Sequence[ChangedAnswer]) -> str:
    questions, new = sum(change.questions for change in changes), changes[0].new
    return (
        f"since {_date(min(changes, key=_begin))} {counted(questions, 'question')} that got "
        f"{counted(len(changes), 'other answer')} get only {shown(new)!r}. If that is no "
        f"answer to them, as in an outage, add {ignore_option(new)}"
    )


def _begin(change: ChangedAnswer) -> int:
    return change.first_new


def _date(change: ChangedAnswer) -> str:
    return str(np.datetime64(change.first_new, "us").astype("datetime64[D]"))
