"""Clusters and questions that people judged to be wrong, kept out of later builds by their ids.

MEMBERS of clusters, Reviewed -> remove_reviewed -> which members stay, REJECTS rows, counts
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clusters.settings import Reviewed
from pipelines.intermediate import REJECTS
from pipelines.writing.rejects import reject_members

STAGE: Final = "review"


def remove_reviewed(grouped: pa.Table, reviewed: Reviewed | None) -> tuple[np.ndarray, pa.Table, Mapping[str, int]]:
    """Return a mask of the members that stay, (R,) bool, the others as REJECTS rows, and counts.

    ``verdicts_found`` counts the clusters that lose a member.

    Args:
        grouped: (R,) MEMBERS with the id of their cluster.
        reviewed: verdicts of people; None: all members stay.
    """
    if reviewed is None or not len(grouped):
        return np.ones(len(grouped), bool), REJECTS.empty_table(), {}
    clusters = grouped["cluster_id"].combine_chunks()
    wrong = pc.is_in(clusters, pa.array(map(read_name, reviewed.wrong), pa.int64())).to_numpy(zero_copy_only=False)
    strays = {(read_name(cluster), read_name(question)) for cluster, question in reviewed.strays}
    suspects = pc.is_in(clusters, pa.array({cluster for cluster, _ in strays}, pa.int64()))
    stray = np.zeros(len(grouped), bool)
    for place in np.flatnonzero(suspects.to_numpy(zero_copy_only=False) & ~wrong):
        stray[place] = (clusters[int(place)].as_py(), grouped["question_id"][int(place)].as_py()) in strays
    rejects = [
        reject_members(grouped.filter(pa.array(wrong)), stage=STAGE, reason="wrong_cluster"),
        reject_members(grouped.filter(pa.array(stray)), stage=STAGE, reason="stray"),
    ]
    matched = len(pc.unique(clusters.filter(pa.array(wrong | stray))))
    return ~(wrong | stray), pa.concat_tables(rejects), {"verdicts_found": matched}


def read_name(name: str) -> int:
    """Return the signed 64-bit id of a name, one letter and 16 hexadecimal digits.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch("[cq][0-9a-f]{16}", name):
        raise ValueError(f"{name[:40]!a} is no name of a cluster or question, such as c00a1b2c3d4e5f607")
    number = int(name[1:], 16)
    return number - 2**64 if number >= 2**63 else number
