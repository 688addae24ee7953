"""Questions of an index with their vectors.

Index -> vector_tables -> tables of ids, texts, answers and vectors
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from model.index.index import Index
from model.index.settings import IndexSettings
from model.index.shards import Shard
from schemas.arrays import Int64s, Matrix
from schemas.tables import INDEX_ROWS

ROWS_AT_ONCE = 8_192
"""Questions a table: 8 MB of vectors of 256 numbers."""


def vector_schema(settings: IndexSettings) -> pa.Schema:
    """Return the schema of `vector_tables`.

    It has the columns of INDEX_ROWS, those that filter, and ``vector``, float32 of a fixed length.
    """
    dimension = settings.dimension
    vector = pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False)
    return pa.schema([*INDEX_ROWS, *settings.filters.fields, vector])


def vector_tables(index: Index) -> Iterator[pa.Table]:
    """Yield all questions of an index in the order of its rows, with their vectors, also of answers that have ended.

    The vectors are the encoder's. Flat shards, which also an index of refined codes has, store them as they are; those
    of other shards are compressed, so that the questions are encoded again.
    """
    schema = vector_schema(index.settings)
    is_stored = all(shard.is_flat for shard in index.shards)
    for rows in index.row_batches(ROWS_AT_ONCE):
        questions = index.questions(rows)
        vectors = stored_vectors(index.shards, rows) if is_stored else index.encoder.encode(questions["text"])
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), index.settings.dimension)
        yield questions.append_column(schema.field("vector"), column).select(schema.names).cast(schema)


def stored_vectors(shards: Sequence[Shard], rows: Int64s) -> Matrix:
    """Return the vectors of some rows (n,) of all shards together, ascending, all of them flat: (n, dimension)."""
    ends = np.cumsum([len(shard) for shard in shards])
    places = np.searchsorted(rows, ends)
    parts = [
        shard.vectors[rows[first:last] - (end - len(shard))]
        for shard, end, (first, last) in zip(shards, ends, itertools.pairwise([0, *places]), strict=True)
        if last > first
    ]
    return np.concatenate(parts)
