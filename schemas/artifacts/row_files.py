"""Atomic writing of rows to one file, in any format that `qpr clusters` reads.

tables of a schema -> write_rows -> one .jsonl, .csv, .tsv or .parquet file, text also .gz or .zst
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from schemas.artifacts import storage
from schemas.artifacts.atomic_files import staged_for, write_atomically
from schemas.artifacts.conditional_writes import appeared, refuse_existing
from schemas.errors import QprError, UsageError

_CODECS: Final = {".gz": "gzip", ".zst": "zstd"}
_FORMATS: Final = (".jsonl", ".csv", ".tsv", ".parquet")


def format_of(url: str) -> tuple[str, str | None]:
    """Return the format a file name stands for, such as ``(".csv", "gzip")``.

    Raises:
        UsageError: it stands for none.
    """
    stem, codec = url, None
    for suffix, name in _CODECS.items():
        if url.endswith(suffix):
            stem, codec = url.removesuffix(suffix), name
    ending = next((suffix for suffix in _FORMATS if stem.endswith(suffix)), None)
    if ending is None or (ending == ".parquet" and codec):
        raise UsageError(f"{url}: no known log format. End it in {', '.join(_FORMATS)}; text also in .gz or .zst")
    return ending, codec


def write_rows(tables: Iterable[pa.Table], url: str, *, schema: pa.Schema, overwrite: bool = False) -> int:
    """Write tables of ``schema`` to one file and return the number of rows; memory holds one table at a time.

    Raises:
        UsageError: the name has no known format.
        QprError: the file exists and may not be replaced, or cannot be written.
    """
    suffix, codec = format_of(url)
    check_free(url, overwrite=overwrite)
    rows = 0
    with (
        storage.explained(url),
        _appearing_whole(url, overwrite=overwrite) as file,
        _compressed(file, codec) as sink,
        _writer(sink, suffix, schema) as write,
    ):
        for table in tables:
            write(table)
            rows += len(table)
    return rows


def check_free(url: str, *, overwrite: bool) -> None:
    """Refuse a place that is taken.

    Raises:
        QprError: there is a folder, or a file and ``overwrite`` is not set.
    """
    file_system, path = storage.locate(url)
    with storage.explained(url):
        is_folder = file_system.isdir(path)
    if is_folder:
        raise QprError(f"{url}: is a folder. Choose a file name for --output")
    refuse_existing(url, overwrite=overwrite)


@contextlib.contextmanager
def _appearing_whole(url: str, *, overwrite: bool) -> Iterator[Any]:
    """Open a file for writing that takes its place when the block ends, and never if the block fails.

    Raises:
        QprError: without ``overwrite``, another file has taken the place meanwhile.
    """
    file_system, path = storage.locate(url)
    storage.make_parent(file_system, path)
    try:
        if not isinstance(file_system, LocalFileSystem):
            mode = "wb" if overwrite else "xb"
            with file_system.transaction, file_system.open(path, mode) as file:  # published when that commits
                yield file
                if not overwrite:  # some stores check when the file is opened, not when it appears
                    _refuse_appeared(url)
            return
        with write_atomically(path, new=not overwrite) as file:
            yield file
    except FileExistsError as error:
        raise appeared(url) from error
    except NotImplementedError as error:
        raise QprError(f"{url}: this kind of store can only be read. Choose another --output") from error
    remove_partial(path)


def remove_partial(path: str, *, dry_run: bool = False) -> int:
    """Remove the parts of a local file or folder that killed runs have left beside it; return their number.

    Args:
        path: of the file or folder.
        dry_run: only count them.
    """
    folder, name = os.path.split(path)
    partial = [storage.join(folder, entry) for entry in storage.children(folder) if staged_for(entry) == name]
    for entry in () if dry_run else partial:
        storage.delete(entry)
    return len(partial)


def _refuse_appeared(url: str) -> None:
    if storage.exists(url):
        raise appeared(url)


@contextlib.contextmanager
def _compressed(file: Any, codec: str | None) -> Iterator[Any]:
    plain = pa.PythonFile(file, "w")
    if codec is None:
        yield plain
    else:
        with pa.CompressedOutputStream(plain, codec) as packed:
            yield packed


@contextlib.contextmanager
def _writer(sink: Any, suffix: str, schema: pa.Schema) -> Iterator[Any]:
    if suffix == ".parquet":
        with pq.ParquetWriter(sink, schema, compression="zstd") as parquet:
            yield parquet.write_table
    elif suffix == ".jsonl":
        yield lambda table: sink.write(_json_lines(_with_iso_times(table)))
    else:
        text_schema = _with_iso_times(schema.empty_table()).schema
        options = pacsv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",")
        with pacsv.CSVWriter(sink, text_schema, write_options=options) as text:
            yield lambda table: text.write_table(_with_iso_times(table))


def _with_iso_times(table: pa.Table) -> pa.Table:
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            texts = pc.strftime(table[field.name], format="%Y-%m-%dT%H:%M:%SZ")
            table = table.set_column(index, field.name, texts)
    return table


def _json_lines(table: pa.Table) -> bytes:
    """Return one JSON object a line, nulls included."""
    columns = [column.to_pylist() for column in table.columns]
    names = table.column_names
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines = (encode(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True))
    return "".join(f"{line}\n" for line in lines).encode()
