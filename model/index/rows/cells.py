"""Cells of id tables, read one at a time from the memory of their columns.

column of a table -> whole -> reader -> value at a row; tables, rows -> Records -> dicts
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import pyarrow as pa

AT_A_TIME: Final = 65_536
"""Rows of which columns are read together: of ten million rows the texts alone are 600 MB."""

Reader = Callable[[int], Any]


def whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; one of a mapped file is not copied, as `combine_chunks` would."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def reader(column: pa.ChunkedArray) -> Reader:
    """Return a function that returns the value at a row, or None, in a fifth of the time of Arrow's scalars."""
    if column.null_count == len(column):
        return _nothing
    array = whole(column)
    if not (pa.types.is_string(array.type) or pa.types.is_int64(array.type)):
        return lambda row: array[row].as_py()
    start, (valid, *buffers) = array.offset, array.buffers()
    if pa.types.is_int64(array.type):
        values = memoryview(buffers[0]).cast("B").cast("q")[start:]
        return _nullable(values.__getitem__, valid, start)
    ends = memoryview(buffers[0]).cast("B").cast("i")[start:]
    texts = memoryview(buffers[1] or b"").cast("B")

    def text(row: int) -> str:
        return str(texts[ends[row] : ends[row + 1]], "utf-8")

    return _nullable(text, valid, start)


def _nullable(read: Reader, valid: pa.Buffer | None, start: int) -> Reader:
    if valid is None:
        return read
    bits = memoryview(valid).cast("B")
    return lambda row: read(row) if bits[(row + start) >> 3] >> ((row + start) & 7) & 1 else None


class Records:
    """Rows of the tables of an index, by their places in the concatenation of the tables.

    Args:
        tables: of one schema.
        starts: first row of each.
    """

    def __init__(self, tables: Sequence[pa.Table], starts: Sequence[int]) -> None:
        self._starts = starts
        self._blanks = [dict.fromkeys(table.column_names) for table in tables]
        self._readers = [
            {
                name: reader(column)
                for name, column in zip(table.column_names, table.columns, strict=True)
                if column.null_count < len(column)
            }
            for table in tables
        ]

    def of(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """Return the rows as new dicts."""
        records = []
        for row in rows:
            table = bisect.bisect_right(self._starts, row) - 1
            place = row - self._starts[table]
            record: dict[str, Any] = self._blanks[table].copy()
            for name, read in self._readers[table].items():
                record[name] = read(place)
            records.append(record)
        return records

    def column(self, name: str, rows: Iterable[int]) -> list[Any]:
        """Return one column of the rows."""
        readers = [of_table.get(name, _nothing) for of_table in self._readers]
        values = []
        for row in rows:
            table = bisect.bisect_right(self._starts, row) - 1
            values.append(readers[table](row - self._starts[table]))
        return values


def _nothing(_: int) -> None:
    """Return the value of a row of an empty column."""
