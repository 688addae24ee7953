"""One number for a collection of words, whatever their order.

lists of word hashes -> bag_ids -> int64
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.splitting import mix
from schemas.text import hash64

_SALT = hash64("bag")


def bag_ids(lists: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return for each list the sum of its values' mixed bits, modulo 2^64.

    Lists that hold the same values equally often have the same id; others differ but for a chance of 2^-64. A list of
    distinct values gets the id of a set.

    Args:
        lists: int64 lists without nulls.
    """
    whole = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    values = mix(pc.list_flatten(whole).to_numpy(zero_copy_only=False), _SALT)
    ends = np.cumsum(pc.list_value_length(whole).to_numpy(zero_copy_only=False), dtype=np.int64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(values, dtype=np.uint64)])  # wraps around, and so do differences
    return pa.array((sums[ends] - sums[np.concatenate([[0], ends[:-1]])[: len(ends)]]).view(np.int64))
