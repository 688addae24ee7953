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
from pipelines.questions.aggregation import sum_equal_rows
from pipelines.questions.markup import bare_texts, has_markup
from schemas.arrays import Bools, Int64s
from schemas.quantities import counted, rounded_percent
from schemas.ragged import most_frequent, runs_of, sizes_of_runs, starts_of_runs
from schemas.text_arrays import encode, with_used_texts

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
"""Maximum number of characters of an answer in a message."""

SILENCE: Final = 24 * 3600 * 10**6
"""Minimum number of microseconds from the last row with a text that has ended to the last row of its answer id."""

MAX_CHANCE: Final = 0.05
"""Maximum chance that a text in use has no row while the texts that began since have theirs, if it has ended."""

MAX_TEXTS: Final = 20
"""Maximum number of texts of an id that can end; more are those of a topic, or have names or numbers in them."""

_FORM: Final = ("answer_id", LOG_ANSWER_ID.name, "answer")

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
    return sum_equal_rows(asked.filter(pc.is_valid(asked[LOG_ANSWER_ID.name])), _FORM, ANSWER_FORMS)


class CurrentTexts(NamedTuple):
    """Texts of answer ids of a shard that are no longer given, and counters.

    Attributes:
        texts: ``log_answer_id``, the text that ended, ``old``, and the one in its place, ``answer``.
        counts: of ids with many texts, which differ in more than HTML.
    """

    texts: pa.Table
    counts: dict[str, int]


def current_texts(forms: pa.Table) -> CurrentTexts:
    """Return for each text of an answer id that has ended the most frequent one of those that have not.

    A text has ended if its last row is over `SILENCE` older than that of its id, and if the rows of the texts that
    began since, or within `SILENCE` before, have a chance of at most `MAX_CHANCE` to be without it, by its share of the
    earlier rows. So an edited answer has its new text, and an answer that varies, as in several languages, keeps all of
    its texts. Without times none has ended, and none of more than `MAX_TEXTS`.

    Args:
        forms: ANSWER_FORMS; all rows of each answer are present.
    """
    merged = sum_equal_rows(forms, _FORM, ANSWER_FORMS)
    first, last = (pc.fill_null(merged[name].cast(pa.int64()), _NEVER) for name in ("first_seen", "last_seen"))
    events, starts = merged["events"].to_numpy(), starts_of_runs(merged["answer_id"].to_numpy())
    has_ended = pa.array(_have_ended(events, first.to_numpy(), last.to_numpy(), starts))
    ended, others = merged.filter(has_ended), merged.filter(pc.invert(has_ended))
    ids, rows = (others[name].combine_chunks() for name in ("answer_id", "events"))
    chosen = most_frequent(ids, encode(others["answer"]), rows)
    answers = chosen["value"].take(pc.index_in(ended["answer_id"], value_set=chosen["group"].combine_chunks()))
    texts = {LOG_ANSWER_ID.name: ended[LOG_ANSWER_ID.name], "old": ended["answer"], "answer": answers}
    return CurrentTexts(pa.table(texts), _many_text_counts(merged))


def _have_ended(events: Int64s, first: Int64s, last: Int64s, starts: Int64s) -> Bools:
    """Return whether each form has ended.

    Args:
        events: (N,) number of rows of each form.
        first: (N,) time of its first row in microseconds.
        last: (N,) time of its last row.
        starts: first form of each answer.
    """
    sizes = sizes_of_runs(starts, len(events))
    newest, total = (
        np.repeat(choose.reduceat(of, starts), sizes) for choose, of in ((np.maximum, last), (np.add, events))
    )
    answer, ends = np.repeat(np.arange(len(starts)), sizes), last - SILENCE
    times, begins = np.concatenate([ends, first]), np.repeat([False, True], len(events))
    order = np.lexsort((begins, times, np.tile(answer, 2)))
    before = np.empty(2 * len(events), np.int64)
    before[order] = np.cumsum(np.where(begins, np.tile(events, 2), 0)[order])  # rows of forms that began earlier
    of_other_answers = np.repeat(np.cumsum(events)[starts] - events[starts], sizes)
    since = total - (before[: len(events)] - of_other_answers) - np.where(first >= ends, events, 0)
    chance = (1 - events / (total - since + 1)) ** since
    few = np.repeat(sizes <= MAX_TEXTS, sizes)
    ended: Bools = few & (last < newest - SILENCE) & (chance <= MAX_CHANCE)
    return ended


def with_current_texts(table: pa.Table, texts: Sequence[pa.Table], *, of: str) -> pa.Table:
    """Return a table whose column ``answer`` has no text that is no longer given.

    Args:
        table: NAMED_QUESTIONS or MEMBERS.
        texts: of `current_texts`, of all shards.
        of: name of the column with the ids of the log.
    """
    if not texts:
        return table
    ended, own = pa.concat_tables(texts).combine_chunks(), encode(table["answer"])
    ids, old, new = (encode(ended[name]) for name in ended.column_names)
    id_of_row = pc.index_in(table[of], value_set=ids.dictionary).combine_chunks().cast(pa.int64())
    text_of_row = pc.index_in(own.dictionary, value_set=old.dictionary).take(own.indices).cast(pa.int64())
    pairs = ids.indices.to_numpy() * np.int64(len(old.dictionary)) + old.indices.to_numpy()
    pair_of_row = pc.add(pc.multiply(id_of_row, len(old.dictionary)), text_of_row)
    replacement = new.indices.take(pc.index_in(pair_of_row, value_set=pa.array(pairs)))
    both = pa.concat_arrays([own.dictionary, new.dictionary]).dictionary_encode()
    rows = pc.coalesce(pc.add(replacement, pa.scalar(len(own.dictionary), pa.int32())), own.indices)
    answers = with_used_texts(pa.DictionaryArray.from_arrays(both.indices.take(rows), both.dictionary))
    place = table.column_names.index("answer")
    return table.set_column(place, table.schema.field(place), answers)


def _many_text_counts(forms: pa.Table) -> dict[str, int]:
    """Return the number of answer ids with many texts, and of their rows; nothing where there are none.

    Args:
        forms: ANSWER_FORMS, one row a text, ascending by answer.
    """
    of_many = forms.filter(pa.array(_of_many(forms)))
    texts = with_used_texts(of_many["answer"])
    if has_markup(texts.dictionary):  # the same text in other HTML is one
        bare = encode(bare_texts(texts.dictionary)).indices.take(texts.indices)
        coded = pa.table({"answer_id": of_many["answer_id"], "bare": bare, "events": of_many["events"]})
        merged = coded.group_by(["answer_id", "bare"], use_threads=False).aggregate([("events", "sum")])
        of_many = merged.rename_columns(["answer_id", "bare", "events"]).sort_by("answer_id")
        of_many = of_many.filter(pa.array(_of_many(of_many)))
    counts = {
        f"{PREFIX}answers": pc.count_distinct(of_many["answer_id"]).as_py(),
        f"{PREFIX}rows": pc.sum(of_many["events"]).as_py(),
    }
    return counts if len(of_many) else {}


def _of_many(forms: pa.Table) -> Bools:
    """Return whether the answer id of each form has many, and none that most of its rows have."""
    events, (starts, sizes) = forms["events"].to_numpy(), runs_of(forms["answer_id"].to_numpy())
    rows, largest = (choose.reduceat(events, starts) for choose in (np.add, np.maximum))
    many: Bools = np.repeat((sizes >= MANY) & (largest <= MAX_SHARE * rows), sizes)
    return many


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
        f"answer_id={columns.get('answer', 'answer')}. If only names, numbers, dates or the wording differ, "
        "keep the ids"
    ]
