"""Reading of small log files.

bytes -> source_of -> Source -> read_all -> rows, reason and payload of each reject
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from pipelines.reading.headers.columns import TIMESTAMP, Column
from pipelines.reading.reader import read
from pipelines.reading.sources import Source, expand

COLUMNS: Final = [
    Column("question", pa.string()),
    Column("answer_id", pa.string(), required=False),
    Column("timestamp", TIMESTAMP, required=False),
    Column("confidence", pa.float64(), required=False),
]


def source_of(folder: Path, content: bytes, name: str = "x.jsonl") -> Source:
    """Return a new file with this content."""
    (folder / name).write_bytes(content)
    return expand([str(folder / name)])[0]


def read_all(
    source: Source, columns: Sequence[Column] = COLUMNS, names: Mapping[str, str] | None = None
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return the rows of a file, and reason and payload of each rejected one."""
    batches = list(read(source, columns, names))
    rows = pa.concat_tables(batch.rows for batch in batches).to_pylist()
    rejected = pa.concat_tables(batch.rejects for batch in batches).to_pylist()
    return rows, [(row["reason"], row["payload"]) for row in rejected]
