"""Python and numpy parts of the column-oriented rivals: hashes, non-ASCII texts, splits, files.

Used by `duckdb_sql.py` and `polars_frames.py`; only distinct values come here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipelines.peers import rules
from schemas.tables import TABLES
from schemas.text import is_outer_punctuation

MIN_COHERENCE, MAX_CLUSTER_SIZE, MAX_PAIRS = 0.1, 1_000, 10_000
SPACES = r"[\t-\r\x1c-\x1f ]+"
OUTER = " " + "".join(c for c in map(chr, range(128)) if is_outer_punctuation(c))


def hashes(texts: Iterable[str]) -> np.ndarray:
    """Return `schemas.text.hash64` of every text, int64."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, "<i8")


def splits(cluster_ids: np.ndarray) -> np.ndarray:
    """Return `rules.split_of` of every cluster id."""
    bits = (cluster_ids ^ np.int64(rules.SALT)).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    place = ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return np.array(["train", "validation", "test"], object)[np.searchsorted([0.8, 0.9], place, side="right")]


def chosen_pairs(cluster_ids: Iterable[int], sizes: Iterable[int]) -> pa.Table:
    """Return the pairs kept of clusters that have too many: ``cluster_id``, ``rank_1``, ``rank_2``, from 0."""
    rows = [
        (cluster, *pair)
        for cluster, size in zip(cluster_ids, sizes, strict=True)
        for pair in rules.pairs_of(size, cluster, MAX_PAIRS)
    ]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return pa.table([pa.array(c) for c in columns], names=["cluster_id", "rank_1", "rank_2"])


def payloads(lost: pa.Table) -> pa.Array:
    """Return what the rejected table says of each row of ``text, answer, events, cluster_id, split``."""
    columns = [lost[name].to_pylist() for name in ("text", "answer", "events", "cluster_id", "split")]
    return pa.array([rules.payload(*row) for row in zip(*columns, strict=True)], pa.string())


def save(output: str, tables: dict[str, pa.Table]) -> None:
    """Write every table as one Parquet file."""
    Path(output).mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        schema = TABLES[name]
        known = {
            f.name: table[f.name] if f.name in table.column_names else pa.nulls(len(table), f.type) for f in schema
        }
        pq.write_table(
            pa.table(known).cast(schema), Path(output) / f"{name}.parquet", compression="zstd", compression_level=1
        )
