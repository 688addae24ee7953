"""Places of questions: the shards in which they are compared, each with the keys by which they are compared there.

rows, their keys -> place_in_lists -> a row for each shard -> shuffle by ``shard`` -> contested -> a place for each key

A long question has hundreds of keys, so its text is copied once for each shard and not for each key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.ragged import lists_of, starts_of_runs

BLOCK_BYTES: Final = 2**26
"""Approximate number of bytes of the texts, or of the words, that are copied for their shards at a time."""


def place_once(rows: pa.Table, keys: pa.Array | pa.ChunkedArray, shards: int) -> pa.Table:
    """Return rows with ``shard`` and ``blocking_keys``, of which each row has one.

    Args:
        rows: (R,) without these two columns.
        keys: (R,) int64 blocking keys.
        shards: number of shards of the shuffle.
    """
    shard = pa.array(_shards_of(keys.to_numpy(), shards))
    return rows.append_column("shard", shard).append_column("blocking_keys", lists_of(keys, np.arange(len(keys))))


def place_in_lists(
    rows: pa.Table, row: np.ndarray, key: np.ndarray, *, sizes: np.ndarray, shards: int
) -> Iterator[pa.Table]:
    """Yield rows with ``shard`` and ``blocking_keys``: each row once for each shard in which it has keys.

    Args:
        rows: (R,) without these two columns.
        row: (P,) int64 row of each key.
        key: (P,) int64 keys.
        sizes: (R,) approximate number of bytes of each row.
        shards: number of shards of the shuffle.
    """
    place = row * shards + _shards_of(key, shards)
    order = np.argsort(place, kind="stable")
    place, ordered = place[order], key[order]
    first = starts_of_runs(place)
    lists = lists_of(pa.array(ordered), first)
    copied, shard = place[first] // shards, place[first] % shards
    block = starts_of_runs(np.cumsum(sizes[copied]) // BLOCK_BYTES)
    for start, end in zip(block, np.append(block, len(copied))[1:], strict=True):
        taken = rows.take(pa.array(copied[start:end])).append_column("shard", pa.array(shard[start:end]))
        yield taken.append_column("blocking_keys", lists[start:end])


def _shards_of(keys: np.ndarray, shards: int) -> np.ndarray:
    return np.asarray(np.remainder(keys, shards))


def contested(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return ``row`` and ``blocking_key`` of the places where a row has a key in common with one of another split.

    Args:
        rows: (R,) of SETS or SPELLINGS.
        names: further columns, with the values of the row.
    """
    row = np.repeat(np.arange(len(rows)), pc.list_value_length(rows["blocking_keys"]).to_numpy())
    blocking_key = pc.list_flatten(rows["blocking_keys"]).to_numpy()
    is_mixed = mixed(blocking_key, rows["rank"].to_numpy()[row])
    row = row[is_mixed]
    values = {name: rows[name].to_numpy()[row] for name in names}
    return pa.table({"row": row, "blocking_key": blocking_key[is_mixed], **values})


def mixed(groups: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return a mask of the rows whose group also has rows of another rank."""
    group, number = _numbered(groups)
    lowest = _lowest(group, number, ranks)
    several = np.zeros(number, bool)
    several[group[ranks > lowest[group]]] = True
    return np.asarray(several[group])


def earliest(groups: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return for each row the lowest rank of its group."""
    group, number = _numbered(groups)
    return np.asarray(_lowest(group, number, ranks)[group])


def _numbered(groups: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the number of the group of each row, and the number of groups."""
    coded = pa.array(groups).dictionary_encode()  # numpy.unique would sort them
    return coded.indices.to_numpy(), len(coded.dictionary)


def _lowest(group: np.ndarray, number: int, ranks: np.ndarray) -> np.ndarray:
    lowest = np.full(number, np.iinfo(ranks.dtype).max, ranks.dtype)
    np.minimum.at(lowest, group, ranks)
    return lowest
