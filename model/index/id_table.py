"""The tables of an index that say which question each row of a shard is.

questions of a shard -> stored_rows -> Parquet file, which `model.index.index_files.IdTable` reads
"""

from __future__ import annotations

import pyarrow as pa

ROWS = pa.schema(
    [
        pa.field("question_id", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("answer", pa.string()),
        pa.field("cluster_id", pa.int64()),
        pa.field("events", pa.int64()),
    ]
)
"""One row of an id table: the question behind a row of its shard."""

ANSWER_ID = pa.field("answer_id", pa.string())
"""The last column of an id table in which a question has one."""


def stored_rows(table: pa.Table) -> pa.Table:
    """Return an id table as it is written: without ``answer_id`` where no question has one.

    Args:
        table: columns of `ROWS` and `ANSWER_ID`.
    """
    rows = table.select(ROWS.names).cast(ROWS)
    answer_ids = table[ANSWER_ID.name]
    return rows if answer_ids.null_count == len(table) else rows.append_column(ANSWER_ID, answer_ids)
