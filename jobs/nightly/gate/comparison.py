"""Comparison of two indexes on the frozen test set: harm by encoder or index, and harm by new questions.

Ranked before and after, their common questions, Relevance -> compare -> Comparison -> differences -> metrics

A question that only one of the indexes has decides nothing about encoder and index: a longer log would look like a
loss. So they are compared on the questions that both have. The questions that only the new index has are judged by
themselves, in the new index alone: those that belong to a query are right hits, all others displace right ones.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from jobs.display.console import warn
from jobs.nightly.gate.evaluation import JudgedSplit, Ranked
from jobs.nightly.gate.relevance import Relevance
from model.evaluation.intervals import Interval, interval
from schemas.arrays import Float64s, Int64s

FEWEST_CLUSTERS: Final = 2
"""Minimum number of test clusters that have an interval."""

_KEPT: Final = "--new-test-set takes the test split of this night for later nights"
_REPLACED: Final = "The test split of this night is the test set of the next one, and so on until one has two clusters"


class Comparison(NamedTuple):
    """Reciprocal ranks of the first right hit of each query, 0 without one, and its cluster.

    Attributes:
        before: (n,) in the index of the version before, among the questions that both have.
        after: (n,) in the new one, among the same questions.
        whole: (n,) in the new one, among all its questions.
        clusters: (n,) number of the query's cluster.
    """

    before: Float64s
    after: Float64s
    whole: Float64s
    clusters: Int64s


def compare(test: JudgedSplit, before: Ranked, common: Ranked, after: Ranked, relevance: Relevance) -> Comparison:
    """Return the reciprocal ranks of the frozen test set in two indexes.

    Queries count of which both indexes have a paraphrase of the test set.

    Args:
        test: the frozen test set.
        before: its hits in the index of the version before.
        common: its hits in the new one among the questions of the index before.
        after: its hits in the whole new one.
        relevance: judgement of questions of both indexes, and of new ones.
    """
    judged = test.judged
    both = before.has(judged.relevant) & after.has(judged.relevant)
    kept = np.unique(judged.queries[both])
    parts = before.ids[kept], common.ids[kept], after.ids[kept]
    first, second, whole = (_reciprocal_ranks(kept, ids, before, after, relevance) for ids in parts)
    return Comparison(first, second, whole, test.clusters[kept])


def differences(compared: Comparison, *, is_kept: bool) -> dict[str, float]:
    """Return the metrics on the frozen test set beside those of the version before; empty without a common query.

    Queries of one cluster have no interval, since a bootstrap over clusters draws that one every time.

    Args:
        compared: the ranks in both indexes.
        is_kept: whether the frozen test set stays that of later nights, for the advice.
    """
    clusters = len(np.unique(compared.clusters))
    if clusters < FEWEST_CLUSTERS:
        warn(f"{_too_few(clusters)}, so ranks refuse nothing tonight. {_KEPT if is_kept else _REPLACED}")
    if not clusters:
        return {}
    metrics = {
        "frozen_queries": float(len(compared.after)),
        "frozen_mrr_before": float(compared.before.mean()),
        "frozen_mrr": float(compared.after.mean()),
        "frozen_mrr_with_new": float(compared.whole.mean()),
    }
    if clusters < FEWEST_CLUSTERS:
        return metrics
    for name, before, after in (
        ("difference", compared.before, compared.after),
        ("new_questions", compared.after, compared.whole),
    ):
        metrics |= zip(Interval.names(name), interval(after - before, compared.clusters), strict=True)
    return metrics


def _too_few(clusters: int) -> str:
    if clusters:
        return "the questions of the frozen test set that are in both indexes are of one cluster"
    return "no question of the frozen test set is in both indexes"


def _reciprocal_ranks(queries: Int64s, ids: Int64s, before: Ranked, after: Ranked, relevance: Relevance) -> Float64s:
    """Return (n,) the reciprocal rank of the first right hit, 0 without one; what left the log has no rank.

    Args:
        queries: (n,) numbers of queries.
        ids: (n, depth) their hits.
        before: hits of the index of the version before.
        after: hits of the new one.
        relevance: judgement of hits.
    """
    is_there, is_known, is_right = after.has(ids), before.has(ids), np.zeros(ids.shape, bool)
    for judge, which in ((relevance.of_known, is_there & is_known), (relevance.of_new, is_there & ~is_known)):
        query, place = np.nonzero(which)
        is_right[query, place] = judge(queries[query], ids[query, place])
    rank = np.cumsum(is_there, axis=1)
    first = np.where(is_right, rank, np.inf).min(axis=1, initial=np.inf)
    return np.asarray(1 / first)
