"""Row filters: usable log rows, with question ids, answer ids and counts.

rows as read -> validate -> ASKED rows, REJECTS rows
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import ASKED, LOG_ANSWER_ID, USER
from pipelines.questions.markup import count_markup
from pipelines.questions.settings import Validation
from pipelines.writing.rejects import reject_rows
from schemas.text_arrays import encode, fold_all, has_word_all, hash64_all, key_all

MAX_QUESTION_CHARACTERS = 10_000
MAX_ANSWER_CHARACTERS = 100_000
"""Maximum numbers of characters of a question and of an answer; rows with longer ones are rejected as ``too_long``."""

IGNORED: Final = "ignored_answer_"
"""Beginning of the counters of rows with each of the answers to ignore, by its place in the option."""


class Validated(NamedTuple):
    """ASKED rows and REJECTS rows; the events of the one and the rows of the other add up to the rows read.

    Attributes:
        counts: counters of all rows, kept or not.
    """

    asked: pa.Table
    rejects: pa.Table
    counts: dict[str, int]


def validate(
    rows: pa.Table,
    options: Validation,
    *,
    users: pa.Array | None = None,
    protect: Callable[[pa.Table], pa.Table] | None = None,
) -> Validated:
    """Reject unusable rows and count the others by question form and answer form.

    A cluster is an ``answer_id`` where the row has one, else a folded answer text.

    Args:
        rows: columns of `schemas.tables.QA_LOG`, all nullable.
        options: the limits.
        users: (rows,) hashes of who asked, uint64; then rows are counted by user too, in the column `USER`.
        protect: returns rejected rows as they may be stored; as they are by default.
    """
    questions, answers = encode(rows["question"]), encode(rows["answer"])
    keys = key_all(questions.dictionary)
    folded = fold_all(answers.dictionary)
    ignored = _ignored(rows["answer_id"], folded, options)
    of_ignored = first_true({"ignored_answer": pc.is_valid(ignored.text)})
    reasons = pc.coalesce(
        _spread(question_faults(questions.dictionary, keys), questions, "missing_question"),
        _spread(pc.coalesce(answer_faults(answers.dictionary, folded), of_ignored), answers, "missing_answer"),
        *_row_faults(rows, options, ignored),
    )
    kept = pc.is_null(reasons)
    counted = _count(rows, questions, answers, kept, users)
    asked = pa.table(
        {
            "question_id": hash64_all(keys).take(counted["question"]),
            "key": keys.take(counted["question"]),
            "text": questions.dictionary.take(counted["question"]),
            "answer_id": answer_hashes(counted, folded),
            "answer": pa.DictionaryArray.from_arrays(counted["answer"].combine_chunks(), answers.dictionary),
            LOG_ANSWER_ID.name: without_blanks(counted["answer_id"]),
            "events": counted["events"],
            "first_seen": counted["timestamp_min"],
            "last_seen": counted["timestamp_max"],
        }
    ).cast(ASKED)
    if users is not None:
        asked = asked.append_column(USER, counted[USER.name])
    rejected = rows.filter(pc.is_valid(reasons))
    of_rejected = reject_rows(protect(rejected) if protect else rejected, reasons.drop_null())
    counts = {}
    if options.ignored_answers:
        counts = ignored_counts(ignored.text.take(answers.indices), ignored.id, np.ones(len(rows), np.int64))
    counts |= count_markup(questions, answers)
    return Validated(asked, of_rejected, {name: number for name, number in counts.items() if number})


def question_faults(texts: pa.Array, keys: pa.Array) -> pa.Array:
    """Return why each question cannot be used, or null.

    Args:
        texts: as they were asked.
        keys: their `schemas.text.key`.
    """
    return first_true(
        {
            "too_long": pc.greater(pc.utf8_length(texts), MAX_QUESTION_CHARACTERS),
            "empty_question": pc.equal(pc.utf8_trim_whitespace(texts), ""),
            "no_word": pc.invert(has_word_all(keys)),
        }
    )


class _Ignored(NamedTuple):
    """Places among the answers to ignore, null for an answer or id that is kept.

    Attributes:
        text: int32 place of each distinct answer.
        id: int32 place of each row's answer id.
    """

    text: pa.Array
    id: pa.Array


def _ignored(ids: pa.ChunkedArray, folded: pa.Array, options: Validation) -> _Ignored:
    answers = pa.array(options.ignored_answers, pa.string())
    by_id = pc.index_in(ids, value_set=answers).combine_chunks()
    return _Ignored(pc.index_in(folded, value_set=fold_all(answers)), by_id)


def answer_faults(texts: pa.Array, folded: pa.Array) -> pa.Array:
    """Return why each answer cannot be used, or null.

    Args:
        texts: as they were answered.
        folded: the same, folded.
    """
    return first_true(
        {
            "too_long": pc.greater(pc.utf8_length(texts), MAX_ANSWER_CHARACTERS),
            "empty_answer": pc.equal(folded, ""),
        }
    )


def ignored_counts(by_text: pa.Array, by_id: pa.Array, events: np.ndarray) -> dict[str, int]:
    """Return the number of log rows with each answer to ignore, as answer or as id; none for an answer without a row.

    Args:
        by_text: (N,) int32 place among the answers to ignore that the answer of each row has, else null.
        by_id: (N,) the same of its answer id.
        events: (N,) int64 number of log rows that each stands for.
    """
    text, id_ = (pc.fill_null(places, -1).to_numpy() for places in (by_text, by_id))
    places = np.concatenate([text, np.where(id_ == text, -1, id_)])  # a row with both counts once
    totals = np.zeros(places.max(initial=-1) + 2, np.int64)
    np.add.at(totals, places, np.tile(events, 2))  # rows without a place are the last
    return {f"{IGNORED}{place}": total for place, total in enumerate(totals[:-1].tolist()) if total}


def _row_faults(rows: pa.Table, options: Validation, ignored: _Ignored) -> list[pa.Array]:
    faults = [first_true({"ignored_answer": pc.is_valid(ignored.id)})]
    if options.min_confidence is not None:
        low = pc.less(rows["confidence"], options.min_confidence).combine_chunks()
        faults.append(first_true({"low_confidence": low}))
    if options.locale is not None:
        faults.append(first_true({"other_locale": pc.invert(_has_locale(rows["locale"], options.locale))}))
    return faults


def _has_locale(locales: pa.ChunkedArray, locale: str) -> pa.Array:
    """Return whether each locale is the one given or a narrower one: de-AT is one of de, not the other way round.

    En_gb, en-gb and en-GB are one locale. The rule is basic filtering (RFC 4647, section 3.3.1).
    """
    tags, tag = (
        pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(value)), "_", "-")
        for value in (locales, pa.scalar(locale))
    )
    # a hyphen ends both, so that de is not the beginning of den
    return pc.starts_with(pc.binary_join_element_wise(tags, "", "-"), f"{tag.as_py()}-").combine_chunks()


def first_true(conditions: dict[str, pa.Array]) -> pa.Array:
    """Return for each row the name of the first condition that holds, else null."""
    names = [
        pc.if_else(pc.fill_null(holds, False), name, pa.scalar(None, pa.string())) for name, holds in conditions.items()
    ]
    return pc.coalesce(*names)


def _spread(of_distinct: pa.Array, column: pa.DictionaryArray, of_null: str) -> pa.Array:
    return pc.if_else(pc.is_null(column.indices), of_null, of_distinct.take(column.indices))


def _count(
    rows: pa.Table,
    questions: pa.DictionaryArray,
    answers: pa.DictionaryArray,
    kept: pa.Array,
    users: pa.Array | None,
) -> pa.Table:
    """Return one row for each (question form, answer form, answer id, user if given) among the kept rows."""
    columns = {
        "question": questions.indices,
        "answer": answers.indices,
        "answer_id": rows["answer_id"],
        "timestamp": rows["timestamp"],
    }
    coded = pa.table(columns if users is None else columns | {USER.name: users}).filter(kept)
    by = ["question", "answer"] if coded["answer_id"].null_count == len(coded) else ["question", "answer", "answer_id"]
    by = by if users is None else [*by, USER.name]
    counted = coded.group_by(by, use_threads=False).aggregate(  # threads would order the groups by chance
        [("timestamp", "min"), ("timestamp", "max"), ([], "count_all")]
    )
    if "answer_id" not in by:
        counted = counted.append_column("answer_id", pa.nulls(len(counted), pa.string()))
    return counted.rename_columns([{"count_all": "events"}.get(name, name) for name in counted.column_names])


def hash_ids(ids: pa.Array) -> pa.Array:
    """Return the hash of each answer id, which is the id of its cluster."""
    return hash64_all(pc.binary_join_element_wise("id:", ids, ""))


def answer_hashes(rows: pa.Table, folded: pa.Array) -> pa.Array:
    """Return the id of the cluster of each row: the hash of its answer id or, without one, of its folded answer.

    An id of white space is none, as in a table of questions: one would be the answer of all rows that have none.

    Args:
        rows: with ``answer``, a place in ``folded``, and ``answer_id``.
        folded: the distinct answers, folded.
    """
    by_text = hash64_all(pc.binary_join_element_wise("text:", folded, "")).take(rows["answer"])
    if rows["answer_id"].null_count == len(rows):
        return by_text
    ids = encode(without_blanks(rows["answer_id"]))
    return pc.coalesce(hash_ids(ids.dictionary).take(ids.indices), by_text)


def without_blanks(texts: pa.Array) -> pa.Array:
    """Return texts, null where there is white space only: such ids would name all answers that lack one."""
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), None, texts)
