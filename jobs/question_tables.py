"""The questions to index: from a dataset or from Parquet files, one row a question.

URLs -> question_files -> read_questions -> with_words -> merge_equal -> tables of `model.index.ROWS`
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas import storage
from schemas.columns import hash64_all, key_all, words_all
from schemas.dataset import open_dataset
from schemas.errors import QprError, UsageError
from schemas.manifest import File, Source, read_verified
from schemas.tables import QUESTIONS

ROWS = pa.schema(
    [
        pa.field("question_id", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        *(QUESTIONS.field(name).with_nullable(True) for name in ("answer", "cluster_id", "events")),
    ]
).remove_metadata()
"""What travels: `model.index.ROWS` with texts that may still be null."""

BATCH = 131_072
"""Rows of one table."""


@dataclasses.dataclass(frozen=True)
class QuestionFile:
    """One file to read: of a dataset where ``file`` is its entry in the manifest, else a Parquet file at ``url``."""

    url: str
    file: File | None = None
    text_column: str = "text"


def question_files(urls: Sequence[str], *, text_column: str = "text") -> tuple[list[QuestionFile], list[Source]]:
    """Return the files behind datasets, Parquet files and globs, and what the manifest says of them.

    Raises:
        QprError: there is no such dataset or file.
        UsageError: a file is given twice.
    """
    files: list[QuestionFile] = []
    sources: list[Source] = []
    for url in urls:
        file_system, path = storage.locate(url)
        if file_system.isdir(path):
            dataset = open_dataset(url)
            files += [QuestionFile(url, file) for file in dataset.manifest.of("questions")]
            sources.append(Source(url=url, digest=dataset.manifest.digest))
            continue
        matches = sorted(file_system.glob(path)) if _is_glob(path) else [path] * file_system.exists(path)
        if not matches:
            raise QprError(f"{url}: no such dataset or file. Check the path, or make a dataset with `qpr clusters`")
        found = [file_system.unstrip_protocol(match) if "://" in url else match for match in matches]
        files += [QuestionFile(name, None, text_column) for name in found]
        sources += [Source(url=name, bytes=file_system.size(match)) for name, match in zip(found, matches, strict=True)]
    if len(set(files)) != len(files):
        raise UsageError("--questions: a file is given twice")
    return files, sources


def read_questions(source: QuestionFile) -> Iterator[pa.Table]:
    """Yield the rows of a file as `ROWS`, `BATCH` at a time; a row without text has a null and id 0.

    Raises:
        QprError: the file is missing, damaged, no Parquet, or lacks the text column.
    """
    if source.file is not None:
        content = read_verified(source.url, source.file)
        parquet, wanted = pq.ParquetFile(pa.BufferReader(content)), ROWS.names
    else:
        parquet, wanted = _open_parquet(source), [source.text_column]
    for batch in parquet.iter_batches(BATCH, columns=wanted):
        table = pa.Table.from_batches([batch])
        yield table.select(wanted).cast(ROWS) if source.file is not None else _from_texts(table[source.text_column])


def with_words(table: pa.Table) -> pa.Table:
    """Return the rows whose text has a word; the others mean nothing to an encoder."""
    lengths = pc.list_value_length(words_all(key_all(table["text"].combine_chunks())))
    return table.filter(pc.greater(lengths, 0))


def merge_equal(table: pa.Table) -> pa.Table:
    """Return one row an id, ascending: the one with the smallest text, then the smallest of the other columns."""
    if not len(table):
        return table
    ordered = table.sort_by([(name, "ascending") for name in ROWS.names])
    ids = ordered["question_id"].to_numpy()
    return ordered.filter(pa.array(np.diff(ids, prepend=~ids[0]) != 0)).combine_chunks()


def _is_glob(path: str) -> bool:
    return any(character in path for character in "*?[")


def _from_texts(texts: pa.ChunkedArray) -> pa.Table:
    texts = texts.cast(pa.string()).combine_chunks()
    ids = hash64_all(pc.fill_null(key_all(texts), ""))
    unknown = {name: pa.nulls(len(texts), ROWS.field(name).type) for name in ROWS.names[2:]}
    return pa.table({"question_id": ids, "text": texts, **unknown}, schema=ROWS)


def _open_parquet(source: QuestionFile) -> pq.ParquetFile:
    content = storage.read_bytes(source.url)
    try:
        parquet = pq.ParquetFile(pa.BufferReader(content))
    except pa.ArrowInvalid as error:
        raise QprError(f"{source.url}: not a Parquet file, or damaged. Give a dataset or Parquet files") from error
    names = parquet.schema_arrow.names
    if source.text_column not in names:
        columns = ", ".join(names)
        raise QprError(f"{source.url}: no column {source.text_column}; there are {columns}. Name it with --text-column")
    kind = parquet.schema_arrow.field(source.text_column).type
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind) and not pa.types.is_dictionary(kind):
        raise QprError(f"{source.url}: column {source.text_column} holds {kind}, not text. Use another --text-column")
    return parquet
