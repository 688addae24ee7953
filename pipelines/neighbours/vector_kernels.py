"""The sums of the parts of words as machine code, made by numba; the same vectors as scipy's, bit for bit.

words of questions, parts of words -> add_parts -> rows of length 1

Nothing here may be reordered or contracted, so no ``fastmath``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from schemas.arrays import Float32s, Float64s, Int32s
from schemas.compiled import compile_loop

FEW = 64
"""Number of columns up to which they are inserted one by one: those of a word are sorted already."""


@compile_loop
def add_parts(
    word_ends: Int32s,
    words: Int32s,
    weights: Float64s,
    part_ends: Int32s,
    parts: Int32s,
    shares: Float64s,
    columns: int,
    ends: Int32s,
    indices: Int32s,
    data: Float32s,
) -> int:
    """Write the sum of the weighted words of each row, divided by its length, and return the number of entries.

    Args:
        word_ends: (R + 1,) bounds of the words of each row.
        words: words, row after row.
        weights: weight of each of them.
        part_ends: (V + 1,) bounds of the parts of each word.
        parts: column of each part, ascending in each word.
        shares: positive share of each part in its word.
        columns: number of columns.
        ends: (R + 1,) bounds of the entries of each row, all but the first overwritten.
        indices: columns of the entries, ascending in each row, overwritten from the first on.
        data: values of the entries, overwritten likewise.
    """
    sums = np.zeros(columns)
    last_row = np.full(columns, -1, np.int64)
    written = 0
    for row in range(len(word_ends) - 1):
        first = written
        for place in range(word_ends[row], word_ends[row + 1]):
            word = words[place]
            for part in range(part_ends[word], part_ends[word + 1]):
                column = parts[part]
                if last_row[column] != row:
                    last_row[column], sums[column] = row, 0
                    indices[written] = column
                    written += 1
                sums[column] += weights[place] * shares[part]
        _sort(indices[first:written])
        squares = 0.0
        for entry in range(first, written):
            squares += sums[indices[entry]] * sums[indices[entry]]
        length = np.sqrt(squares)
        for entry in range(first, written):
            data[entry] = sums[indices[entry]] / length
        ends[row + 1] = written
    return written


@njit(inline="always")
def _sort(values: Any) -> None:
    if len(values) > FEW:
        values.sort()
        return
    for place in range(1, len(values)):
        value, before = values[place], place - 1
        while before >= 0 and values[before] > value:
            values[before + 1] = values[before]
            before -= 1
        values[before + 1] = value
