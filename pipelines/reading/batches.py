"""Batches of a reader: usable rows and rejects, together all rows of the file.

values of the columns to read, flaws by row -> assemble -> Batch
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reading.headers.columns import TIMESTAMP, Column
from pipelines.reading.values.casting import cast_values, interpret, is_text
from pipelines.reading.values.conventions import Conventions
from pipelines.writing.rejects import MAX_RAW_CHARACTERS, reject

BATCH_ROWS: Final = 65_536
"""Maximum number of rows of a batch, about 10 MB of questions, so that the cost per batch is negligible."""

BATCH_BYTES: Final = 1 << 23
"""Bytes of text after which a batch ends, however few rows they are."""


class Batch(NamedTuple):
    """Some rows of a file.

    Attributes:
        rows: the columns to read.
        rejects: `pipelines.intermediate.REJECTS` of the unusable rows.
        unusable: the columns to read of those rows, in their order; null where a row has no value that can be read.
        unreadable: by column, number of values of ``rows`` that are null because they are no number or time, or a date
            in a file that does not show whether the day or the month is first.
        ambiguous: by column, number of such dates.
        has: returns whether the file has a column; of objects, whether one of the file has a value of it.
    """

    rows: pa.Table
    rejects: pa.Table
    unusable: pa.Table
    unreadable: Mapping[str, int]
    ambiguous: Mapping[str, int]
    has: Callable[[str], bool]


class Reject(NamedTuple):
    """One row that cannot be used."""

    reason: str
    payload: str


def raw_payload(raw: bytes) -> str:
    r"""Return the start of a raw row as text, bytes that are not UTF-8 as ``\xNN``, without its line end."""
    start = raw[: 4 * MAX_RAW_CHARACTERS]  # a character has at most four bytes, so the cut one is not shown
    return start.decode("utf-8", "backslashreplace")[:MAX_RAW_CHARACTERS].rstrip("\r\n")


def texts_of(values: Sequence[Any]) -> tuple[pa.Array, dict[int, str]]:
    """Return scalar values as strings, and by position the flaw of those that are none and become null.

    ``True`` becomes "true". A list or a dict is a ``wrong_type``, an unpaired surrogate is ``invalid_utf8``.
    """
    try:
        return pa.array(values, pa.string()), {}
    except (pa.ArrowTypeError, pa.ArrowInvalid, UnicodeEncodeError):
        judged = [_text_of(value) for value in values]
        flaws = {i: text.reason for i, text in enumerate(judged) if isinstance(text, Reject)}
        return pa.array([None if isinstance(text, Reject) else text for text in judged], pa.string()), flaws


def assemble(
    columns: Sequence[Column],
    arrays: Mapping[str, pa.Array],
    *,
    count: int,
    flaws: Mapping[int, str],
    payload: Callable[[int], str],
    conventions: Conventions,
    rejects: Sequence[Reject] = (),
    has: Callable[[str], bool] | None = None,
) -> Batch:
    """Cast the columns of ``count`` rows; rows with a flaw join ``rejects``.

    Args:
        columns: columns of the result; an empty string of an optional column becomes null.
        arrays: the values by column name, valid UTF-8; an absent column becomes null.
        count: length of the arrays.
        flaws: by position, the reason why a row is unusable; rows with a NUL character are detected here.
        payload: returns the text to keep of the rejected row at a position.
        conventions: of the file that the rows are from.
        rejects: rows that were rejected before they had values.
        has: returns whether this file has a column; None: it has those of ``arrays``.
    """
    whole = {column.name: arrays.get(column.name, pa.nulls(count)) for column in columns}
    reasons = dict(flaws)
    for column in columns:
        if column.type == pa.string():
            for row in _rows_with_nul(whole[column.name]):
                reasons.setdefault(row, "nul_byte")
    table = pa.table(
        [_typed(whole[column.name], column, conventions) for column in columns], names=[c.name for c in columns]
    )
    keep = np.ones(count, bool)
    keep[list(reasons)] = False
    unreadable = {name: _unreadable(values, table[name], keep) for name, values in whole.items()}
    dates = [c.name for c in columns if c.type == TIMESTAMP and conventions.is_undecided(c)]
    ambiguous = {name: pc.sum(interpret(unreadable[name], TIMESTAMP).is_ambiguous).as_py() or 0 for name in dates}
    rejected = [*rejects, *(Reject(reasons[row], payload(row)) for row in sorted(reasons))]
    without_values = pa.table([pa.nulls(len(rejects), c.type) for c in columns], schema=table.schema)
    return Batch(
        table.filter(pa.array(keep)) if reasons else table,
        _rejects(rejected),
        pa.concat_tables([without_values, table.filter(pa.array(~keep))]),
        {name: len(values) for name, values in unreadable.items() if len(values)},
        {name: count for name, count in ambiguous.items() if count},
        has or frozenset(arrays).__contains__,
    )


def _typed(values: pa.Array, column: Column, conventions: Conventions) -> pa.Array:
    typed = cast_values(values, column.type, lambda: conventions.choose(column))
    if column.required or column.type != pa.string() or not pc.any(pc.equal(typed, "")).as_py():
        return typed
    return pc.if_else(pc.equal(typed, ""), None, typed)


def _unreadable(values: pa.Array, typed: pa.ChunkedArray, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> pa.Array:
    """Return the values of kept rows that are no number or time; a blank text counts as missing instead."""
    if typed.type == pa.string() or typed.null_count == values.null_count:
        return values.slice(0, 0)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    is_unreadable = pc.and_(pc.is_valid(values), pc.is_null(typed.combine_chunks()))
    if is_text(values.type):
        is_unreadable = pc.and_(is_unreadable, pc.not_equal(pc.utf8_trim_whitespace(values.cast(pa.string())), ""))
    return values.filter(pc.and_(is_unreadable, pa.array(keep)))


def _rows_with_nul(texts: pa.Array) -> list[int]:
    if not pa.types.is_string(texts.type):
        return []
    matches = pc.match_substring(texts, "\0")
    return pc.indices_nonzero(matches).to_pylist() if pc.any(matches).as_py() else []


def _text_of(value: Any) -> str | Reject | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return None
    if not isinstance(value, str):
        return Reject("wrong_type", "")
    try:
        value.encode()
    except UnicodeEncodeError:
        return Reject("invalid_utf8", "")
    return value


def _rejects(rejected: Sequence[Reject]) -> pa.Table:
    reasons, payloads = (pa.array([row[place] for row in rejected], pa.string()) for place in range(2))
    return reject(payloads, stage="read", reasons=reasons)
