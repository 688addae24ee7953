"""Reader of every input format.

Source -> divide -> parts -> read -> Batch after Batch; check_header beforehand, in the driver
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from pipelines.reading.batches import Batch
from pipelines.reading.delimited import check_delimited, delimited_names, read_delimited
from pipelines.reading.dialect import has_whole_sample
from pipelines.reading.headers.columns import Column, Header
from pipelines.reading.jsonl import check_jsonl, has_header_rows, jsonl_names, read_jsonl
from pipelines.reading.lines import codec_of, is_utf8
from pipelines.reading.parquet import check_parquet, divide_parquet, parquet_names, read_parquet
from pipelines.reading.sources import Format, Source
from schemas.artifacts import storage
from schemas.errors import QprError
from schemas.quantities import counted


class _Reader(NamedTuple):
    """Functions of one format, each with the result of the function of this module that has its name."""

    read: Callable[[Source, Sequence[Column], Mapping[str, str]], Iterator[Batch]]
    check_header: Callable[..., Header]
    column_names: Callable[[Source], list[str]]
    divide: Callable[[Source], Iterable[Source]]
    are_columns_final: Callable[[Source], bool]


def _one_part(source: Source) -> list[Source]:
    return [source]


_DELIMITED: Final = _Reader(read_delimited, check_delimited, delimited_names, _one_part, has_whole_sample)
_READERS: Final[Mapping[Format, _Reader]] = {
    "jsonl": _Reader(read_jsonl, check_jsonl, jsonl_names, _one_part, has_header_rows),
    "csv": _DELIMITED,
    "tsv": _DELIMITED,
    "parquet": _Reader(read_parquet, check_parquet, parquet_names, divide_parquet, lambda _: True),
}


def read(source: Source, columns: Sequence[Column], names: Mapping[str, str] | None = None) -> Iterator[Batch]:
    """Yield a file in batches of at most `pipelines.reading.batches.BATCH_ROWS` rows, in its order.

    Args:
        source: the file.
        columns: names and types of the columns of the result; null where the file has no value.
        names: our name of a column -> the file's, where they differ.

    Returns:
        Batches whose rows and rejects together are all rows of the file; blank lines are skipped.

    Raises:
        QprError: the file is missing, damaged or of another format than its name ends in.
    """
    return _READERS[source.format].read(source, columns, names or {})


def without_ids_that_are_texts(rows: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Return rows without answer ids where those were read from the column of the answers: texts are compared then.

    Args:
        rows: as read, with ``answer_id``.
        names: our name of a column to the file's, where they differ.
    """
    if names.get("answer_id") != names.get("answer", "answer"):
        return rows
    return rows.set_column(rows.column_names.index("answer_id"), "answer_id", pa.nulls(len(rows), pa.string()))


def numbered_rows(source: Source, columns: Sequence[Column]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number, from 1, and values of each row of a small file that a person has edited.

    A column may be named in other letters, as ``Verdict``, and with spaces around it.

    Raises:
        QprError: the file or a row cannot be read, or it lacks a column.
    """
    names = _names_in_any_case(columns, column_names(source))
    check_header(source, columns, names, mappable=False)
    number = 0
    for batch in read(source, columns, names):
        if len(batch.rejects):
            [reason], [payload] = (batch.rejects[name][:1].to_pylist() for name in ("reason", "payload"))
            fault = f"{counted(len(batch.rejects), 'row')} cannot be read, the first for {reason}: {payload[:80]!a}"
            raise QprError(f"{source.url}: {fault}. Correct the file, or save it as UTF-8")
        for row in batch.rows.to_pylist():
            number += 1
            yield number, row


def _names_in_any_case(columns: Sequence[Column], available: Sequence[str]) -> dict[str, str]:
    """Return the file's name of each column that is there in other letters only, if it is there once."""
    alike: dict[str, list[str]] = {}
    for name in available:
        alike.setdefault(name.strip().casefold(), []).append(name)
    matches = {column.name: alike.get(column.name.casefold(), []) for column in columns if column.name not in available}
    return {name: theirs[0] for name, theirs in matches.items() if len(theirs) == 1}


def divide(source: Source) -> Iterable[Source]:
    """Return parts of a file that workers read one by one, so that none has to hold a large file.

    Only Parquet is divided; a text file is one part.
    """
    return _READERS[source.format].divide(source)


def check_header(
    source: Source, columns: Sequence[Column], names: Mapping[str, str] | None = None, *, mappable: bool = True
) -> Header:
    """Check that a file has the columns to read, before a run starts.

    Args:
        source: the file; of JSON Lines the keys of the first 100 objects are read.
        columns: columns to find.
        names: our name of a column -> the file's, where they differ.
        mappable: the command has options that map columns, for the message.

    Returns:
        The names of its columns, of JSON Lines the keys of those objects; notes such as another delimiter.

    Raises:
        WrongColumnsError: a required or mapped column is missing; the message names those found and how to map them.
        QprError: the file is missing, damaged or of another format than its name ends in.
    """
    header = _READERS[source.format].check_header(source, columns, names or {}, mappable=mappable)
    if not source.is_text:
        return header
    notes = [*header.notes]
    # 4 bytes: the longest mark of a compression
    codec = None if source.compression else codec_of(storage.read_start(source.location, 4), source)
    if codec:
        notes.insert(0, f"is {codec} data, although its name does not end so")
    if source.encoding not in (None, "utf-8", "utf-8-sig") and is_utf8(source):
        step = f"If so, leave out --encoding, and write files in {source.encoding} as UTF-8, as iconv does"
        notes.append(f"seems to be UTF-8, of which {source.encoding} changes all letters beyond ASCII. {step}")
    return header._replace(notes=notes)


def are_columns_final(source: Source) -> bool:
    """Return whether a file has the columns that it has now also if it is still being copied.

    The columns of JSON Lines are those of the first 100 objects, the delimiter of a table is found in its first 64 kB,
    and Parquet has its columns at its end.
    """
    return _READERS[source.format].are_columns_final(source)


def column_names(source: Source) -> list[str]:
    """Return the names of a file's columns in its order; of JSON Lines, the keys of the first 100 objects.

    Raises:
        QprError: the file is missing, has no header or is of another format than its name ends in.
    """
    return _READERS[source.format].column_names(source)
