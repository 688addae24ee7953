"""Training pairs: all unordered pairs of a cluster's questions, or a fair part of them.

MEMBERS ordered by cluster and question -> pair -> PAIRS
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipelines.grouping import sizes_of_runs, starts_of_runs
from pipelines.splitting import mix
from schemas.tables import PAIRS, conform

DEFAULT_MAX_PAIRS = 10_000


def pair(members: pa.Table, max_pairs: int) -> pa.Table:
    """Return the unordered pairs of each cluster, the smaller id first.

    A cluster with more than ``max_pairs`` keeps those whose index among its pairs has the smallest hash, so the choice
    is even over its questions and depends on nothing but the cluster.

    Args:
        members: MEMBERS, ordered by ``cluster_id`` and ``question_id``.
        max_pairs: upper bound for a cluster.
    """
    ids = members["cluster_id"].to_numpy()
    starts = starts_of_runs(ids)
    sizes = sizes_of_runs(starts, len(ids))
    lefts, rights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():  # clusters of one size share their pair indices
        first, second = np.triu_indices(size, 1)
        of_size = starts[sizes == size]
        if len(first) <= max_pairs:
            lefts.append((of_size[:, None] + first).ravel())
            rights.append((of_size[:, None] + second).ravel())
            continue
        for start in of_size.tolist():
            order = np.argsort(mix(np.arange(len(first)), int(ids[start])), kind="stable")[:max_pairs]
            lefts.append(start + first[order])
            rights.append(start + second[order])
    left, right = np.concatenate(lefts), np.concatenate(rights)
    order = np.lexsort((right, left))
    ends = members.select(["question_id", "text", "cluster_id"])
    one, two = ends.take(pa.array(left[order])), ends.take(pa.array(right[order]))
    return conform(
        pa.table(
            {
                "question_id_1": one["question_id"],
                "text_1": one["text"],
                "question_id_2": two["question_id"],
                "text_2": two["text"],
                "cluster_id": one["cluster_id"],
            }
        ),
        PAIRS,
    )
