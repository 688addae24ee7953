"""Parquet and Arrow files of an artefact, checked against the schema of their table.

bytes of a Parquet file -> read_rows -> tables with the columns of a schema; of an id table -> read_id_rows -> its rows
table -> arrow_bytes -> bytes of an Arrow file -> mapped_rows -> table whose columns are views of the bytes
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.errors import QprError
from schemas.filters import FilterColumns
from schemas.quantities import counted
from schemas.tables import ANSWER_ID, INDEX_ROWS

_ARROW = b"ARROW1"
"""Beginning of an Arrow IPC file."""


def read_rows(
    content: bytes | memoryview,
    schema: pa.Schema,
    *,
    name: str,
    rows: int,
    columns: Sequence[str] | None = None,
    batch: int | None = None,
    absent: Collection[str] = (),
) -> Iterator[pa.Table]:
    """Yield the rows of a file, all together or ``batch`` at a time, with the columns and types of a schema.

    Args:
        content: the file.
        schema: of its table; other columns in the file are not read. Texts of a dictionary column are read once each.
        name: of the file, for messages.
        rows: their number in the manifest.
        columns: the columns to read, all of the schema by default.
        batch: rows of one table; None for all.
        absent: columns that a file may lack; then they are null.

    Raises:
        QprError: the file is damaged, holds other columns, types or rows, nulls in a required column, text that is
            not UTF-8, or numbers that are not finite.
    """
    read = schema if columns is None else pa.schema([schema.field(column) for column in columns])
    with _explained(name):
        encoded = [field.name for field in read if pa.types.is_dictionary(field.type)]
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=encoded)  # a shared text is in memory once
        expected = pa.schema(
            [field for field in read if field.name not in absent or field.name in file.schema_arrow.names]
        )
        _check_columns(file.schema_arrow, expected, name)
        count = file.metadata.num_rows
    _check_count(count, rows, name)
    parts = _parts(file, expected.names, batch)
    while True:
        with _explained(name):
            part = next(parts, None)
            if part is None:
                return
            part.validate(full=True)
            table = pa.table([_column(part, field) for field in read], schema=read.remove_metadata())
        _check_values(table, name)
        yield table


def arrow_bytes(table: pa.Table) -> bytes:
    """Return a table as an Arrow IPC file of one batch, uncompressed; equal tables give equal bytes."""
    columns = [_canonical(column.combine_chunks()) for column in table.columns]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=table.schema))
    return bytes(sink.getvalue())


def _canonical(column: pa.Array) -> pa.Array:
    """Return a column of numbers or strings with 0 or nothing below its nulls, where any bytes may be."""
    if not column.null_count:
        return column
    valid = pa.py_buffer(np.packbits(column.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
    filled = column.fill_null("" if pa.types.is_string(column.type) else 0)
    return pa.Array.from_buffers(column.type, len(column), [valid, *filled.buffers()[1:]])


def read_id_rows(
    content: bytes | memoryview, filters: FilterColumns, *, name: str, rows: int, checked: bool = False
) -> pa.Table:
    """Return the rows of an id table, always with ``answer_id``: an Arrow file, or Parquet of an older release.

    Args:
        content: as of `mapped_rows`.
        filters: columns of the index that filter searches, which the table has too.
        name: as of `read_rows`.
        rows: as of `read_rows`.
        checked: as of `mapped_rows`.

    Raises:
        QprError: as of `read_rows`.
    """
    schema, absent = pa.schema([*INDEX_ROWS, *filters.fields]), {ANSWER_ID.name}
    if is_arrow(content):
        return mapped_rows(content, schema, name=name, rows=rows, absent=absent, checked=checked)
    [table] = read_rows(content, schema, name=name, rows=rows, absent=absent)
    return table


def is_arrow(content: bytes | memoryview) -> bool:
    """Return whether a file is an Arrow IPC file by its first bytes."""
    return bytes(content[: len(_ARROW)]) == _ARROW


def mapped_rows(
    content: bytes | memoryview,
    schema: pa.Schema,
    *,
    name: str,
    rows: int,
    absent: Collection[str] = (),
    checked: bool = False,
) -> pa.Table:
    """Return the rows of an Arrow IPC file, which are not copied.

    Args:
        content: the file; it must live as long as the table.
        schema: as of `read_rows`.
        name: as of `read_rows`.
        rows: as of `read_rows`.
        absent: as of `read_rows`.
        checked: the values of the very same bytes have been checked before.

    Raises:
        QprError: as of `read_rows`.
    """
    with _explained(name, "Arrow"):
        part = pa.ipc.open_file(pa.py_buffer(content)).read_all()
        expected = pa.schema([field for field in schema if field.name not in absent or field.name in part.column_names])
        _check_columns(part.schema, expected, name)
        _check_count(len(part), rows, name)
        if part.column(0).num_chunks > 1:  # `arrow_bytes` writes one
            raise ValueError("it has several batches")
        if not checked:
            part.validate(full=True)
        table = pa.table([_column(part, field) for field in schema], schema=schema.remove_metadata())
    if not checked:
        _check_values(table, name)
    return table


def _column(part: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in part.column_names:
        return pa.chunked_array([pa.nulls(len(part), field.type)])
    return part[field.name].cast(field.type)


def _parts(file: pq.ParquetFile, names: Sequence[str], batch: int | None) -> Iterator[pa.Table]:
    if batch is None:
        yield file.read(columns=names)
        return
    for part in file.iter_batches(batch, columns=names):
        yield pa.Table.from_batches([part])


@contextlib.contextmanager
def _explained(name: str, kind: str = "Parquet") -> Iterator[None]:
    """Turn an error of Arrow into one that names the file."""
    try:
        yield
    except QprError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, EOFError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise QprError(f"{name}: cannot be read as {kind}: {reason[:200]}. Make it again") from error


def _check_count(count: int, rows: int, name: str) -> None:
    if count != rows:
        raise QprError(f"{name}: holds {counted(count, 'row')}, the manifest lists {rows:,}. Make it again")


def _check_columns(actual: pa.Schema, expected: pa.Schema, name: str) -> None:
    for field in expected:
        if actual.names.count(field.name) != 1:
            listed = ", ".join(actual.names)[:200] or "none"
            raise QprError(f"{name}: holds no column {field.name}, or several; there are {listed}. Make it again")
        kind = actual.field(field.name).type
        if not _is_alike(kind, field.type):
            raise QprError(f"{name}: column {field.name} holds {kind}, not {field.type}. Make it again")


def _is_alike(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Return whether two types are equal except for the names of list elements."""
    if pa.types.is_list(actual) and pa.types.is_list(expected):
        return bool(actual.value_type.equals(expected.value_type))
    return bool(actual.equals(expected))


def _check_values(table: pa.Table, name: str) -> None:
    for field in table.schema:
        column = table[field.name]
        listed = pa.types.is_list(field.type)
        nulls = 0 if field.nullable else column.null_count
        nulls += pc.list_flatten(column).null_count if listed and not field.type.value_field.nullable else 0
        if nulls:
            raise QprError(
                f"{name}: column {field.name} holds {counted(nulls, 'null')} where there must be none. Make it again"
            )
        if pa.types.is_floating(field.type) and not pc.all(pc.is_finite(column), min_count=0).as_py():
            raise QprError(f"{name}: column {field.name} holds numbers that are infinite or none. Make it again")
