"""Fields of objects and values of lists as columns.

``reply.text`` is the field ``text`` of the objects in the column ``reply``, ``messages[-1].content`` the field of the
last object of a list.

an object, or the schema of a Parquet file -> fields_of_object, fields_of_schema -> values by name
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MAX_DEPTH: Final = 16
"""Number of objects within each other whose fields get names; a field farther inside can still be read."""

_PLACE: Final = re.compile(r"\[(-?\d{1,9})\](?:\.(?=.)|(?=\[)|$)")


class Field(NamedTuple):
    """A column of a Parquet file, or a field of its structs or a value of its lists.

    Attributes:
        path: its name in options and messages.
        steps: name of the column, then of each field within it or the place of a value in a list, from -1 backwards.
        type: of its values.
    """

    path: str
    steps: tuple[str | int, ...]
    type: pa.DataType

    @property
    def objects(self) -> list[str]:
        """Names of the structs that it is in."""
        return [".".join(map(str, self.steps[:end])) for end in range(1, len(self.steps))]

    @property
    def stored(self) -> str:
        """Name of the part of a Parquet file that holds it, which is a whole list."""
        return ".".join(itertools.takewhile(lambda step: isinstance(step, str), self.steps))  # type: ignore[arg-type]

    def values(self, batch: pa.RecordBatch) -> pa.Array:
        """Return its (R,) values in a batch that has the column; null in a null, and beyond the end of a list."""
        column, *within = self.steps
        values = batch.column(batch.schema.names.index(column))  # of equal names the first
        for step in within:
            values = pc.struct_field(values, [step]) if isinstance(step, str) else _element(values, step)
        return values


def fields_of_schema(schema: pa.Schema) -> dict[str, Field]:
    """Return the columns of a file and the fields of structs, in its order; a struct itself is none of them."""
    fields: dict[str, Field] = {}
    for column in schema:
        for field in _within(Field(column.name, (column.name,), column.type)):
            if field.path not in fields or len(field.steps) == 1:  # a column that has the name of a field comes first
                fields[field.path] = field
    return fields


def is_list(stored: pa.DataType) -> bool:
    """Return whether a value has places by which its values can be named."""
    return any(is_kind(stored) for is_kind in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def fields_at(schema: pa.Schema, path: str) -> dict[str, Field]:
    """Return the field of a name, also one in a list; of a struct its fields; empty if there is none."""
    located = _find(pa.struct(list({field.name: field for field in schema}.values())), path)
    return {} if located is None else {field.path: field for field in _within(Field(path, *located))}


def fields_of_object(value: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each key, and after an object those of its fields."""
    for key, inner in value.items():
        yield f"{before}{key}", inner
        if isinstance(inner, dict) and depth < _MAX_DEPTH:
            yield from fields_of_object(inner, f"{before}{key}.", depth + 1)


def getter(path: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that returns the value of a key of an object, or within it, or None if there is none.

    A key that is itself written so comes before a field or a value of a list.
    """
    if "." not in path and "[" not in path:
        return lambda row: row.get(path)
    return lambda row: _value(row, path)


def _value(within: Any, path: str) -> Any:
    if isinstance(within, list):
        place = _PLACE.match(path)
        if place is None or not -len(within) <= int(place[1]) < len(within):
            return None
        value = within[int(place[1])]
        return _value(value, path[place.end() :]) if place.end() < len(path) else value
    if not isinstance(within, dict):
        return None
    if path in within:
        return within[path]
    values = (_value(within[head], rest) for head, rest in _divisions(path) if head in within)
    return next((value for value in values if value is not None), None)


def _find(within: pa.DataType, path: str) -> tuple[tuple[str | int, ...], pa.DataType] | None:
    if is_list(within):
        place = _PLACE.match(path)
        if place is None:
            return None
        return _after(int(place[1]), within.value_type, path[place.end() :])
    if not pa.types.is_struct(within):
        return None
    names = [field.name for field in within]
    if path in names:
        return (path,), within.field(names.index(path)).type
    located = (
        _after(head, within.field(names.index(head)).type, rest) for head, rest in _divisions(path) if head in names
    )
    return next((field for field in located if field is not None), None)


def _after(step: str | int, kind: pa.DataType, rest: str) -> tuple[tuple[str | int, ...], pa.DataType] | None:
    """Return the steps and the type of what is within a field or a value of a list."""
    if not rest:
        return (step,), kind
    located = _find(kind, rest)
    return None if located is None else ((step, *located[0]), located[1])


def _divisions(path: str) -> Iterator[tuple[str, str]]:
    """Yield each possible name of a field at the start of a path, and the rest of the path."""
    for end, character in enumerate(path):
        if character in ".[":
            yield path[:end], path[end + (character == ".") :]


def _element(lists: pa.Array, place: int) -> pa.Array:
    """Return the (R,) values at a place of each list, null where a list is null or shorter."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    rows = np.cumsum(lengths) - lengths + np.where(place < 0, lengths, 0) + place
    has = (place < lengths) if place >= 0 else (-place <= lengths)
    return pc.list_flatten(lists).take(pa.array(rows, mask=~has))


def _within(field: Field) -> Iterator[Field]:
    if not pa.types.is_struct(field.type) or not field.type.num_fields or len(field.steps) == _MAX_DEPTH:
        yield field
        return
    for inner in field.type:
        yield from _within(Field(f"{field.path}.{inner.name}", (*field.steps, inner.name), inner.type))
