"""The inner loop over ragged arrays as machine code, made by numba; the same results as numpy's.

lists of codes -> keep_first -> each code once a list
"""

from __future__ import annotations

import numpy as np

from schemas.arrays import Int32s, Int64s
from schemas.compiled import compile_loop


@compile_loop
def keep_first(
    ends: Int64s,
    codes: Int32s,
    values: int,
    kept_ends: Int32s,
    kept: Int32s,
) -> int:
    """Write the first of equal codes of each list, and return their number.

    Args:
        ends: (lists + 1,) bounds of the lists.
        codes: from 0, list after list.
        values: number of different codes.
        kept_ends: (lists + 1,) bounds of what is kept, all but the first overwritten.
        kept: (codes,), overwritten from the first on.
    """
    last_list = np.full(values, -1, np.int64)
    written = 0
    for number in range(len(ends) - 1):
        for place in range(ends[number], ends[number + 1]):
            code = codes[place]
            if last_list[code] != number:
                last_list[code] = number
                kept[written] = code
                written += 1
        kept_ends[number + 1] = written
    return written
