"""Pair precision and recall of a grouping, and the share of faulty groups it keeps.

SilverLog, group of every row -> score -> Figures
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.logs.silver_logs import TWO_IN_ONE, UNRELATED, SilverLog
from pipelines.calibration.calibrate import count_pairs, pair_up
from pipelines.clusters.coherence import coherence
from schemas.ragged import runs_of

MIN_COHERENCE = 0.05


class Figures(NamedTuple):
    """Pair precision and recall; the share of unrelated answers of which a pair is kept, of two-in-one kept whole."""

    precision: float
    recall: float
    unrelated: float
    whole: float


def score(log: SilverLog, group: np.ndarray) -> Figures:
    """Compare a grouping with the gold one; unrelated answers count for their own figure only.

    Args:
        log: with the gold clusters.
        group: (R,) of each row.
    """
    answer = answers(log)
    counted = log.kind != UNRELATED
    gold = pair_up(answer[counted], log.gold[counted])
    both = count_pairs(pair_up(gold, group[counted]))
    together = np.bincount(group, minlength=group.max() + 1)[group] > 1
    unrelated, two_in_one = log.kind == UNRELATED, log.kind == TWO_IN_ONE
    kept = len(np.unique(answer[unrelated & together])) / max(len(np.unique(answer[unrelated])), 1)
    groups_of_answer = np.bincount(
        answer[two_in_one][np.unique(pair_up(answer[two_in_one], group[two_in_one]), return_index=True)[1]]
    )
    whole = (groups_of_answer == 1).sum() / max((groups_of_answer > 0).sum(), 1)
    return Figures(both / max(count_pairs(group[counted]), 1), both / max(count_pairs(gold), 1), kept, float(whole))


def answers(log: SilverLog) -> np.ndarray:
    """Return the number of each row's answer, from 0."""
    return np.unique(log.members["answer_id"].to_numpy(), return_inverse=True)[1]


def gated(log: SilverLog, group: np.ndarray, name: str = "idf", least: float = MIN_COHERENCE) -> np.ndarray:
    """Return the grouping without the groups that score less than ``least``: each of their rows is alone."""
    order = np.argsort(group, kind="stable")
    starts, sizes = runs_of(group[order])
    tokens = log.members["token_ids"].take(pa.array(order))
    kept = np.repeat(coherence(tokens, starts, log.weights).named(name) >= least, sizes)
    alone = group.copy()
    alone[order[~kept]] = len(group) + order[~kept]
    return alone
