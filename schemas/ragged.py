"""Ragged arrays: offsets, runs of equal values, and sums and choices within them.

sorted rows -> runs_of, or starts_of_runs -> sizes_of_runs -> pairs_in_runs; ranks_in_runs, sums_of_runs, lists_of
integers -> sort_distinct -> each once
lengths -> offsets_of, ranges; rows of groups -> most_frequent -> one row a group
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def most_frequent(groups: pa.Array, values: pa.Array, weights: pa.Array) -> pa.Table:
    """Return for each group the value with the greatest total weight; of equally heavy ones the smallest.

    Args:
        groups: int64, the group of each row.
        values: strings or nulls, or a dictionary array of distinct ones.
        weights: int64, how often the row's value occurred.

    Returns:
        ``group`` and ``value``, one row a group, ascending.
    """
    group = groups.to_numpy()
    order = np.argsort(group, kind="stable")
    starts, sizes = runs_of(group[order])
    chosen = order[starts]
    several = sizes > 1
    if several.any():  # most groups have one row, and comparisons of texts are slow
        rows = order[np.repeat(several, sizes)]
        chosen[several] = rows[_heaviest(group[rows], values.take(pa.array(rows)), weights.to_numpy()[rows])]
    return pa.table({"group": group[order[starts]], "value": values.take(pa.array(chosen))})


def _heaviest(group: np.ndarray, values: pa.Array, weight: np.ndarray) -> np.ndarray:
    """Return for each group, ascending, a row with the value that `most_frequent` selects."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    texts = coded.dictionary
    code = pc.fill_null(coded.indices, len(texts)).to_numpy()  # null is a value: pairs have no answers
    order = np.lexsort((code, group))
    starts = starts_of_runs(group[order], code[order])
    first, total = order[starts], np.add.reduceat(weight[order], starts)
    rank = _ranks_where_needed(texts, group[first], code[first])
    best = np.lexsort((rank[code[first]], -total, group[first]))
    return np.asarray(first[best[starts_of_runs(group[first][best])]])


def starts_of_runs(*ordered: np.ndarray) -> np.ndarray:
    """Return the positions at which the value of a sorted array changes, or of any of some; the first included."""
    if not len(ordered[0]):
        return np.zeros(0, np.int64)
    changes = np.logical_or.reduce([column[1:] != column[:-1] for column in ordered])
    return np.flatnonzero(np.concatenate([[True], changes]))


def runs_of(*ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the start and the length of each run of equal values of a sorted array, or of equal values of several."""
    starts = starts_of_runs(*ordered)
    return starts, sizes_of_runs(starts, len(ordered[0]))


def sort_distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, ascending; the array is sorted in place. `numpy.unique` takes five times as long."""
    values.sort()
    distinct: np.ndarray = values[starts_of_runs(values)]
    return distinct


def sizes_of_runs(starts: np.ndarray, rows: int) -> np.ndarray:
    """Return the length of the run from each of ``starts`` to the next, or to the end of all ``rows``."""
    sizes: np.ndarray = np.diff(np.append(starts, rows))
    return sizes


def pairs_in_runs(sizes: np.ndarray) -> np.ndarray:
    """Return the number of unordered pairs within each run of these sizes."""
    pairs: np.ndarray = sizes * (sizes - 1) // 2
    return pairs


def sums_of_runs(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sum of each run of ``values``; `numpy.add.reduceat` fails without a run."""
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0, values.dtype)


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Return the start of each of some adjacent runs of these lengths and the end of the last, int64."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the integers from each start on, as many as its length, one range after the other."""
    offsets = offsets_of(lengths)
    integers = np.repeat(starts - offsets[:-1], lengths)
    integers += np.arange(offsets[-1])
    return integers


def ranks_in_runs(starts: np.ndarray, rows: int) -> np.ndarray:
    """Return how many rows of its run stand before each row, (rows,)."""
    ranks: np.ndarray = np.arange(rows) - np.repeat(starts, sizes_of_runs(starts, rows))
    return ranks


def lists_of(values: pa.Array | pa.ChunkedArray, starts: np.ndarray) -> pa.ListArray:
    """Return ``values`` cut into one list for each start of a run."""
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pa.ListArray.from_arrays(pa.array(np.append(starts, len(flat)), pa.int32()), flat)


def _ranks_where_needed(values: pa.Array, group: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Return the alphabetical rank of each code that shares its group with another, 0 for the others.

    The code after that of the last value is null, which ranks last.
    """
    ordered = np.sort(group)
    rivals = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    rank = np.zeros(len(values) + 1, np.int64)
    contested = np.unique(code[np.isin(group, rivals)])
    if len(contested):
        texts = values.take(pa.array(contested, mask=contested == len(values)))
        rank[contested] = pc.rank(texts, tiebreaker="dense").to_numpy()
    return rank
