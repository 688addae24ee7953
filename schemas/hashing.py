"""Stable hashes: well-mixed ids, places in an order, multisets of values.

ids, salt -> mix, mix_both, uniform; lists of word hashes -> bag_ids -> int64
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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


def uniform(ids: np.ndarray, salt: str) -> np.ndarray:
    """Return a float64 in [0, 1) for each int64 id: its place in an order that only id and ``salt`` decide."""
    return (mix(ids, hash64(salt)) >> np.uint64(11)) * 2.0**-53  # the 53 bits that a float64 holds exactly


def mix(ids: np.ndarray, salt: int) -> np.ndarray:
    """Return 64 well-mixed bits of each id and a salt (the finaliser of SplitMix64, Steele et al. 2014)."""
    bits = ids.astype(np.int64).view(np.uint64) ^ np.array([salt], np.int64).view(np.uint64)
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def mix_both(first: np.ndarray, second: np.ndarray, salt: int) -> np.ndarray:
    """Return 64 well-mixed bits of each two int64 ids, in their order, and a salt."""
    return mix((mix(first, salt) + second.view(np.uint64)).view(np.int64), salt)
