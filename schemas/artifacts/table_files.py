"""Parquet files of an artefact, checked against the schema of their table.

bytes of a file -> read_rows -> tables with the columns of a schema
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.errors import QprError
from schemas.quantities import counted


def read_rows(
    content: bytes,
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
        schema: of its table; other columns in the file are not read.
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
        file = pq.ParquetFile(pa.BufferReader(content))
        there = pa.schema(
            [field for field in read if field.name not in absent or field.name in file.schema_arrow.names]
        )
        _check_columns(file.schema_arrow, there, name)
        found = file.metadata.num_rows
    if found != rows:
        raise QprError(f"{name}: holds {counted(found, 'row')}, the manifest says {rows:,}. Make it again")
    parts = _parts(file, there.names, batch)
    while True:
        with _explained(name):
            part = next(parts, None)
            if part is None:
                return
            part.validate(full=True)
            table = pa.table([_column(part, field) for field in read], schema=read.remove_metadata())
        _check_values(table, name)
        yield table


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
def _explained(name: str) -> Iterator[None]:
    """Turn an error of Arrow into one that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, EOFError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise QprError(f"{name}: cannot be read as Parquet: {reason[:200]}. Make it again") from error


def _check_columns(found: pa.Schema, wanted: pa.Schema, name: str) -> None:
    for field in wanted:
        if found.names.count(field.name) != 1:
            there = ", ".join(found.names)[:200] or "none"
            raise QprError(f"{name}: holds no column {field.name}, or several; there are {there}. Make it again")
        kind = found.field(field.name).type
        if not _is_alike(kind, field.type):
            raise QprError(f"{name}: column {field.name} holds {kind}, not {field.type}. Make it again")


def _is_alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether two types are equal except for the names of list elements."""
    if pa.types.is_list(found) and pa.types.is_list(wanted):
        return bool(found.value_type.equals(wanted.value_type))
    return bool(found.equals(wanted))


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
