"""Evaluation of boosted trees as machine code, made by numba; the same numbers as numpy's, bit for bit.

features of pairs, tables of splits, logits -> add_trees -> logits with the leaves that the pairs reach

Nothing here may be reordered or contracted, so no ``fastmath``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from schemas.arrays import Float32s, Float64s, Int64s
from schemas.compiled import compile_loop

BLOCK = 256
"""Number of pairs evaluated together, so that each threshold is compared with many values."""

AT_ONCE = 4
"""Number of tables whose masks `_exclude` combines."""

ALL = 0xFFFF
"""Mask in which all leaves are possible."""

WIDTH = 112
"""Number of masks in a row, those of a stage's trees and further ones that are not read: with a fixed number, seven
vectors of 16, the compiler needs no loop over the rest."""


@compile_loop
def add_trees(
    columns: Float32s,
    chosen: Int64s,
    features: Int64s,
    feature_bounds: Int64s,
    thresholds: Float32s,
    threshold_bounds: Int64s,
    masks: npt.NDArray[np.uint16],
    mask_starts: Int64s,
    leaves: Float64s,
    logits: Float64s,
) -> None:
    """Add the leaves that some pairs reach to their logits; further arguments are those of `tree_tables.Packed`.

    Args:
        columns: (F, P) features of all pairs, feature by feature.
        chosen: numbers of the pairs that are evaluated.
        features: features of all tables, one table after the other.
        feature_bounds: table n has the features from ``feature_bounds[n]`` to ``feature_bounds[n + 1]``.
        thresholds: thresholds of these features, one feature after the other.
        threshold_bounds: bounds of each feature's thresholds.
        masks: (rows of all tables and a last one, `WIDTH`) masks of the leaves that are possible; all in the last row.
        mask_starts: first row of each table.
        leaves: (T, L) amount of each leaf, leftmost first.
        logits: (P,), those of the chosen pairs are changed.
    """
    trees, tables = len(leaves), len(mask_starts)
    rows = np.full((-(-tables // AT_ONCE) * AT_ONCE, BLOCK), len(masks) - 1, np.int32)
    values, above = np.zeros(BLOCK, np.float32), np.empty(BLOCK, np.int32)
    possible = np.empty((BLOCK, WIDTH), np.uint16)
    leaf = np.empty(WIDTH, np.uint16)
    for start in range(0, len(chosen), BLOCK):
        block = chosen[start : start + BLOCK]
        size = len(block)
        for table in range(tables):
            rows[table] = 0
            for place in range(feature_bounds[table], feature_bounds[table + 1]):
                limits = thresholds[threshold_bounds[place] : threshold_bounds[place + 1]]
                _append_digit(rows[table], columns[features[place]], block, limits, values, above)
            rows[table] += mask_starts[table]
        possible[:] = ALL
        for table in range(0, len(rows), AT_ONCE):  # the rows of four tables fit into a first-level cache
            one, two, three, four = rows[table], rows[table + 1], rows[table + 2], rows[table + 3]
            for pair in range(size):
                _exclude(possible[pair], masks[one[pair]], masks[two[pair]], masks[three[pair]], masks[four[pair]])
        for pair in range(size):
            of_pair = possible[pair]
            for tree in range(WIDTH):  # apart from the reading, which the compiler cannot vectorize
                leaf[tree] = _lowest_bit(of_pair[tree])
            logits[block[pair]] += _sum(leaves, leaf[:trees])


@njit(inline="always")
def _append_digit(row: Any, column: Any, block: Any, thresholds: Any, values: Any, above: Any) -> None:
    """Count the thresholds that a feature of each pair exceeds, and append the number to that of earlier features."""
    for pair in range(len(block)):
        values[pair] = column[block[pair]]
    above[:] = 0
    _count_all_above(thresholds, values, above)
    for pair in range(BLOCK):
        row[pair] = row[pair] * np.int32(len(thresholds) + 1) + above[pair]


@njit(inline="always")
def _count_all_above(thresholds: Any, values: Any, above: Any) -> None:
    fours = len(thresholds) // 4 * 4
    for number in range(0, fours, 4):
        _count_above_four(thresholds[number : number + 4], values, above)
    for number in range(fours, len(thresholds)):
        _count_above(thresholds[number], values, above)


@njit(inline="always")
def _count_above(threshold: Any, values: Any, above: Any) -> None:
    for pair in range(BLOCK):
        above[pair] += np.int32(values[pair] > threshold)


@njit(inline="always")
def _count_above_four(thresholds: Any, values: Any, above: Any) -> None:
    """Compare with four thresholds, so that values and counts are read and written once."""
    a, b, c, d = thresholds[0], thresholds[1], thresholds[2], thresholds[3]
    for pair in range(BLOCK):
        value = values[pair]
        above[pair] += np.int32(value > a) + np.int32(value > b) + np.int32(value > c) + np.int32(value > d)


@njit(inline="always")
def _exclude(possible: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    """Exclude by four masks of each tree, so that the possible leaves are read and written once."""
    for tree in range(WIDTH):
        possible[tree] &= a[tree] & b[tree] & c[tree] & d[tree]


@njit(inline="always")
def _lowest_bit(mask: Any) -> Any:
    """Return the number of the lowest bit that is set, of 16; wider numbers would halve those in a vector."""
    short = np.uint16
    below = short(short(mask & -mask) - short(1))
    below = short(below - short(short(below >> short(1)) & short(0x5555)))
    below = short(short(below & short(0x3333)) + short(short(below >> short(2)) & short(0x3333)))
    below = short(short(below + short(below >> short(4))) & short(0x0F0F))
    return short(short(below + short(below >> short(8))) & short(0x1F))


@njit(inline="always")
def _sum(leaves: Any, leaf: Any) -> Any:
    """Return the sum of a leaf of each tree in the order of `numpy.sum`: eight partial sums, the rest one by one."""
    whole = len(leaf) // 8 * 8
    a = b = c = d = e = f = g = h = 0.0
    for tree in range(0, whole, 8):
        a += leaves[tree, leaf[tree]]
        b += leaves[tree + 1, leaf[tree + 1]]
        c += leaves[tree + 2, leaf[tree + 2]]
        d += leaves[tree + 3, leaf[tree + 3]]
        e += leaves[tree + 4, leaf[tree + 4]]
        f += leaves[tree + 5, leaf[tree + 5]]
        g += leaves[tree + 6, leaf[tree + 6]]
        h += leaves[tree + 7, leaf[tree + 7]]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for tree in range(whole, len(leaf)):
        total += leaves[tree, leaf[tree]]
    return total
