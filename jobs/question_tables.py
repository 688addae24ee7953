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

from pipelines.reading.columns import Column
from pipelines.reading.parquet import read_parquet
from pipelines.reading.sources import Source as ParquetSource
from pipelines.validation import MAX_QUESTION_CHARACTERS
from schemas import storage
from schemas.columns import hash64_all, key_all, words_all
from schemas.dataset import open_dataset, read_file
from schemas.errors import QprError, UsageError
from schemas.manifest import File, Source
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
        QprError: there is no such dataset or file, or a file is no Parquet or has no such column of text.
        UsageError: a file is given twice.
    """
    files: list[QuestionFile] = []
    sources: list[Source] = []
    for url in urls:
        file_system, path = storage.locate(url)
        with storage.explained(url):
            is_folder = file_system.isdir(path)
            matches = sorted(file_system.glob(path)) if _is_glob(path) else [path] * file_system.exists(path)
        if is_folder:
            dataset = open_dataset(url)
            files += [QuestionFile(url, file) for file in dataset.manifest.of("questions")]
            sources.append(Source(url=url, digest=dataset.manifest.digest))
            continue
        if not matches:
            raise QprError(f"{url}: no such dataset or file. Check the path, or make a dataset with `qpr clusters`")
        found = [file_system.unstrip_protocol(match) if "://" in url else match for match in matches]
        for name in found:
            check_text_column(name, text_column)
        files += [QuestionFile(name, None, text_column) for name in found]
        sources += [Source(url=name, bytes=file_system.size(match)) for name, match in zip(found, matches, strict=True)]
    if len(set(files)) != len(files):
        raise UsageError("--questions: a file is given twice")
    return files, sources


def check_text_column(url: str, name: str) -> None:
    """Make sure that a file is Parquet and has a column of text of this name; only its end is read.

    Raises:
        QprError: it is not so.
    """
    file_system, path = storage.locate(url)
    try:
        with storage.explained(url), file_system.open(path, "rb") as file:
            schema = pq.read_schema(file)
    except pa.ArrowInvalid as error:
        raise QprError(f"{url}: not a Parquet file, or damaged. Give a dataset or Parquet files") from error
    if name not in schema.names:
        columns = ", ".join(schema.names)
        raise QprError(f"{url}: no column {name}; there are {columns}. Name it with --text-column")
    kind = schema.field(name).type
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind) and not pa.types.is_dictionary(kind):
        raise QprError(f"{url}: column {name} holds {kind}, not text. Use another --text-column")


def read_questions(source: QuestionFile) -> Iterator[pa.Table]:
    """Yield the rows of a file as `ROWS`, some at a time; a row without a text that can be used has a null there.

    Raises:
        QprError: the file is missing or damaged.
    """
    if source.file is None:
        parquet = ParquetSource(source.url, 0, "parquet")
        for batch in read_parquet(parquet, [Column("text", pa.string())], {"text": source.text_column}):
            unusable = pa.nulls(len(batch.rejected), pa.string())
            yield _from_texts(pa.chunked_array([*batch.rows["text"].chunks, unusable]))
        return
    for batch in read_file(source.url, source.file, columns=ROWS.names, batch=BATCH):
        yield batch.cast(ROWS)


def with_words(table: pa.Table) -> pa.Table:
    """Return the rows whose text has a word and the length of a question; the others mean nothing to an encoder."""
    fitting = table.filter(pc.less_equal(pc.utf8_length(table["text"]), MAX_QUESTION_CHARACTERS))
    lengths = pc.list_value_length(words_all(key_all(fitting["text"].combine_chunks())))
    return fitting.filter(pc.greater(lengths, 0))


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
