"""Which split a cluster belongs to, decided by its id alone, so that it keeps it for ever.

cluster ids -> splits -> train, validation, test
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from schemas.tables import SPLITS
from schemas.text import hash64

SHARES = (0.8, 0.1, 0.1)
"""Expected shares of train, validation and test (Bonadiman et al. 2019, section 4.1.1)."""

DEFAULT_SALT = "qpr"


def split_of(cluster_ids: np.ndarray, salt: str) -> pa.Array:
    """Return the split of each cluster: 80:10:10 by a hash of its id and ``salt``."""
    place = uniform(cluster_ids, salt)
    return pa.array(np.array(SPLITS, object)[np.searchsorted(np.cumsum(SHARES)[:-1], place, side="right")], pa.string())


def uniform(ids: np.ndarray, salt: str) -> np.ndarray:
    """Return a float64 in [0, 1) for each int64 id: its place in an order that only id and ``salt`` decide."""
    return (mix(ids, hash64(salt)) >> np.uint64(11)) * 2.0**-53


def mix(ids: np.ndarray, salt: int) -> np.ndarray:
    """Return 64 well-mixed bits of each id and a salt (the finaliser of SplitMix64, Steele et al. 2014)."""
    bits = ids.astype(np.int64).view(np.uint64) ^ np.array([salt], np.int64).view(np.uint64)
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
