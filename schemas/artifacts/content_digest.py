"""Content digest of a dataset: equal rows have equal digests in any files.

Dataset -> content_digest -> SHA-256 by table

The manifest's digest is of files, so it depends on the number of shards. This one is of rows: their order, their files
and the number of shards do not count; repetitions of a row do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.artifacts.dataset import Dataset
from schemas.ragged import offsets_of
from schemas.tables import TABLES

_BATCH = 65_536
"""Maximum number of rows that are Python objects at a time; the digest is the same for any number."""

_NULL = "~"


def content_digest(dataset: Dataset) -> dict[str, str]:
    """Return the digest of every table of `schemas.tables.TABLES`, 64 hexadecimal digits each; files are verified.

    Raises:
        QprError: a file is missing or damaged.
    """
    return {name: rows_digest(dataset.parts(name)) for name in TABLES}


def rows_digest(tables: Iterable[pa.Table]) -> str:
    """Return the digest of all rows of some tables; columns count by name and value, their order and metadata do not.

    A row's BLAKE2b is four 64-bit numbers. They are added up over the rows, wrapping around, which needs neither a sort
    nor memory and, unlike exclusive or, counts repeated rows.
    """
    total, rows = np.zeros(4, np.uint64), 0
    for table in tables:
        for batch in table.to_batches(max_chunksize=_BATCH):
            total += _hash_rows(batch).sum(axis=0, dtype=np.uint64)
            rows += len(batch)
    return hashlib.sha256(rows.to_bytes(8, "little") + total.astype("<u8").tobytes()).hexdigest()


def _hash_rows(batch: pa.RecordBatch) -> npt.NDArray[np.uint64]:
    names = sorted(batch.schema.names)
    columns = [_spell(batch.column(name)) for name in names]
    prefix = repr(names).encode()
    rows = pc.binary_join_element_wise(*columns, "").cast(pa.binary()).to_pylist()
    digests = b"".join(hashlib.blake2b(prefix + row, digest_size=32).digest() for row in rows)
    return np.frombuffer(digests, "<u8").reshape(len(batch), 4)


def _spell(values: pa.Array) -> pa.Array:
    """Return every value as a text that no other value or sequence of values has."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _spell(values.dictionary_decode())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        elements = pa.ListArray.from_arrays(_offsets(values), _spell(values.flatten()))
        texts = pc.binary_join(elements, "")
        texts = pc.if_else(pc.is_valid(values), texts, pa.scalar(None, pa.string()))
    elif pa.types.is_floating(kind):
        texts = values.cast(pa.float64()).view(pa.int64()).cast(pa.string())  # to the last bit
    elif pa.types.is_timestamp(kind):
        texts = values.cast(pa.int64()).cast(pa.string())
    else:
        texts = values.cast(pa.string())
    length = pc.binary_length(texts).cast(pa.string())
    return pc.fill_null(pc.binary_join_element_wise(length, texts, ":"), _NULL)


def _offsets(lists: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return pa.array(offsets_of(lengths), pa.int32())
