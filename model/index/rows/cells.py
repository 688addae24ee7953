"""Cells of an id table, read one at a time from the memory of its columns.

column of a table -> whole -> reader -> value at a row
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

Reader = Callable[[int], Any]


def whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; one of a mapped file is not copied, as `combine_chunks` would."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def reader(column: pa.ChunkedArray) -> Reader:
    """Return a function that returns the value at a row, or None, in a fifth of the time of Arrow's scalars."""
    if column.null_count == len(column):
        return lambda _: None
    array = whole(column)
    if not (pa.types.is_string(array.type) or pa.types.is_int64(array.type)):
        return lambda row: array[row].as_py()
    start, (valid, *buffers) = array.offset, array.buffers()
    if pa.types.is_int64(array.type):
        values = memoryview(buffers[0]).cast("B").cast("q")[start:]
        return _nullable(values.__getitem__, valid, start)
    ends = memoryview(buffers[0]).cast("B").cast("i")[start:]
    texts = memoryview(buffers[1] or b"").cast("B")
    return _nullable(lambda row: str(texts[ends[row] : ends[row + 1]], "utf-8"), valid, start)


def _nullable(read: Reader, valid: pa.Buffer | None, start: int) -> Reader:
    if valid is None:
        return read
    bits = memoryview(valid).cast("B")
    return lambda row: read(row) if bits[(row + start) >> 3] >> ((row + start) & 7) & 1 else None
