"""The table of rejected rows: equal ones travel as one row with their number, and are written one by one.

PCollections of REJECTS -> WriteRejects -> Written
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.engine.shuffle import GroupByShard
from pipelines.writing.parquet import GROUP_ROWS, REPEATED, count_rejects, path_of, sort_keys
from pipelines.writing.rejects import ROWS
from pipelines.writing.reported import Written
from schemas.artifacts.writer import write_file
from schemas.tables import REJECTED, conform

_TABLE: Final = "rejected"
_PIECE_ROWS: Final = 2**10
"""Rows that are in memory one by one, as many as between two ends of pages: with the longest payloads 0.4 GB."""


@dataclasses.dataclass
class WriteRejects(beam.PTransform):
    """Write rejected rows to ``<run>/rejected/NNNNN-of-NNNNN.parquet``.

    All rows with one payload belong to one shard. They are counted before the shuffle, so that no worker holds a
    million equal rows where an export has as many empty questions.

    Input: PCollections of REJECTS tables.
    Output: `Written`.

    Attributes:
        run_url: the run's folder.
        shards: how many parts there are at most.
    """

    run_url: str
    shards: int

    def expand(self, rejects: tuple[beam.PCollection[pa.Table], ...]) -> beam.PCollection[Written]:
        """Count equal rows, group and write them."""
        counted = tuple(
            table | f"CountEqual{number or ''}" >> beam.Map(count_equal) for number, table in enumerate(rejects)
        )
        return (
            counted
            | "ShuffleRejected" >> GroupByShard(key="shard_key", shards=self.shards)
            | "WriteTable" >> beam.Map(self._write).with_output_types(Written)
        )

    def _write(self, counted: pa.Table) -> Written:
        order = pc.sort_indices(counted, sort_keys=sort_keys(_TABLE))
        ordered, numbers = conform(counted, REJECTED).take(order), counted[ROWS.name].take(order).to_numpy()
        path = path_of(_TABLE, counted["shard_key"], self.shards)
        file = write_file(self.run_url, path, _to_parquet(ordered, numbers), table=_TABLE, rows=int(numbers.sum()))
        return Written(file, count_rejects(ordered, numbers.tolist()))


def count_equal(rejects: pa.Table) -> pa.Table:
    """Return each distinct row of a REJECTS table once, with the number of rows that are equal to it, `ROWS`."""
    counted = rejects
    if ROWS.name not in rejects.column_names:
        counted = rejects.append_column(ROWS, pa.array(np.ones(len(rejects), np.int64)))
    _, place, numbers = np.unique(counted["shard_key"].to_numpy(), return_inverse=True, return_counts=True)
    repeated = numbers[place] > 1  # rows of different hashes differ
    if not repeated.any():
        return counted
    names = [name for name in counted.column_names if name != ROWS.name]
    grouped = counted.filter(pa.array(repeated)).group_by(names, use_threads=False)
    sums = grouped.aggregate([(ROWS.name, "sum")]).rename_columns([*names, ROWS.name]).select(counted.column_names)
    return pa.concat_tables([counted.filter(pa.array(~repeated)), sums.cast(counted.schema)])


def _to_parquet(ordered: pa.Table, numbers: np.ndarray) -> bytes:
    """Return rows, each as often as its number, as the file that `pipelines.writing.parquet.to_parquet` makes of them.

    Args:
        ordered: (N,) rows of the table.
        numbers: (N,) int64, each at least 1.
    """
    ends = np.cumsum(numbers)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink, ordered.schema, compression="zstd", compression_level=1, use_dictionary=REPEATED[_TABLE]
    ) as writer:
        for start in range(0, int(ends[-1]), GROUP_ROWS):
            pieces = _repeated(ordered, ends, start, min(start + GROUP_ROWS, int(ends[-1])))
            writer.write_table(pa.concat_tables(pieces), row_group_size=GROUP_ROWS)
    return bytes(sink.getvalue().to_pybytes())


def _repeated(ordered: pa.Table, ends: np.ndarray, start: int, end: int) -> Iterator[pa.Table]:
    """Yield the repeated rows from ``start`` to ``end`` in pieces; those of one row alone share their memory.

    Args:
        ordered: (N,) rows.
        ends: (N,) int64 place after the last repetition of each row.
        start: place of the first one to yield.
        end: place after the last one.
    """
    shared, of_row = None, -1
    for first in range(start, end, _PIECE_ROWS):
        places = np.arange(first, min(first + _PIECE_ROWS, end))
        rows = np.searchsorted(ends, places, "right")
        if rows[0] != rows[-1]:
            yield ordered.take(pa.array(rows))
            continue
        if shared is None or of_row != rows[0] or len(shared) < len(rows):
            shared, of_row = ordered.take(pa.array(rows)), rows[0]
        yield shared.slice(0, len(rows))
