"""Split of a cluster, decided by a hash of its id alone.

cluster ids -> splits -> train, validation, test
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from schemas.hashing import uniform
from schemas.tables import SPLITS

SHARES = (0.8, 0.1, 0.1)
"""Expected shares of train, validation and test (Bonadiman et al. 2019, section 4.1.1)."""


def split_of(cluster_ids: np.ndarray, salt: str) -> pa.Array:
    """Return the split of each cluster: 80:10:10 by a hash of its id and ``salt``."""
    place = uniform(cluster_ids, salt)
    return pa.array(np.array(SPLITS, object)[np.searchsorted(np.cumsum(SHARES)[:-1], place, side="right")], pa.string())
