"""Clusters and questions that people judged to be wrong, kept out of later builds by their ids.

MEMBERS of clusters, Reviewed -> remove_reviewed -> which members stay, REJECTS rows, counts -> unmatched_verdicts
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clusters.settings import Reviewed
from pipelines.intermediate import REJECTS
from pipelines.writing.rejects import reject_members
from schemas.quantities import counted

STAGE: Final = "review"

_FOUND: Final = "verdicts_found"
"""Counter of the clusters with a verdict that rejects something."""


def remove_reviewed(grouped: pa.Table, reviewed: Reviewed | None) -> tuple[np.ndarray, pa.Table, Mapping[str, int]]:
    """Return a mask of the members that stay, (R,) bool, the others as REJECTS rows, and the number of found clusters.

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
    found = len(pc.unique(clusters.filter(pa.array(wrong | stray))))
    return ~(wrong | stray), pa.concat_tables(rejects), {_FOUND: found}


def unmatched_verdicts(configuration: Mapping[str, Any], counters: Mapping[str, int]) -> list[str]:
    """Return a sentence if clusters that verdicts reject are not in the log, nothing otherwise."""
    reviewed = configuration.get("assembly", {}).get("reviewed") or {}
    named = {*reviewed.get("wrong", ()), *(cluster for cluster, _ in reviewed.get("strays", ()))}
    missing = len(named) - counters.get(_FOUND, 0)
    if not missing:
        return []
    return [
        f"--verdicts: {missing:,} of {counted(len(named), 'cluster')} that the file rejects, or in which it marks "
        "strays, are not in this log, or not with these questions. Clusters of another log have other names: if most "
        "are missing, judge this dataset by `qpr review`"
    ]


def read_name(name: str) -> int:
    """Return the signed 64-bit id of a name, one letter and 16 hexadecimal digits.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch("[cq][0-9a-f]{16}", name):
        raise ValueError(f"{name[:40]!a} is no name of a cluster or question, such as c00a1b2c3d4e5f607")
    number = int(name[1:], 16)
    return number - 2**64 if number >= 2**63 else number
