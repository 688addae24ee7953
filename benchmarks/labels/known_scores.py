"""Scores of clusters on logs whose paraphrases are known.

KnownLog, cluster of each question -> score -> Score; questions and their groups -> clusters_of -> these clusters
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from benchmarks.logs.known_logs import KnownLog
from schemas.ragged import pairs_in_runs
from schemas.text import fold


@dataclasses.dataclass(frozen=True)
class Score:
    """Labels of one log compared with what is known.

    Attributes:
        log: name of the log.
        method: what made the clusters.
        precision: share of the kept pairs that are paraphrases.
        recall: share of the paraphrases that are kept.
        pairs_kept: share of all pairs of an answer that are kept.
        answers_touched: share of the answers with several questions of which a wrong pair is kept.
        clusters_kept: share of the known clusters of which most questions are together.
        planted_kept: share of the rows with a planted wrong answer that are in a cluster with another row.
        cpu_s: CPU seconds of the whole run; None where it was refused because no cluster was left.
    """

    log: str
    method: str
    precision: float
    recall: float
    pairs_kept: float
    answers_touched: float
    clusters_kept: float
    planted_kept: float
    cpu_s: float | None


def score(log: KnownLog, cluster_of: Mapping[tuple[str, int], int], method: str, cpu_s: float | None) -> Score:
    """Compare clusters with what is known; a question without a cluster is alone.

    Args:
        log: with the judged questions.
        cluster_of: cluster by folded answer and question id.
        method: what made the clusters.
        cpu_s: CPU seconds it took.
    """
    by_answer = collections.defaultdict(list)
    for judged in log.judged:
        by_answer[judged.answer].append(judged)
    kept = right = paraphrases = pairs = touched = several = groups = together = planted = planted_kept = 0
    for answer, every in by_answer.items():
        group = np.unique([judged.group for judged in every], return_inverse=True)[1]
        clusters = np.array([cluster_of.get((answer, judged.question), -1 - i) for i, judged in enumerate(every)])
        cluster = np.unique(clusters, return_inverse=True)[1]
        both = np.unique(np.stack([group, cluster]), axis=1, return_counts=True)
        of_group, of_cluster = np.bincount(group), np.bincount(cluster)
        kept_here, right_here = _pairs(of_cluster), _pairs(both[1])
        kept, right, paraphrases = kept + kept_here, right + right_here, paraphrases + _pairs(of_group)
        pairs += _pairs(np.array([len(every)]))
        several += len(every) > 1
        touched += kept_here > right_here
        largest = np.zeros(len(of_group), int)
        np.maximum.at(largest, both[0][0], both[1])
        groups += int((of_group > 1).sum())
        together += int(((of_group > 1) & (2 * largest > of_group)).sum())
        is_planted = np.array([judged.planted for judged in every])
        planted += int(is_planted.sum())
        planted_kept += int((is_planted & (of_cluster[cluster] > 1)).sum())
    return Score(
        log.name,
        method,
        right / max(kept, 1),
        right / max(paraphrases, 1),
        kept / max(pairs, 1),
        touched / max(several, 1),
        together / max(groups, 1),
        planted_kept / max(planted, 1),
        cpu_s,
    )


def clusters_of(members: pa.Table, group: np.ndarray) -> dict[tuple[str, int], int]:
    """Return the group of each row of MEMBERS by its folded answer and question id."""
    columns = (members["answer"].to_pylist(), members["question_id"].to_pylist(), group.tolist())
    return {(fold(answer), question): of_row for answer, question, of_row in zip(*columns, strict=True)}


def _pairs(sizes: np.ndarray) -> int:
    return int(pairs_in_runs(sizes).sum())
