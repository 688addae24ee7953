"""Rows of an index by cluster.

column cluster_id -> ClusterRows -> rows of one cluster
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schemas.arrays import Int64s

if TYPE_CHECKING:
    from model.index.index import Index


class ClusterRows:
    """The rows of each cluster: 16 bytes a row with a cluster.

    Args:
        index: an opened index.
    """

    def __init__(self, index: Index) -> None:
        ids, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for numbers in index.row_batches():
            column = index.questions(numbers)["cluster_id"].combine_chunks()
            clustered = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), bool)
            ids.append(column.fill_null(0).to_numpy(zero_copy_only=False)[clustered])
            rows.append(numbers[clustered])
        together = np.concatenate(ids)
        order = np.argsort(together, kind="stable")
        self._ids: Int64s = together[order]
        self._rows: Int64s = np.concatenate(rows)[order]

    def of(self, cluster_id: int) -> Int64s:
        """Return the rows of a cluster, ascending; none where there is no such cluster."""
        return self._rows[np.searchsorted(self._ids, cluster_id) : np.searchsorted(self._ids, cluster_id, side="right")]
