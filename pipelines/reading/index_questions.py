"""Questions to index, read from a file and checked.

QuestionFile -> read_questions -> Questions (rows to index, rejected rows)
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import REJECTS
from pipelines.questions.equal_questions import payloads
from pipelines.questions.markup import count_markup
from pipelines.questions.row_filters import question_faults, without_blanks
from pipelines.questions.stock_answers import is_placeholder
from pipelines.reading.index_inputs import DatasetFile, QuestionFile, SegmentFile, TableFile
from pipelines.reading.reader import read
from pipelines.writing.rejects import reject_rows
from schemas.artifacts import storage
from schemas.artifacts.dataset import read_file
from schemas.artifacts.manifest import read_verified
from schemas.artifacts.table_files import read_id_rows
from schemas.filters import MAX_VALUE_CHARACTERS, VALID_UNTIL, FilterColumns, read_ends, row_ids
from schemas.tables import ANSWER_ID, INDEX_ROWS
from schemas.text_arrays import encode, key_all

BATCH: Final = 131_072
"""Rows of one table of a dataset."""

MAX_EVENTS: Final = 2**53
"""Maximum of a row's events, so that the 64-bit sum of a thousand equal questions does not overflow."""

WITHOUT_ANSWER: Final = "rows_without_answer"
"""Counter of the rows of tables that have neither an answer nor its id, as the total at the end of a sheet."""

PLACEHOLDERS: Final = "rows_with_placeholder"
"""Counter of the rows of tables whose answer stands for a missing one."""

_WHOLE_NUMBER: Final = re.compile(r"([+-]?\d{1,19})(\.0*)?", re.ASCII)
"""Whole numbers; programs that store a column with empty cells as floating point write 12 as 12.0."""


class Questions(NamedTuple):
    """Some rows of a file.

    Attributes:
        rows: those to index, INDEX_ROWS and the columns that filter searches; the same question may occur more than
            once.
        rejects: the others, `pipelines.intermediate.REJECTS`.
        unreadable: by column, number of values of ``rows`` that are null because they are no whole number, or as
            ``events`` below 0 or above `MAX_EVENTS`.
        texts: counters of ``rows`` of a table, without answers or with texts to correct; none is 0.
    """

    rows: pa.Table
    rejects: pa.Table
    unreadable: Mapping[str, int]
    texts: Mapping[str, int] = types.MappingProxyType({})


def read_questions(source: QuestionFile) -> Iterator[Questions]:
    """Yield all rows of a file in batches.

    Raises:
        QprError: the file is missing or damaged.
    """
    match source:
        case DatasetFile():
            yield from _of_dataset(source)
        case SegmentFile():
            yield Questions(_of_segment(source), REJECTS.empty_table(), {})
        case TableFile():
            yield from _of_table(source)


def _of_dataset(source: DatasetFile) -> Iterator[Questions]:
    columns = INDEX_ROWS.names
    if source.values:
        columns.remove("question_id")  # rows of equal questions with other values have other ids
    values = dict(zip(source.filters.vary_by, source.values, strict=True))
    for table in read_file(source.url, source.file, columns=columns, batch=BATCH):
        for field in source.filters.fields:
            value = pa.scalar(values.get(field.name), field.type)
            table = table.append_column(field, pa.repeat(value, len(table)))
        yield _checked(table, {}, source.filters)


def _of_segment(source: SegmentFile) -> pa.Table:
    """Return the rows of an id table that are not deleted; they were checked when they were indexed."""
    content, name = read_verified(source.url, source.file), storage.join(source.url, source.file.path)
    rows = read_id_rows(content, source.filters, name=name, rows=source.file.rows)
    if not source.deleted:
        return rows
    deleted = np.unpackbits(np.frombuffer(source.deleted, np.uint8), count=len(rows), bitorder="little")
    return rows.filter(pa.array(deleted == 0))


def _of_table(source: TableFile) -> Iterator[Questions]:
    for batch in read(source.source, source.columns, dict(source.names)):
        columns = {column.name: batch.rows[column.name].combine_chunks() for column in source.columns}
        numbers = {"cluster_id": whole_numbers(columns["cluster_id"]), "events": _numbers_of_events(columns["events"])}
        texts = {name: without_blanks(columns[name]) for name in ("answer", "answer_id")}
        rows = {"text": columns["question"], **texts, **numbers}
        rows |= {field.name: pc.utf8_trim_whitespace(columns[field.name]) for field in source.filters.fields}
        unread = {name: _unread(columns[name], values) for name, values in numbers.items()}
        checked = _checked(pa.table(rows), {name: count for name, count in unread.items() if count}, source.filters)
        rejects = pa.concat_tables([checked.rejects, batch.rejects])
        yield checked._replace(rejects=rejects, texts=_text_counts(checked.rows))


def _text_counts(rows: pa.Table) -> dict[str, int]:
    """Return the number of rows without answer and id, with a placeholder such as NULL, with HTML or JSON."""
    questions, answers = encode(rows["text"]), encode(rows["answer"])
    stands_for_none = pa.array([is_placeholder(text) for text in answers.dictionary.to_pylist()], pa.bool_())
    counts = {
        WITHOUT_ANSWER: pc.sum(pc.and_(pc.is_null(rows["answer"]), pc.is_null(rows[ANSWER_ID.name]))).as_py() or 0,
        PLACEHOLDERS: pc.sum(stands_for_none.take(answers.indices)).as_py() or 0,
        **count_markup(questions, answers),
    }
    return {name: count for name, count in counts.items() if count}


def _checked(table: pa.Table, unreadable: Mapping[str, int], filters: FilterColumns) -> Questions:
    """Return the rows whose question has a word and at most the maximum length; reject the others.

    Args:
        table: columns of INDEX_ROWS and those that filter searches, as text; without ``question_id`` it is computed.
        unreadable: counts to return with the rows.
        filters: columns that filter searches; a row needs a value of each to vary by, and no end that is unreadable.
    """
    texts = table["text"].combine_chunks()
    keys = key_all(texts)
    reasons = pc.if_else(pc.is_null(texts), "missing_question", question_faults(texts, keys))
    for name in filters.vary_by:
        reasons = pc.coalesce(reasons, _value_faults(name, table[name].combine_chunks()))
    ended = table
    if filters.valid_until is not None and pa.types.is_string(table.schema.field(VALID_UNTIL.name).type):
        ends = read_ends(table[VALID_UNTIL.name].combine_chunks())
        reasons = pc.coalesce(reasons, ends.faults)
        ended = table.set_column(table.column_names.index(VALID_UNTIL.name), VALID_UNTIL, ends.times)
    kept = pc.is_null(reasons)
    rejects = reject_rows(payloads(table), reasons)
    rows = ended.filter(kept)
    if "question_id" not in table.column_names:
        values = [rows[name].combine_chunks() for name in filters.vary_by]
        rows = rows.append_column("question_id", row_ids(keys.filter(kept), values))
    schema = pa.schema([*INDEX_ROWS, *filters.fields])
    return Questions(rows.select(schema.names).cast(schema), rejects, unreadable)


def _value_faults(name: str, values: pa.Array) -> pa.Array:
    """Return why each value cannot be searched for, or null."""
    missing = pc.equal(pc.fill_null(values, ""), "")
    too_long = pc.greater(pc.utf8_length(values), MAX_VALUE_CHARACTERS)
    absent = pa.scalar(None, pa.string())
    return pc.if_else(missing, f"missing_{name}", pc.if_else(too_long, f"too_long_{name}", absent))


def whole_numbers(texts: pa.Array) -> pa.Array:
    """Return the 64-bit integers in strings such as 12 or 12.0; null for other text."""
    codes = texts.dictionary_encode()
    numbers = [None if text is None else _whole_number(text) for text in codes.dictionary.to_pylist()]
    return pa.array(numbers, pa.int64()).take(codes.indices)


def _numbers_of_events(texts: pa.Array) -> pa.Array:
    numbers = whole_numbers(texts)
    is_number = pc.and_(pc.greater_equal(numbers, 0), pc.less_equal(numbers, MAX_EVENTS))
    return pc.if_else(is_number, numbers, None)


def _whole_number(text: str) -> int | None:
    match = _WHOLE_NUMBER.fullmatch(text.strip())
    number = int(match[1]) if match else 2**63
    return number if -(2**63) <= number < 2**63 else None


def _unread(texts: pa.Array, numbers: pa.Array) -> int:
    """Return the number of texts that are no number; blank ones count as missing instead."""
    written = pc.not_equal(pc.utf8_trim_whitespace(texts), "")
    return int(pc.sum(pc.and_(pc.is_null(numbers), pc.fill_null(written, False))).as_py() or 0)
