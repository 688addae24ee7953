"""Tables to Parquet files: one file a shard, the same bytes whatever worker writes it and however often.

table of a shard -> WriteTable -> Written (the file's entry in the manifest, and its counts)
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Final

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.engine.shuffle import shard_of
from pipelines.writing.reported import Written
from schemas.artifacts.writer import write_file
from schemas.tables import ROW_STAGES, TABLES, conform, take_rows
from schemas.text_arrays import parts_of_texts

ORDER = {
    "questions": ["question_id"],
    "clusters": ["cluster_id"],
    "pairs": ["cluster_id", "question_id_1", "question_id_2"],
    "rejected": ["stage", "reason", "payload", "score"],  # without a user key payloads of questions are equal
}
"""Rows of a file are in this order, so that equal content gives equal bytes."""

REPEATED = {
    "questions": ["split"],
    "clusters": ["split"],
    "pairs": ["cluster_id"],
    "rejected": ["stage", "reason"],
    "asked": ["answer"],
}
"""Columns with few values, the only ones for which a Parquet dictionary pays."""

GROUP_ROWS: Final = 2**20
"""Maximum number of rows of a row group, as many as Arrow writes by default."""

GROUP_BYTES: Final = 2**28
"""Maximum number of bytes of text of a row group, but for one of one row; texts in lists do not count."""


@dataclasses.dataclass
class WriteTable(beam.PTransform):
    """Write every table to ``<run>/<table>/<part>NNNNN-of-NNNNN.parquet``.

    Input: ``pa.Table`` with the columns of `schemas.tables.TABLES`, one for each shard of ``key``.
    Output: `Written`.

    Attributes:
        run_url: the run's folder.
        table: a name in `schemas.tables.TABLES`.
        key: the column whose hash made the shards.
        shards: how many there are at most.
        part: prefix of these files among those of the table, such as ``train-``.
    """

    run_url: str
    table: str
    key: str
    shards: int
    part: str = ""

    def expand(self, tables: beam.PCollection[pa.Table]) -> beam.PCollection[Written]:
        """Write each element."""
        return tables | beam.Map(self._write)

    def _write(self, table: pa.Table) -> Written:
        path = path_of(self.table, table[self.key], self.shards, self.part)
        order = pc.sort_indices(table, sort_keys=sort_keys(self.table)).to_numpy()
        ordered = take_rows(conform(table, TABLES[self.table]), order.astype(np.int64))
        file = write_file(self.run_url, path, to_parquet(ordered, self.table), table=self.table, rows=len(ordered))
        return Written(file, count(self.table, ordered, self.part.rstrip("-")))


def path_of(table: str, keys: pa.ChunkedArray, shards: int, part: str = "") -> str:
    """Return the path of a shard's file in the folder of a run.

    Args:
        table: a name in `schemas.tables.TABLES`.
        keys: hashes of the shard's rows, of which there is at least one.
        shards: how many there are at most.
        part: prefix of these files among those of the table.
    """
    return f"{table}/{part}{int(shard_of(keys.slice(0, 1), shards)[0]):05d}-of-{shards:05d}.parquet"


def sort_keys(table: str) -> list[tuple[str, str]]:
    """Return the order of a table's rows in a file."""
    return [(name, "ascending") for name in ORDER[table]]


def to_parquet(table: pa.Table, name: str) -> bytes:
    """Return ``table`` as a Parquet file; equal tables give equal bytes.

    A dictionary column is stored as its texts, of which only those of a row group are in memory at a time.
    """
    return parquet_bytes(table, compression_level=1, use_dictionary=REPEATED[name])


def parquet_bytes(table: pa.Table, *, compression_level: int | None, use_dictionary: bool | list[str]) -> bytes:
    """Return ``table`` as a Parquet file; further arguments are those of `pyarrow.parquet.ParquetWriter`."""
    stored = table.schema
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            stored = stored.set(place, field.with_type(field.type.value_type))
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink, stored, compression="zstd", compression_level=compression_level, use_dictionary=use_dictionary
    ) as writer:
        for part in parts_of_texts(table, rows=GROUP_ROWS, size=GROUP_BYTES):
            writer.write_table(part.cast(stored), row_group_size=GROUP_ROWS)
    return bytes(sink.getvalue().to_pybytes())


def count(name: str, table: pa.Table, part: str) -> dict[str, int]:
    """Return the counts of one file that the manifest reports."""
    if name == "questions":
        return {
            "events": pc.sum(table["events"]).as_py(),
            "questions": len(table),
            "questions_in_clusters": len(table) - table["cluster_id"].null_count,
        }
    if name == "clusters":
        return {f"clusters_{part}": len(table), f"members_{part}": pc.sum(table["size"]).as_py()}
    if name == "pairs":
        return {f"pairs_{part}": len(table)}
    return count_rejects(table, [1] * len(table))


def count_rejects(table: pa.Table, numbers: Sequence[int]) -> dict[str, int]:
    """Return the counts of rejected rows.

    Args:
        table: (N,) rows of the table ``rejected``.
        numbers: (N,) number of rows that each of them stands for.
    """
    counts = collections.Counter(rows_rejected=0, members_rejected=0)
    for stage, reason, number in zip(*(table[name].to_pylist() for name in ("stage", "reason")), numbers, strict=True):
        counts["rows_rejected" if stage in ROW_STAGES else "members_rejected"] += number
        counts[f"rejected_{stage}_{reason}"] += number
    return dict(counts)
