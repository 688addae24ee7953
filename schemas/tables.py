"""Schemas of all Parquet tables, each field documented in its metadata.

A log reader produces `QA_LOG`; a pipeline writes `QUESTIONS`, `CLUSTERS`, `PAIRS` and `REJECTED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from schemas.quantities import counted
from schemas.text_arrays import text_bytes

SCHEMA_VERSION: Final = 2
"""Raised whenever a column changes its name, type or meaning; readers refuse a newer one."""

TAKEN_BYTES: Final = 2**30
"""Maximum number of bytes of the texts that `take_rows` copies at a time, but for one row."""

SPLITS: Final = ("train", "validation", "test")

_TIME: Final = pa.timestamp("us", tz="UTC")


def _field(name: str, kind: pa.DataType, doc: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"doc": doc})


def _schema(*fields: pa.Field) -> pa.Schema:
    return pa.schema(fields, metadata={"qpr.schema_version": str(SCHEMA_VERSION)})


QA_LOG: Final = _schema(
    _field("question", pa.string(), "what was asked, as it was asked"),
    _field("answer", pa.string(), "what was answered, as it was answered"),
    _field(
        "answer_id", pa.string(), "the answer's id in the answering system; clusters by it where given", nullable=True
    ),
    _field("timestamp", _TIME, "when it was asked", nullable=True),
    _field("user_id", pa.string(), "who asked", nullable=True),
    _field("confidence", pa.float64(), "how sure the answering system was, in its own unit", nullable=True),
    _field("locale", pa.string(), "language tag of the question, such as en-GB", nullable=True),
)

QUESTIONS: Final = _schema(
    _field("question_id", pa.int64(), "BLAKE2b-64 of the key"),
    _field("key", pa.string(), "the question's normal form: equal keys are the same question"),
    _field("text", pa.string(), "its most frequent surface form; of equally frequent ones the smallest"),
    _field("events", pa.int64(), "how many log rows asked it; of pairs, in how many places it stands"),
    _field(
        "first_seen",
        _TIME,
        "earliest timestamp of those rows; in a warehouse else their day",
        nullable=True,
    ),
    _field("last_seen", _TIME, "latest timestamp of those rows, likewise", nullable=True),
    _field(
        "answer",
        pa.string(),
        "its most frequent answer; null if none is frequent enough or there are none",
        nullable=True,
    ),
    _field("answer_id", pa.string(), "that answer's id in the log; null where it has none", nullable=True),
    _field("cluster_id", pa.int64(), "its cluster; of several the one with most of its events", nullable=True),
    _field("split", pa.string(), "the split of that cluster", nullable=True),
)

CLUSTERS: Final = _schema(
    _field("cluster_id", pa.int64(), "hash of the answer and its oldest member; the answer's alone if it is whole"),
    _field("answer_hash", pa.int64(), "BLAKE2b-64 of the answer id or the folded answer; of pairs, the cluster's id"),
    _field(
        "answer", pa.string(), "most frequent surface form of the answer; null for clusters from pairs", nullable=True
    ),
    _field("answer_id", pa.string(), "the answer's id in the log; null where it has none", nullable=True),
    _field("split", pa.string(), "train, validation or test"),
    _field("size", pa.int64(), "how many distinct questions"),
    _field("events", pa.int64(), "how many log rows asked one of them and got this answer"),
    _field(
        "coherence", pa.float64(), "mean share of the cluster's tokens a question has (Bonadiman et al. 2019, eq. 5)"
    ),
    _field("adjusted_coherence", pa.float64(), "the same freed of the cluster's size: 0 nothing shared, 1 all equal"),
    _field("idf_coherence", pa.float64(), "adjusted coherence with tokens weighted by inverse document frequency"),
    _field(
        "linkage_probability",
        pa.float64(),
        "mean probability that two of its questions are paraphrases; null where answers are not split",
        nullable=True,
    ),
    _field("question_ids", pa.list_(pa.field("element", pa.int64(), nullable=False)), "its questions, ascending"),
    _field("texts", pa.list_(pa.field("element", pa.string(), nullable=False)), "their texts, in the same order"),
)

COHERENCE_COLUMNS: Final = {"paper": "coherence", "adjusted": "adjusted_coherence", "idf": "idf_coherence"}
"""Columns of `CLUSTERS` by the names of their scores, as ``--coherence`` has them."""

PAIRS: Final = _schema(
    _field("question_id_1", pa.int64(), "the smaller id of the two"),
    _field("text_1", pa.string(), "its text"),
    _field("question_id_2", pa.int64(), "the larger id of the two"),
    _field("text_2", pa.string(), "its text"),
    _field("cluster_id", pa.int64(), "the cluster that holds both"),
)

REJECTED: Final = _schema(
    _field("stage", pa.string(), "step that rejected it: read, validate, size, coherence, leakage, …"),
    _field("reason", pa.string(), "why, one word or a few joined by underscores"),
    _field("score", pa.float64(), "the figure that decided it, where there is one", nullable=True),
    _field("payload", pa.string(), "the rejected row or question: JSON, or the raw line where it could not be read"),
)

ROW_STAGES: Final = ("read", "validate", "privacy")
"""Stages that reject input rows; later stages reject questions of clusters."""

TABLES: Final = {"questions": QUESTIONS, "clusters": CLUSTERS, "pairs": PAIRS, "rejected": REJECTED}
"""The tables of a dataset, by the name of their folder."""

SHARDS: Final = "shards"
CODES: Final = "codes"
IDS: Final = "ids"
TOMBSTONES: Final = "tombstones"
MODEL: Final = "model"
LEXICAL: Final = "lexical"
CONFIDENCE: Final = "confidence"
"""The tables of an index: FAISS files of vectors and of their codes, the questions in the order of their rows, the
deleted rows as bits, the files of the model, and optionally the arrays of BM25 and the confidence model."""

ID_TABLE: Final = pa.schema(  # without metadata: it would change the bytes, and so the digests, of every index
    [
        pa.field("question_id", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("answer", pa.string()),
        pa.field("cluster_id", pa.int64()),
        pa.field("events", pa.int64()),
    ]
)
"""A row of the table `IDS`: the question behind the same row of its shard."""

ANSWER_ID: Final = pa.field("answer_id", pa.string())
"""The last column of an id table in which a question has one; other id tables lack it."""

INDEX_ROWS: Final = pa.schema([*ID_TABLE, ANSWER_ID])
"""A question of an index, before the columns that filter searches (`schemas.filters`)."""


def with_nulls(schema: pa.Schema, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """Return a table of ``schema`` with the given columns, at least one; all others are null."""
    rows = len(next(iter(columns.values())))
    return pa.table([columns.get(f.name, pa.nulls(rows, f.type)) for f in schema], names=schema.names).cast(schema)


def take_rows(table: pa.Table, rows: np.ndarray) -> pa.Table:
    """Return the rows at some places, each as often as its place is given; long texts come in several chunks.

    An array of strings has at most 2 GiB. Beyond that Arrow's own `take` returns wrong texts where rows are repeated,
    without an error, and fails on a column of several chunks.

    Args:
        table: of any number of rows; lists and dictionaries are not divided.
        rows: (N,) int64 places in the table.
    """
    columns = [column for column in table.columns if pa.types.is_string(column.type)]
    sizes = sum((_bytes_at(column, rows) for column in columns), start=np.zeros(len(rows), np.int64))
    if max(sizes.sum(), sum(column.nbytes for column in columns)) <= TAKEN_BYTES:
        return table.combine_chunks().take(pa.array(rows))
    types = [pa.large_string() if pa.types.is_string(kind) else kind for kind in table.schema.types]
    wide = pa.table([column.cast(kind) for column, kind in zip(table.columns, types, strict=True)], table.column_names)
    wide, ends = wide.combine_chunks(), np.flatnonzero(np.diff(np.cumsum(sizes) // TAKEN_BYTES)) + 1
    return pa.concat_tables([wide.take(pa.array(part)).cast(table.schema) for part in np.split(rows, ends)])


def _bytes_at(column: pa.ChunkedArray, rows: np.ndarray) -> np.ndarray:
    """Return the number of bytes of some texts; the lengths of all others of one array are not read."""
    if column.num_chunks != 1 or not len(rows):
        return np.asarray(text_bytes(column)[rows])
    array = column.chunk(0)
    ends = np.frombuffer(array.buffers()[1], np.int32)[array.offset :]
    return np.asarray(ends[rows + 1] - ends[rows])


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of ``schema`` in its order and types, its metadata attached; a dictionary of texts stays one.

    Raises:
        ValueError: a column is missing, or holds a null where the schema has none.
    """
    missing = [name for name in schema.names if name not in table.column_names]
    if missing:
        raise ValueError(f"missing column {', '.join(missing)}; there are {', '.join(table.column_names)}")
    chosen = table.select(schema.names)
    for place, (field, given) in enumerate(zip(schema, chosen.schema, strict=True)):
        if pa.types.is_dictionary(given.type) and given.type.value_type == field.type:
            schema = schema.set(place, field.with_type(given.type))
    conformed = chosen.cast(schema)
    for field in schema:
        if not field.nullable and conformed[field.name].null_count:
            raise ValueError(f"column {field.name} holds {counted(conformed[field.name].null_count, 'null')}")
    return conformed
