"""The search for a pair's place among the pairs of its questions as machine code, made by numba; as numpy's.

ordered pairs of each row, pairs -> count_before -> number of pairs before each
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schemas.compiled import compile_loop

Numbers = npt.NDArray[np.int64]


@compile_loop
def count_before(ordered: Numbers, starts: Numbers, rows: Numbers, values: Numbers, counts: Numbers) -> None:
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
