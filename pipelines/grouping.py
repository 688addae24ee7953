"""Sums and choices within groups, on Arrow tables.

rows -> most_frequent -> one row a group
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def most_frequent(groups: pa.Array, values: pa.Array, weights: pa.Array) -> pa.Table:
    """Return for each group the value with the greatest total weight; of equally heavy ones the smallest.

    Args:
        groups: int64, the group of each row.
        values: strings or nulls.
        weights: int64, how often the row's value occurred.

    Returns:
        ``group`` and ``value``, one row a group, ascending.
    """
    coded = values.dictionary_encode("encode")  # null is a value: pairs have no answers
    counted = (
        pa.table({"group": groups, "code": coded.indices, "weight": weights})
        .group_by(["group", "code"], use_threads=False)
        .aggregate([("weight", "sum")])
    )
    group = counted["group"].to_numpy()
    code = counted["code"].to_numpy()
    weight = counted["weight_sum"].to_numpy()
    rank = _ranks_where_needed(coded.dictionary, group, code)
    order = np.lexsort((rank[code], -weight, group))
    first = order[starts_of_runs(group[order])]
    return pa.table({"group": group[first], "value": coded.dictionary.take(pa.array(code[first]))})


def starts_of_runs(ordered: np.ndarray) -> np.ndarray:
    """Return the positions at which a sorted array's value changes, the first position included."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def sizes_of_runs(ordered: np.ndarray) -> np.ndarray:
    """Return how long each run of equal values of a sorted array is."""
    sizes: np.ndarray = np.diff(np.append(starts_of_runs(ordered), len(ordered)))
    return sizes


def lists_of(values: pa.Array | pa.ChunkedArray, starts: np.ndarray) -> pa.ListArray:
    """Return ``values`` cut into one list for each start of a run."""
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pa.ListArray.from_arrays(pa.array(np.append(starts, len(flat)), pa.int32()), flat)


def _ranks_where_needed(values: pa.Array, group: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Return the alphabetical rank of each value that shares its group with another; 0 for the others."""
    ordered = np.sort(group)
    rivals = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    rank = np.zeros(len(values), np.int64)
    contested = np.unique(code[np.isin(group, rivals)])
    if len(contested):
        rank[contested] = pc.rank(values.take(pa.array(contested)), tiebreaker="dense").to_numpy()
    return rank
