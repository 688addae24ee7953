"""Fields of objects as columns: ``reply.text`` is the field ``text`` of the objects in the column ``reply``.

an object, or the schema of a Parquet file -> fields_of_object, fields_of_schema -> values by name
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

_MAX_DEPTH: Final = 16
"""Number of objects within each other whose fields get names; a field farther inside can still be read."""


class Field(NamedTuple):
    """A column of a Parquet file, or a field of a column of structs.

    Attributes:
        names: of the column, then of each field within it.
        type: of its values.
    """

    names: tuple[str, ...]
    type: pa.DataType

    @property
    def path(self) -> str:
        """Its name in options and messages, and Parquet's own."""
        return ".".join(self.names)

    @property
    def objects(self) -> list[str]:
        """Names of the structs that it is in."""
        return [".".join(self.names[:end]) for end in range(1, len(self.names))]

    def values(self, batch: pa.RecordBatch) -> pa.Array:
        """Return its (R,) values in a batch that has the column; null in a struct that is null."""
        column, *within = self.names
        values = batch.column(batch.schema.names.index(column))  # of equal names the first
        for name in within:
            values = pc.struct_field(values, [name])
        return values


def fields_of_schema(schema: pa.Schema) -> dict[str, Field]:
    """Return the columns of a file and the fields of structs, in its order; a struct itself is none of them."""
    found: dict[str, Field] = {}
    for column in schema:
        for field in _within(Field((column.name,), column.type)):
            if field.path not in found or len(field.names) == 1:  # a column that has the name of a field comes first
                found[field.path] = field
    return found


def fields_of_object(value: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each key, and after an object those of its fields."""
    for key, inner in value.items():
        yield f"{before}{key}", inner
        if isinstance(inner, dict) and depth < _MAX_DEPTH:
            yield from fields_of_object(inner, f"{before}{key}.", depth + 1)


def getter(path: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that returns the value of a key of an object, or of a field, or None if there is none.

    A key that is itself written with full stops comes before a field.
    """
    if "." not in path:
        return lambda row: row.get(path)
    return lambda row: _value(row, path)


def _value(row: Mapping[str, Any], path: str) -> Any:
    if path in row:
        return row[path]
    end = path.find(".")
    while end >= 0:
        inner = row.get(path[:end])
        if isinstance(inner, dict) and (value := _value(inner, path[end + 1 :])) is not None:
            return value
        end = path.find(".", end + 1)
    return None


def _within(field: Field) -> Iterator[Field]:
    if not pa.types.is_struct(field.type) or not field.type.num_fields or len(field.names) == _MAX_DEPTH:
        yield field
        return
    for inner in field.type:
        yield from _within(Field((*field.names, inner.name), inner.type))
