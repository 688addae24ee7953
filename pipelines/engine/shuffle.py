"""The shuffle of Arrow tables by a hashed key.

PCollections[pa.Table] -> GroupByShard(key) -> PCollection[pa.Table]
PCollections[pa.Table] -> JoinByShard(key) -> PCollection[Joined] -> tables_of -> a table of each PCollection
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from schemas.text_arrays import with_used_texts

MAX_PART_BYTES = 64 * 2**20
"""Maximum size of a shuffled element; runners fail above 512 MB."""

ROWS_AT_A_TIME = 2**20
"""Number of rows of a table that are divided among shards at a time."""

GATHERED_BYTES = 2**14
"""Bytes a shard of small tables that a worker gathers before it divides them: a smaller part costs more a row."""

Joined = tuple[Sequence[bytes], ...]
"""Serialised parts of the tables of a shard, of one PCollection after the other."""


@dataclasses.dataclass
class JoinByShard(beam.PTransform):
    """Bring tables of several schemas together by shard of a hash.

    Input: one or more PCollections of ``pa.Table`` with an int64 column ``key`` of hashes.
    Output: a `Joined` for each shard with a row in the first one. It is still serialised, so that steps that need the
    same tables before and after a side input hold less of them in between.
    """

    key: str
    shards: int

    def expand(self, tables: tuple[beam.PCollection[pa.Table], ...]) -> beam.PCollection[Joined]:
        """Split every table by shard, group the parts, put those of each PCollection together."""
        return (
            _split_each(tables, self.key, self.shards)
            | "GroupParts" >> beam.CoGroupByKey()
            | "ListParts" >> beam.FlatMapTuple(_list_parts)
        )


def _list_parts(_: int, parts: tuple[Iterable[bytes], ...]) -> Iterator[Joined]:
    joined = tuple(list(of_one) for of_one in parts)
    if joined[0]:
        yield joined


def tables_of(joined: Joined) -> tuple[pa.Table, *tuple[pa.Table | None, ...]]:
    """Return a table of each PCollection, None for one without a row; the order of rows is unspecified."""
    first, *further = joined
    return concatenate(first), *(concatenate(of_one) if of_one else None for of_one in further)


@dataclasses.dataclass
class GroupByShard(beam.PTransform):
    """Repartition tables so that rows with equal ``key`` are in one table.

    Input: ``pa.Table`` with an int64 column ``key`` of hashes, so that ``key % shards`` is evenly distributed; one
    PCollection, or a tuple of several with one schema. Each is split separately, so that only bytes leave a stage.
    Output: one ``pa.Table`` for each non-empty shard, same schema; row order is unspecified.
    """

    key: str
    shards: int

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise ValueError(f"shards must be at least 1, got {self.shards}")

    def expand(
        self, tables: beam.PCollection[pa.Table] | tuple[beam.PCollection[pa.Table], ...]
    ) -> beam.PCollection[pa.Table]:
        """Split every table by shard, group the parts, put them together."""
        several = tables if isinstance(tables, tuple) else (tables,)
        split = _split_each(several, self.key, self.shards)
        parts = split[0] if len(split) == 1 else split | "AllParts" >> beam.Flatten()
        return (
            parts
            | "GroupParts" >> beam.GroupByKey()
            | "ConcatenateParts" >> beam.MapTuple(lambda _, parts: concatenate(parts)).with_output_types(pa.Table)
        )


def _split_each(
    tables: tuple[beam.PCollection[pa.Table], ...], key: str, shards: int
) -> tuple[beam.PCollection[tuple[int, bytes]], ...]:
    """Split the tables of each PCollection by shard.

    Raises:
        ValueError: a PCollection is not in the global window, in which all parts are.
    """
    if not all(collection.windowing.is_default() for collection in tables):
        raise ValueError("tables are divided among shards in the global window only")
    return tuple(
        collection
        | f"SplitByShard{number or ''}" >> beam.ParDo(SplitByShard(key, shards)).with_output_types(tuple[int, bytes])
        for number, collection in enumerate(tables)
    )


class SplitByShard(beam.DoFn):
    """Split the tables of a bundle by shard; small ones are gathered first, so that a part is not of a few rows.

    Input: ``pa.Table`` of one schema, in the global window.
    Output: those of `split_by_shard`, in the global window.

    A step holds less than twice ``GATHERED_BYTES * shards`` of tables: at most 128 MB with 4,096 shards.
    """

    def __init__(self, key: str, shards: int) -> None:
        self.key, self.shards = key, shards
        self._tables: list[pa.Table] = []
        self._bytes = 0

    def start_bundle(self) -> None:
        """Forget the tables of a bundle that failed."""
        self._tables, self._bytes = [], 0

    def process(self, table: pa.Table) -> Iterator[tuple[int, bytes]]:
        """Gather a small table, or split a large one or those that have been gathered."""
        size = table.get_total_buffer_size()  # of a slice too all that it keeps in memory
        limit = GATHERED_BYTES * self.shards
        if size >= limit:
            yield from split_by_shard(table, self.key, self.shards)
        elif len(table):
            self._tables.append(table)
            self._bytes += size
        if self._bytes >= limit:
            yield from self._split_gathered()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Split the tables that are left."""
        yield from map(GlobalWindows.windowed_value, self._split_gathered())

    def _split_gathered(self) -> Iterator[tuple[int, bytes]]:
        if self._tables:
            gathered = pa.concat_tables(self._tables)
            self._tables, self._bytes = [], 0
            yield from split_by_shard(gathered, self.key, self.shards)


def shard_of(keys: pa.ChunkedArray | pa.Array, shards: int) -> np.ndarray:
    """Return the shard of every key, int64 in [0, shards), the same on every machine."""
    return np.asarray(np.remainder(keys.to_numpy(), shards))


def split_by_shard(table: pa.Table, key: str, shards: int) -> Iterator[tuple[int, bytes]]:
    """Yield ``(shard, Arrow IPC bytes)`` for each shard that has a row, in parts of at most `MAX_PART_BYTES`.

    A row that is larger is a part of its own. Rows are ordered by shard `ROWS_AT_A_TIME` at a time, so that a large
    table is not copied whole.
    """
    for start in range(0, len(table), ROWS_AT_A_TIME):
        yield from _split(table.slice(start, ROWS_AT_A_TIME), key, shards)


def _split(table: pa.Table, key: str, shards: int) -> Iterator[tuple[int, bytes]]:
    shard_of_row = shard_of(table[key], shards)
    narrow = shard_of_row.astype(np.min_scalar_type(shards))  # of up to 16 bits numpy sorts by counting
    by_shard = table.take(pa.array(np.argsort(narrow, kind="stable"))).combine_chunks()
    has_large = by_shard.nbytes > MAX_PART_BYTES
    bounds = np.concatenate([[0], np.cumsum(np.bincount(shard_of_row, minlength=shards))])
    for shard in np.flatnonzero(np.diff(bounds)).tolist():
        of_shard = by_shard.slice(bounds[shard], bounds[shard + 1] - bounds[shard])
        for part in _parts(of_shard) if has_large else [of_shard]:
            yield shard, to_ipc(part)


def _parts(table: pa.Table) -> Iterator[pa.Table]:
    """Yield a table in halves, and these again, until a part has at most `MAX_PART_BYTES` or one row.

    The size of each part is counted, because some rows are far larger than the mean one.
    """
    table = _with_used_texts(table)
    if len(table) < 2 or table.nbytes <= MAX_PART_BYTES:
        yield table
        return
    middle = len(table) // 2
    yield from _parts(table.slice(0, middle))
    yield from _parts(table.slice(middle))


def to_ipc(table: pa.Table) -> bytes:
    """Serialise ``table``, then compress it by LZ4; the inverse is `concatenate` of one part.

    A text of a dictionary column is in it once, if a row has it.
    Arrow's own compression of every buffer takes six times as long for a part of 16 rows, which it does not shrink.
    """
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as compressed, pa.ipc.new_stream(compressed, table.schema) as writer:
        writer.write_table(_with_used_texts(table.combine_chunks()))
    return bytes(sink.getvalue().to_pybytes())


def _with_used_texts(table: pa.Table) -> pa.Table:
    """Return a table without the texts of its dictionary columns that no row has."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field, with_used_texts(table[field.name]))
    return table


def concatenate(parts: Iterable[bytes]) -> pa.Table:
    """Read serialised tables back into one, in which a text of a dictionary column is once."""
    return pa.concat_tables(map(_read, parts)).combine_chunks()


def _read(part: bytes) -> pa.Table:
    return pa.ipc.open_stream(pa.CompressedInputStream(pa.BufferReader(part), "lz4")).read_all()
