"""JSON Lines: one object per line.

lines of a file -> read_jsonl -> batches
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pipelines.reading.batches import BATCH_BYTES, BATCH_ROWS, Batch, Reject, assemble, raw_payload, texts_of
from pipelines.reading.headers.columns import Column, Header, locate_columns
from pipelines.reading.headers.fields import fields_of_object, getter
from pipelines.reading.headers.row_lists import advise_conversion, advise_list, find_row_list
from pipelines.reading.lines import MAX_ROW_BYTES, physical_lines
from pipelines.reading.sources import Source
from pipelines.reading.values.conventions import Conventions
from pipelines.summary.value_notes import ENCODING_HINT
from schemas.errors import MissingColumnsError, QprError, WrongColumnsError

_HEADER_ROWS, _HEADER_LINES = 100, 10_000
"""Maximum numbers of objects, and of lines, blank and faulty ones included, by which the columns are found."""

_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=lambda _: None)
"""Numbers keep their digits, since an id is text; NaN and Infinity, which are not JSON, become null."""


def read_jsonl(source: Source, columns: Sequence[Column], names: Mapping[str, str]) -> Iterator[Batch]:
    """Yield the rows of a file; a key that an object lacks is null. For names within objects see `fields`.

    Rejected are lines that are ``invalid_json``, ``not_an_object``, ``invalid_utf8``, hold a ``nul_byte`` or are
    ``row_too_long``, and objects with a list or an object in a column to read (``wrong_type``).

    Raises:
        QprError: the file is missing, damaged or not text.
    """
    conventions = Conventions(lambda some: read_jsonl(source, some, names))
    has = functools.cache(lambda column: has_value(source, names.get(column, column)))
    for lines in _gather(source):
        yield _parse(lines, columns, names, conventions, has)


def check_jsonl(source: Source, columns: Sequence[Column], names: Mapping[str, str], *, mappable: bool) -> Header:
    """Return the keys of the first objects of a file; raise `QprError` unless the required ones are among them.

    A column whose values there are all lists is an error too, since no row could be read.
    """
    objects = _first_objects(source)
    first = _values(objects, names.values())
    values = _without_objects(first)
    nested = [name for name, some in values.items() if some and all(isinstance(value, dict | list) for value in some)]

    def sample() -> dict[str, list[str]]:
        written = {name: [str(v) if isinstance(v, bool) else v for v in some] for name, some in values.items()}
        return {name: [v for v in some if isinstance(v, str) and v.strip()] for name, some in written.items()}

    try:
        located = locate_columns(
            columns,
            names,
            values,
            url=source.url,
            sample=sample,
            nested=nested,
            objects=first.keys() - values.keys(),
            mappable=mappable,
        )
    except MissingColumnsError as error:
        rows = find_row_list(values, lines=len(objects)) if len(objects) < _HEADER_ROWS else None
        if rows is None:
            raise
        raise MissingColumnsError(error.cause, advise_list(rows, source.url, source.compression)) from error
    for column in columns:
        if column.name in located and located[column.name] in nested:
            cause = f"column {located[column.name]} is one of lists"
            raise WrongColumnsError(f"{source.url}: {cause}. {column.advise_place(located[column.name])}")
    return Header(list(values), [])


def has_header_rows(source: Source) -> bool:
    """Return whether a file has all objects by which its columns are found."""
    lines = itertools.islice(itertools.chain.from_iterable(physical_lines(source)), _HEADER_LINES)
    return sum(1 for _ in itertools.islice(filter(is_object, lines), _HEADER_ROWS)) == _HEADER_ROWS


def jsonl_names(source: Source) -> list[str]:
    """Return the keys of the first objects of a file, and their fields, in the order in which they first occur."""
    return [*_without_objects(_values(_first_objects(source), ()))]


def has_value(source: Source, key: str) -> bool:
    """Return whether an object of a file has a key with a value; the file is read until one has.

    A line that has neither the key nor an escape, which may stand for a character of it, is not parsed.
    """
    value_of = getter(key)
    written = key.partition("[")[0].rpartition(".")[2].encode()  # a name; the place in a list is not written
    for line in itertools.chain.from_iterable(physical_lines(source)):
        if written in line or b"\\u" in line:
            row = _object_of(line)
            if isinstance(row, dict) and value_of(row) is not None:
                return True
    return False


def _first_objects(source: Source) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    faults: dict[str, None] = {}
    lines, start = 0, b""
    for line in itertools.islice(itertools.chain.from_iterable(physical_lines(source)), _HEADER_LINES):
        lines += 1
        start = start or line.strip()
        row = _object_of(line)
        if isinstance(row, dict):
            objects.append(row)
        elif row is not None:
            faults[row] = None
        if len(objects) == _HEADER_ROWS:
            break
    if not objects and not faults and lines < _HEADER_LINES:
        raise QprError(f"{source.url}: the file has no row. Copy it again or leave it out")
    if not objects or (faults and not any(objects)):
        empty = " with a key" if objects else ""
        cause = f"none of the first lines is a JSON object{empty} ({', '.join(faults) or 'they are blank'})"
        step = (
            advise_conversion(start, source.url, source.compression, is_long="row_too_long" in faults)
            or "Write one object per line, or rename a CSV file to .csv"
        )
        hint = f". {ENCODING_HINT}" if "invalid_utf8" in faults else ""
        raise QprError(f"{source.url}: {cause}. {step}{hint}")
    return objects


def _values(objects: Iterable[Mapping[str, Any]], named: Collection[str]) -> dict[str, list[Any]]:
    """Return the values in objects, without null: of each key and field, and of what is named within lists."""
    values: dict[str, list[Any]] = {}
    within = {name: getter(name) for name in named}
    for row in objects:
        of_row = dict(fields_of_object(row))
        for name, value_of in within.items():
            if name not in of_row and (value := value_of(row)) is not None:
                of_row |= fields_of_object({name: value})
        for name, value in of_row.items():
            values.setdefault(name, []).extend([] if value is None else [value])
    return values


def _without_objects(values: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the keys that have another value than objects, whose fields are columns in their place, or none."""
    return {name: some for name, some in values.items() if not some or not all(isinstance(v, dict) for v in some)}


def is_object(line: bytes) -> bool:
    """Return True if a line holds a JSON object."""
    return isinstance(_object_of(line), dict)


def _gather(source: Source) -> Iterator[list[bytes]]:
    """Yield lines in lists of the size of a batch."""
    gathered: list[bytes] = []
    held = 0
    for lines in physical_lines(source):
        for start in range(0, len(lines), BATCH_ROWS):
            part = lines[start : start + BATCH_ROWS]
            size = sum(map(len, part))
            if gathered and (len(gathered) + len(part) > BATCH_ROWS or held + size > BATCH_BYTES):
                yield gathered
                gathered, held = [], 0
            gathered += part
            held += size
    if gathered:
        yield gathered


def _parse(
    lines: Sequence[bytes],
    columns: Sequence[Column],
    names: Mapping[str, str],
    conventions: Conventions,
    has: Callable[[str], bool],
) -> Batch:
    rows: list[dict[str, Any]] = []
    kept: list[bytes] = []
    rejects: list[Reject] = []
    for line in lines:
        row = _object_of(line)
        if isinstance(row, dict):
            rows.append(row)
            kept.append(line)
        elif row is not None:
            rejects.append(Reject(row, raw_payload(line)))
    arrays, flaws = {}, {}
    for column in columns:
        values = map(getter(names.get(column.name, column.name)), rows)
        arrays[column.name], column_flaws = texts_of(list(values))
        flaws.update(column_flaws)
    return assemble(
        columns,
        arrays,
        count=len(rows),
        flaws=flaws,
        payload=lambda i: raw_payload(kept[i]),
        conventions=conventions,
        has=has,
        rejects=rejects,
    )


def _object_of(line: bytes) -> dict[str, Any] | str | None:
    """Return the object in a line, the reason why there is none, or None for a blank line."""
    if len(line) > MAX_ROW_BYTES:
        return "row_too_long"
    try:
        row = _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        return "invalid_utf8"
    except (ValueError, RecursionError):
        if not line.strip():
            return None
        return "nul_byte" if b"\0" in line else "invalid_json"
    return row if isinstance(row, dict) else "not_an_object"
