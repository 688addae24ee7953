"""Texts of answers: in messages, and the one of an answer id that has several, as it was edited or names a topic.

text -> shown, ignore_option -> parts of a sentence
ASKED -> forms_of_ids -> ANSWER_FORMS of whole answers -> current_texts -> with_current_texts
counters of a run -> many_text_warnings
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import ANSWER_FORMS, LOG_ANSWER_ID
from schemas.quantities import counted, rounded_percent
from schemas.ragged import most_frequent, sizes_of_runs, starts_of_runs
from schemas.text_arrays import encode, in_order, with_used_texts

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

STILL_GIVEN: Final = 24 * 3600 * 10**6
"""Maximum number of microseconds from the last row with a text to the last one of its answer id, if it is in use."""

_NEVER: Final = -(2**62)
"""Time of a text whose rows have none; those of its id are newer."""


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


def forms_of_ids(asked: pa.Table) -> pa.Table:
    """Return ANSWER_FORMS of the answers that have an id in the log.

    Args:
        asked: ASKED.
    """
    return _merged(asked.filter(pc.is_valid(asked[LOG_ANSWER_ID.name])).select(ANSWER_FORMS.names))


class CurrentTexts(NamedTuple):
    """Present texts of the answer ids of a shard that had several, ``log_answer_id`` and ``answer``, and counters."""

    texts: pa.Table
    counts: dict[str, int]


def current_texts(forms: pa.Table) -> CurrentTexts:
    """Return the text of each answer id with several: the most frequent one of those that are still given.

    A text is still given if the log has it within `STILL_GIVEN` of the last row of its id. So an answer that was edited
    has its new text after a day, and one that varies has its most frequent text. Without times all texts count.

    Args:
        forms: ANSWER_FORMS; all rows of each answer are present.
    """
    merged = _merged(forms)
    answers, last = (
        merged["answer_id"].to_numpy(),
        pc.fill_null(merged["last_seen"].cast(pa.int64()), _NEVER).to_numpy(),
    )
    starts = starts_of_runs(answers)
    sizes = sizes_of_runs(starts, len(merged))
    newest = np.repeat(np.maximum.reduceat(last, starts), sizes)
    given = merged.filter(pa.array(np.repeat(sizes > 1, sizes) & (last >= newest - STILL_GIVEN)))
    ids, rows = (given[name].combine_chunks() for name in ("answer_id", "events"))
    chosen = most_frequent(ids, encode(given["answer"]), rows)
    named = merged[LOG_ANSWER_ID.name].take(pa.array(starts[sizes > 1]))
    texts = pa.table({LOG_ANSWER_ID.name: named, "answer": chosen["value"].cast(pa.string())})
    return CurrentTexts(texts, _many_text_counts(merged["events"].to_numpy(), starts, sizes))


def with_current_texts(table: pa.Table, texts: Sequence[pa.Table], *, of: str) -> pa.Table:
    """Return a table whose column ``answer`` has the present texts.

    Args:
        table: NAMED_QUESTIONS or MEMBERS.
        texts: of `current_texts`, of all shards.
        of: name of the column with the ids of the log.
    """
    if not texts:
        return table
    current, own = pa.concat_tables(texts).combine_chunks(), encode(table["answer"])
    found = pc.index_in(table[of], value_set=current[LOG_ANSWER_ID.name].combine_chunks()).combine_chunks()
    both = pa.concat_arrays([own.dictionary, current["answer"].combine_chunks()]).dictionary_encode()
    rows = both.indices.take(pc.coalesce(pc.add(found, pa.scalar(len(own.dictionary), pa.int32())), own.indices))
    place = table.column_names.index("answer")
    renamed = with_used_texts(pa.DictionaryArray.from_arrays(rows, both.dictionary))
    return table.set_column(place, table.schema.field(place), renamed)


def _merged(forms: pa.Table) -> pa.Table:
    """Return one row a form, ordered by answer and form."""
    by, place = ["answer_id", LOG_ANSWER_ID.name, "answer"], ANSWER_FORMS.names.index("answer")
    texts = in_order(forms["answer"])
    coded = forms.set_column(place, "answer", texts.indices)
    merged = coded.group_by(by, use_threads=False).aggregate([("events", "sum"), ("last_seen", "max")])
    ordered = merged.rename_columns(ANSWER_FORMS.names).sort_by([(name, "ascending") for name in by])
    answers = pa.DictionaryArray.from_arrays(ordered["answer"].combine_chunks(), texts.dictionary)
    return ordered.set_column(place, "answer", answers).cast(ANSWER_FORMS)


def _many_text_counts(events: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> dict[str, int]:
    """Return the number of answer ids with many texts, and of their rows; nothing where there are none."""
    rows, most = (choose.reduceat(events, starts) for choose in (np.add, np.maximum))
    found = (sizes >= MANY) & (most <= MAX_SHARE * rows)
    counts = {f"{PREFIX}answers": int(found.sum()), f"{PREFIX}rows": int(rows[found].sum())}
    return counts if found.any() else {}


def many_text_warnings(counters: Mapping[str, int], columns: Mapping[str, str], *, rows: int) -> list[str]:
    """Return a sentence if a considerable share of the rows has ids of many texts, nothing otherwise.

    Args:
        counters: as in the manifest.
        columns: columns of the files by our names.
        rows: number of rows of the log.
    """
    answers, of_answers = (counters.get(f"{PREFIX}{name}", 0) for name in ("answers", "rows"))
    if not answers or of_answers < MIN_SHARE * rows:
        return []
    ids = f"{counted(answers, 'answer id')} with {rounded_percent(of_answers / rows)} of the rows"
    return [
        f"{ids} {'has' if answers == 1 else 'have'} {MANY} or more texts each, and none that most of its rows have. "
        "Rows of an id count as one answer, which can have any of these texts. If the texts are those of "
        "several languages or tenants, make a dataset of each: an index of this one answers with any of them. If the "
        "ids name skills or topics, compare the answers by their texts: --column "
        f"answer_id={columns.get('answer', 'answer')}"
    ]
