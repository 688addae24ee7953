"""Loops over pairs of questions as machine code, made by numba, whose results are numpy's to the last bit.

ordered pairs of each row, pairs -> count_before -> number of pairs before each
words that one question of a pair alone has, vectors of all words -> find_nearest -> greatest cosine of each
the same -> multiply_sums -> products of the sums of the words of either question
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schemas.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from schemas.compiled import compile_loop


@compile_loop
def count_before(ordered: Int64s, starts: Int64s, rows: Int64s, values: Int64s, counts: Int64s) -> None:
    """Write the number of smaller values in the part of an array that belongs to a row.

    Args:
        ordered: values of all rows, ascending.
        starts: (R + 1,) bounds of the values of each row.
        rows: (P,) rows.
        values: (P,) values that are compared.
        counts: (P,), overwritten.
    """
    for pair in range(len(rows)):
        first = low = starts[rows[pair]]
        high = starts[rows[pair] + 1]
        while low < high:
            middle = (low + high) >> 1
            if ordered[middle] < values[pair]:
                low = middle + 1
            else:
                high = middle
        counts[pair] = low - first


@compile_loop
def find_nearest(
    vectors: npt.NDArray[np.int8],
    length: Float32s,
    word: Int64s,
    rows: tuple[Int32s, Int32s],
    different: tuple[Int32s, Int32s, Bools],
    pairs: tuple[Int64s, Int64s],
    near: Float32s,
    near_different: Float32s,
) -> None:
    """Write the greatest cosine of each different word with all, and with the different, words of the other question.

    Args:
        vectors: (W, D).
        length: (W,) of each vector.
        word: (parts,) row of ``vectors`` of each part.
        rows: bounds and ascending parts of each question.
        different: bounds and ascending parts that one question of each pair alone has, and whether it is the left one.
        pairs: (P,) left and right questions.
        near: (N,) of each different part, overwritten; 0 if the other question has no word.
        near_different: (N,) of each, overwritten; -1 if the other question has no different one.
    """
    row_bounds, parts = rows
    bounds, different_parts, of_left = different
    for pair in range(len(pairs[0])):
        for entry in range(bounds[pair], bounds[pair + 1]):
            row = pairs[1][pair] if of_left[entry] else pairs[0][pair]
            code, place = word[different_parts[entry]], bounds[pair]
            best, best_different = np.float32(-2), np.float32(-1)
            for other_place in range(row_bounds[row], row_bounds[row + 1]):
                part = parts[other_place]
                other_code = word[part]
                product = np.int32(0)
                for number in range(vectors.shape[1]):
                    product += np.int32(vectors[code, number]) * np.int32(vectors[other_code, number])
                cosine = np.float32(product) / (length[code] * length[other_code])
                best = max(best, cosine)
                while place < bounds[pair + 1] and different_parts[place] < part:
                    place += 1
                if place < bounds[pair + 1] and different_parts[place] == part:
                    best_different = max(best_different, cosine)
            near[entry] = best if best > -2 else 0
            near_different[entry] = best_different


@compile_loop
def multiply_sums(
    vectors: npt.NDArray[np.int8],
    word: Int64s,
    different: tuple[Int32s, Int32s, Bools],
    products: Float64s,
) -> None:
    """Write the products of the sums of the vectors of the different words of both questions.

    Args:
        vectors: (W, D).
        word: (parts,) row of ``vectors`` of each part.
        different: bounds and parts that one question of each pair alone has, and whether it is the left one.
        products: (3, P), overwritten: left with left, right with right, left with right.
    """
    bounds, different_parts, of_left = different
    sums = np.empty((2, vectors.shape[1]), np.int32)
    for pair in range(len(bounds) - 1):
        sums[:] = 0
        for entry in range(bounds[pair], bounds[pair + 1]):
            side, code = int(not of_left[entry]), word[different_parts[entry]]
            for number in range(vectors.shape[1]):
                sums[side, number] += vectors[code, number]
        left, right, both = np.int64(0), np.int64(0), np.int64(0)
        for number in range(vectors.shape[1]):
            left_sum, right_sum = np.int64(sums[0, number]), np.int64(sums[1, number])
            left += left_sum * left_sum
            right += right_sum * right_sum
            both += left_sum * right_sum
        products[0, pair], products[1, pair], products[2, pair] = left, right, both
