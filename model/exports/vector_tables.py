"""Questions of an index with their vectors.

Index -> vector_tables -> tables of ids, texts, answers and vectors
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from model.index.index import Index
from model.index.settings import IndexSettings
from schemas.tables import ANSWER_ID, ID_TABLE

ROWS = 8_192
"""Questions a table: 8 MB of vectors of 256 numbers."""


def vector_schema(settings: IndexSettings) -> pa.Schema:
    """Return the schema of `vector_tables`.

    It has the columns of ID_TABLE, ``answer_id``, those that filter, and ``vector``, float32 of a fixed length.
    """
    dimension = settings.dimension
    vector = pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False)
    return pa.schema([*ID_TABLE, ANSWER_ID, *settings.filters.fields, vector])


def vector_tables(index: Index) -> Iterator[pa.Table]:
    """Yield all questions of an index in the order of its rows, with their vectors, also of answers that have ended.

    The vectors are the encoder's, since those in the shards may be compressed.
    """
    schema = vector_schema(index.settings)
    for rows in index.tables(ROWS):
        vectors = index.encoder.encode(rows["text"])
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), index.settings.dimension)
        yield rows.append_column(schema.field("vector"), column).select(schema.names).cast(schema)
