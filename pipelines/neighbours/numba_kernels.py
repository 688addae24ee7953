"""The inner loops of the search for similar questions as machine code, made by numba; the same results as numpy's.

lists of rows, sketches -> pick_candidates -> pairs of rows; sparse rows, pairs -> add_products, add_shared
similarities of neighbours, pairs -> count_at_least

Nothing here may be reordered or contracted, so no ``fastmath``. Columns are `schemas.compiled.unsigned`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from schemas.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from schemas.compiled import compile_loop

DISTANCES = 257
"""Number of distances of two sketches of 256 bits."""


@compile_loop
def pick_candidates(
    row: Int64s,
    place: Int64s,
    size: Int64s,
    sketch: npt.NDArray[np.uint64],
    answers: Int64s,
    subjects: Bools,
    window: int,
    candidates: int,
    same_answer: bool,
    pairs: Int64s,
) -> int:
    """Write the pairs of `postings.candidates`, some of them twice, and return their number.

    Args:
        row: (N,) rows of whole lists, one list after the other.
        place: (N,) place in its list.
        size: (N,) size of that list.
        sketch: (N, words) sketch of each entry.
        answers: (N,) answer of each entry.
        subjects: (N,) whether candidates are sought for the entry.
        window: maximum number of places before and after an entry.
        candidates: maximum number of candidates of an entry.
        same_answer: whether the rows of a pair have the same answer, or different ones.
        pairs: (N * most,) smaller row times 2^32 plus greater row, overwritten from the first on.
    """
    written = 0
    other, distance = np.empty(2 * window, np.int64), np.empty(2 * window, np.int64)
    counts = np.empty(DISTANCES, np.int64)
    for entry in range(len(row)):
        if not subjects[entry]:
            continue
        usable, steps = 0, min(size[entry] - 1, window)
        for step in range(1, steps + 1):  # ascending, and of two as near the one after the entry first, so that of
            for side in (1, -1):  # equally distant ones the first are the candidates
                if 0 <= place[entry] + side * step < size[entry]:
                    near = entry + side * step
                    if (answers[near] == answers[entry]) == same_answer:
                        other[usable], distance[usable] = near, _distance(sketch[entry], sketch[near])
                        usable += 1
        limit, ties = _limit(distance[:usable], candidates, counts)
        for nth in range(usable):
            ties -= distance[nth] == limit
            if distance[nth] < limit or (distance[nth] == limit and ties >= 0):
                left, right = row[entry], row[other[nth]]
                pairs[written] = min(left, right) << 32 | max(left, right)
                written += 1
    return written


@compile_loop
def add_products(
    indptr: Int32s,
    indices: npt.NDArray[np.uint32],
    data: Float32s,
    columns: int,
    left: Int64s,
    right: Int64s,
    products: Float32s,
) -> None:
    """Write the product of two rows of a sparse matrix for each pair, added column after column.

    Args:
        indptr: of a matrix in compressed rows, columns ascending.
        indices: of the matrix.
        data: of the matrix.
        columns: number of its columns.
        left: (P,) rows; the fewer changes from one to the next, the faster.
        right: (P,) other rows.
        products: (P,), overwritten.
    """
    of_left = np.zeros(columns, np.float32)
    filled = indices[:0]
    for pair in range(len(left)):
        row = left[pair]
        if pair == 0 or row != left[pair - 1]:
            for column in filled:
                of_left[column] = 0
            filled, values = indices[indptr[row] : indptr[row + 1]], data[indptr[row] : indptr[row + 1]]
            for place in range(len(filled)):
                of_left[filled[place]] = values[place]
        other = right[pair]
        further, values = indices[indptr[other] : indptr[other + 1]], data[indptr[other] : indptr[other + 1]]
        total = np.float32(0)
        for place in range(len(further)):
            total += of_left[further[place]] * values[place]
        products[pair] = total


@compile_loop
def add_shared(
    indptr: Int32s,
    indices: npt.NDArray[np.uint32],
    values: Float64s,
    left: Int64s,
    right: Int64s,
    sums: Float32s,
) -> None:
    """Write the sums of values over the columns that both rows of each pair have, added in the order of the columns.

    Args:
        indptr: of a matrix in compressed rows, columns ascending.
        indices: of the matrix.
        values: (columns, S) values of each column.
        left: (P,) rows; the fewer changes from one to the next, the faster.
        right: (P,) other rows.
        sums: (P, S), overwritten; four columns are added at a time if S is a multiple of four.
    """
    owner = np.full(len(values), -1, np.int64)
    total = np.empty(values.shape[1])
    by_fours = len(total) % 4 == 0
    for pair in range(len(left)):
        row = left[pair]
        if pair == 0 or row != left[pair - 1]:
            for column in indices[indptr[row] : indptr[row + 1]]:
                owner[column] = row
        columns = indices[indptr[right[pair]] : indptr[right[pair] + 1]]
        if by_fours:
            for first in range(0, len(total), 4):
                _add_four(owner, row, columns, values[:, first : first + 4], sums[pair, first : first + 4])
            continue
        total[:] = 0
        for column in columns:
            if owner[column] == row:
                for number in range(len(total)):
                    total[number] += values[column, number]
        sums[pair] = total


@njit(inline="always")
def _add_four(owner: Any, row: Any, columns: Any, values: Any, sums: Any) -> None:
    a = b = c = d = 0.0
    for column in columns:
        if owner[column] == row:
            a += values[column, 0]
            b += values[column, 1]
            c += values[column, 2]
            d += values[column, 3]
    sums[0], sums[1], sums[2], sums[3] = a, b, c, d


@compile_loop
def count_at_least(table: Float32s, rows: Int64s, least: Float32s, counts: Float64s) -> None:
    """Write the number of values of a row of a table that are at least as high as a limit.

    Args:
        table: (R, K) values, falling in each row.
        rows: (P,) rows.
        least: (P,) limits.
        counts: (P,), overwritten.
    """
    for place in range(len(rows)):
        values, count = table[rows[place]], 0
        while count < len(values) and values[count] >= least[place]:
            count += 1
        counts[place] = count


@compile_loop
def _limit(distance: Any, candidates: int, counts: Any) -> tuple[int, int]:
    """Return the distance below which all are kept, so that ``candidates`` are in all, and the number kept at it."""
    if len(distance) <= candidates:
        return DISTANCES, 0
    counts[:] = 0
    for of_one in distance:
        counts[of_one] += 1
    limit, ties = 0, candidates
    while ties >= counts[limit]:
        ties -= counts[limit]
        limit += 1
    return limit, ties


@njit(inline="always")
def count_bits(value: Any) -> Any:
    """Return the number of bits of a uint64 that are set."""
    bits = value - ((value >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(inline="always")
def _distance(one: Any, other: Any) -> Any:
    """Return the number of bits in which two sketches differ."""
    different = np.int64(0)
    for word in range(len(one)):
        different += count_bits(one[word] ^ other[word])
    return different
