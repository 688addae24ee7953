"""Parquet: only the columns to read are loaded, and only rows with a flaw become Python objects.

Source -> read_parquet -> batches; Source -> divide_parquet -> parts of it
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.reading.batches import BATCH_BYTES, BATCH_ROWS, Batch, assemble
from pipelines.reading.headers.columns import Column, Header, locate_columns
from pipelines.reading.headers.fields import Field, fields_at, fields_of_schema, is_list
from pipelines.reading.headers.suggestions import SAMPLE_ROWS
from pipelines.reading.lines import MAX_ROW_BYTES
from pipelines.reading.sources import Source
from pipelines.reading.values.casting import cast_values, is_castable, is_text
from pipelines.reading.values.conventions import Conventions
from pipelines.writing.rejects import MAX_RAW_CHARACTERS
from schemas.artifacts import storage
from schemas.errors import QprError, WrongColumnsError
from schemas.text_arrays import parts_of_texts

PART_BYTES: Final = 1 << 26
"""Uncompressed size at which a part of a file ends, after a whole row group, so that no worker holds a large file."""


def read_parquet(source: Source, columns: Sequence[Column], names: Mapping[str, str]) -> Iterator[Batch]:
    """Yield the rows of a file, or of the row groups in ``source.groups``. For names within structs see `fields`.

    Rejected are rows whose text is ``invalid_utf8``, holds a ``nul_byte`` or is ``row_too_long``.

    Raises:
        QprError: the file is missing or damaged, or lacks a column.
    """
    with _opened(source) as file:
        available = _fields(file, names)
        located = _locate(source, file, available, columns, names, mappable=True)
        conventions = _conventions(source, names)
        first, end = source.groups or (0, file.num_row_groups)
        rows = sum(file.metadata.row_group(group).num_rows for group in range(first))
        fields = {path: field for path, field in available.items() if path in located.values()}
        stored = [field.stored for field in fields.values()]
        batches = file.iter_batches(BATCH_ROWS, row_groups=range(first, end), columns=stored, use_threads=False)
        while True:
            try:
                part = next(batches, None)
            except (OSError, pa.ArrowException) as error:
                cause = f"the Parquet data is broken after about row {rows} ({str(error).splitlines()[0]})"
                raise QprError(f"{source.url}: {cause}. Copy the file again") from error
            if part is None:
                return
            rows += part.num_rows
            for piece in _pieces(part, fields):
                yield _batch(piece, columns, located, conventions)


def divide_parquet(source: Source) -> Iterator[Source]:
    """Yield the parts of a file, each of whole row groups of about `PART_BYTES`."""
    with _opened(source) as file:
        sizes = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
    if not sizes:
        yield source
    first, size = 0, 0
    for group, of_group in enumerate(sizes):
        size += of_group
        if size >= PART_BYTES or group == len(sizes) - 1:
            yield dataclasses.replace(source, groups=(first, group + 1))
            first, size = group + 1, 0


def check_parquet(source: Source, columns: Sequence[Column], names: Mapping[str, str], *, mappable: bool) -> Header:
    """Return the names of a file's columns; raise `QprError` unless the required ones are there in readable types."""
    with _opened(source) as file:
        available = _fields(file, names)
        _locate(source, file, available, columns, names, mappable=mappable)
        return Header([*available], [])


def parquet_names(source: Source) -> list[str]:
    """Return the names of a file's columns and of the fields of structs."""
    with _opened(source) as file:
        return [*fields_of_schema(file.schema_arrow)]


def count_rows(source: Source) -> int:
    """Return the number of rows of a file, without reading them."""
    with _opened(source) as file:
        return int(file.metadata.num_rows)


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[pq.ParquetFile]:
    file_system, path = storage.locate(source.location)
    with contextlib.ExitStack() as stack:
        with storage.explained(source.url):
            raw = stack.enter_context(file_system.open(path, "rb"))
        try:
            file = stack.enter_context(pq.ParquetFile(raw))
        except (OSError, pa.ArrowException) as error:
            cause = str(error).splitlines()[0]
            raise QprError(f"{source.url}: not a complete Parquet file ({cause}). Copy or write it again") from error
        yield file


def _conventions(source: Source, names: Mapping[str, str]) -> Conventions:
    file_system, path = storage.locate(source.location)
    with storage.explained(source.url):
        state = file_system.ukey(path)  # size, time of change and the like
    return _conventions_of_file(dataclasses.replace(source, groups=None), tuple(sorted(names.items())), state)


@functools.lru_cache(maxsize=1024)
def _conventions_of_file(source: Source, names: tuple[tuple[str, str], ...], _state: str) -> Conventions:
    """Return the conventions of a file, the same object for all its parts that a process reads.

    No row shows that a column is undecided, so all of it is read: once a process instead of once a part.
    """
    return Conventions(lambda some: read_parquet(source, some, dict(names)))


def _locate(
    source: Source,
    file: pq.ParquetFile,
    fields: Mapping[str, Field],
    columns: Sequence[Column],
    names: Mapping[str, str],
    *,
    mappable: bool,
) -> dict[str, str]:
    def sample() -> dict[str, list[str]]:
        first = next((piece for part in file.iter_batches(SAMPLE_ROWS) for piece in _pieces(part, fields)), None)
        return {} if first is None else dict(zip(fields, map(_texts, first.columns), strict=True))

    nested = [path for path, field in fields.items() if pa.types.is_nested(field.type)]
    objects = {name for field in fields.values() for name in field.objects}
    located = locate_columns(
        columns, names, fields, url=source.url, sample=sample, nested=nested, objects=objects, mappable=mappable
    )
    repeated = [name for name in located.values() if file.schema_arrow.names.count(name) > 1]
    if repeated:
        raise WrongColumnsError(f"{source.url}: two columns have the name {repeated[0]!r}. Rename one")
    for column in columns:
        stored = fields[located[column.name]].type if column.name in located else pa.null()
        if not is_castable(stored, column.type):
            cause = f"column {located[column.name]} holds {stored}, which cannot be read as {column.type}"
            step = f"Convert it, or name another column with {column.mapped_to()}"
            if is_list(stored):
                step = column.advise_place(located[column.name])
            raise WrongColumnsError(f"{source.url}: {cause}. {step}")
    return located


def _fields(file: pq.ParquetFile, names: Mapping[str, str]) -> dict[str, Field]:
    """Return all fields of structs, and those that options name in lists."""
    fields = fields_of_schema(file.schema_arrow)
    for path in names.values():
        fields |= {} if path in fields else fields_at(file.schema_arrow, path)
    return fields


def _pieces(stored: pa.RecordBatch, fields: Mapping[str, Field]) -> Iterator[pa.RecordBatch]:
    """Yield some fields of the rows of a batch, in batches of at most `BATCH_BYTES` of text, or of one row.

    A dictionary stores a text once for all its rows, so a small file may hold more text than one array of strings can.
    """
    part = pa.RecordBatch.from_arrays([field.values(stored) for field in fields.values()], names=[*fields])
    for piece in parts_of_texts(part, rows=BATCH_ROWS, size=BATCH_BYTES):
        yield pa.concat_batches([piece])  # Arrow does not cast a slice of large strings that begins beyond 2**31


def _batch(
    part: pa.RecordBatch, columns: Sequence[Column], located: Mapping[str, str], conventions: Conventions
) -> Batch:
    kinds = {column.name: column.type for column in columns}
    arrays: dict[str, pa.Array] = {}
    flaws: dict[int, str] = {}
    for name, theirs in located.items():
        arrays[name], column_flaws = _sound(part[theirs])
        flaws.update(column_flaws)

    def payload(position: int) -> str:
        row = {name: _shown(part[theirs].slice(position, 1), kinds[name]) for name, theirs in located.items()}
        return json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)[:MAX_RAW_CHARACTERS]

    return assemble(columns, arrays, count=part.num_rows, flaws=flaws, payload=payload, conventions=conventions)


def _sound(values: pa.Array) -> tuple[pa.Array, dict[int, str]]:
    """Return text values as strings, and by position the flaw of those that are invalid or too long and become null."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not is_text(values.type):
        return values, {}
    texts = pc.cast(values, pa.string(), safe=False)
    flaws: dict[int, str] = {}
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.cast(pa.binary()).to_pylist()
        flaws = {row: "invalid_utf8" for row, value in enumerate(raw) if value is not None and not _is_utf8(value)}
    lengths = pc.binary_length(texts)
    if (pc.max(lengths).as_py() or 0) > MAX_ROW_BYTES:
        too_long = pc.indices_nonzero(pc.fill_null(pc.greater(lengths, MAX_ROW_BYTES), False)).to_pylist()
        flaws.update(dict.fromkeys(too_long, "row_too_long"))
    if flaws:
        unsound = pa.array([row in flaws for row in range(len(texts))])
        texts = pc.if_else(unsound, None, texts)
    return texts, flaws


def _texts(values: pa.Array) -> list[str]:
    """Return the texts in a column that are not blank; none of a column that cannot be read as text."""
    if not is_castable(values.type, pa.string()):
        return []
    texts = cast_values(_sound(values)[0], pa.string()).to_pylist()
    return [text for text in texts if text is not None and text.strip()]


def _shown(value: pa.Array, kind: pa.DataType) -> object:
    """Return the only value of an array as JSON can hold it: one of a column of texts as the text that is read."""
    if pa.types.is_dictionary(value.type):
        value = value.dictionary_decode()
    if is_text(value.type) and value[0].is_valid:
        start = bytes(memoryview(value[0].as_buffer())[: 4 * MAX_RAW_CHARACTERS])
        return start.decode("utf-8", "backslashreplace")
    if kind == pa.string() or pa.types.is_temporal(value.type):
        return cast_values(value, pa.string())[0].as_py()
    number = value[0].as_py()
    return None if isinstance(number, float) and not math.isfinite(number) else number


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
