"""The inner loop of the search for similar spellings as machine code, made by numba; the same pairs as numpy's.

runs of possible partners, sizes, parities -> write_possible -> pairs that these do not exclude
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.neighbours.numba_kernels import count_bits
from schemas.arrays import Int64s
from schemas.compiled import compile_loop


@compile_loop
def write_possible(
    row: Int64s,
    first: Int64s,
    count: Int64s,
    partners: Int64s,
    sizes: Int64s,
    parities: npt.NDArray[np.uint64],
    max_differences: Int64s,
    begin: int,
    pairs: Int64s,
) -> tuple[int, int]:
    """Write the pairs of some runs whose parities differ in few enough bits.

    Args:
        row: (E,) row of each run.
        first: (E,) place of its first partner.
        count: (E,) number of its partners, which follow each other.
        partners: (N,) row of the partner at each place.
        sizes: (R,) size of the set of each row.
        parities: (R,) of each row.
        max_differences: number of bits in which the parities of similar sets differ at most, by the sum of their sizes.
        begin: run with which to begin.
        pairs: (2, P) with P at least the greatest count; overwritten from the first on.

    Returns:
        The number of pairs and the first run that was left, for lack of space, or E.
    """
    written = 0
    for run in range(begin, len(row)):
        if written + count[run] > pairs.shape[1]:
            return written, run
        later = row[run]
        for place in range(first[run], first[run] + count[run]):
            partner = partners[place]
            if count_bits(parities[later] ^ parities[partner]) <= max_differences[sizes[later] + sizes[partner]]:
                pairs[0, written], pairs[1, written] = later, partner
                written += 1
    return written, len(row)
