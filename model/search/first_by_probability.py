"""The first hits ordered by their probabilities too.

Found with at least `NEIGHBOURS` nearest questions -> first_by_probability -> Found of k hits
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from model.confidence.confidence import Confidence, Judgement, cluster_numbers
from model.index.index import Index
from model.search.found import Found
from model.search.judging import clusters_by, judged
from schemas.arrays import Float64s, Int64s

COMPARED: Final = 10
"""Hits that support their clusters, and whose order depends on their probabilities."""

POWER: Final = 0.5
"""Power of a hit's probability in its support."""

POWER_OF_ORDER: Final = 0.125
"""Power of the probability of a hit after the first. All three numbers were chosen on validation clusters
(`benchmarks/retrieval/cluster_support.py`, docs/decisions/0100-hits-support-their-clusters.md and
docs/decisions/0105-order-of-the-hits-after-the-first.md)."""


def first_by_probability(
    confidence: Confidence,
    index: Index,
    texts: Sequence[str],
    found: Found,
    k: int,
    exclude: Int64s | None,
    *,
    scores: Float64s,
) -> Found:
    """Return the k first hits, of which the first is of the cluster with the greatest support.

    Each of the first `COMPARED` hits supports its cluster by its score times its probability to the power `POWER`. The
    first hit of the cluster with the greatest sum comes first. The question with the key of the query stays first. The
    others of these hits follow by their scores times their probabilities to the power `POWER_OF_ORDER`, and all further
    hits in the order they had.

    Args:
        confidence: of the index.
        index: that was searched.
        texts: the queries.
        found: their hits, with at least `NEIGHBOURS` nearest questions.
        k: maximum number of hits of each.
        exclude: for each query the question id that was left out; see `judged`.
        scores: (n, w) of the hits, not negative.
    """
    ranking = found.ranking
    order = np.tile(np.arange(ranking.ids.shape[1]), (len(ranking.ids), 1))
    start = ranking.first(COMPARED)
    records = index.records(start.rows[start.found])
    of_start = found._replace(ranking=start, dense_ranks=found.dense_ranks[:, :COMPARED])
    judgement = judged(confidence, index, texts, of_start, records, exclude=exclude)
    if judgement is not None:
        clusters = clusters_by(confidence, lambda name: [record[name] for record in records])
        support, merit = (
            np.where(start.found, scores[:, :COMPARED] * judgement.probabilities**power, 0)
            for power in (POWER, POWER_OF_ORDER)
        )
        sums = _sums(support, cluster_numbers(clusters, start.found))
        sums[start.ids == found.own_ids[:, None]] = np.inf
        np.put_along_axis(merit, sums.argmax(axis=1)[:, None], np.inf, axis=1)
        order[:, :COMPARED] = np.argsort(-merit, axis=1, kind="stable")
    order, queries = order[:, :k], np.arange(len(order))[:, None]
    shown = None
    if judgement is not None and k <= COMPARED:
        shown = Judgement(judgement.probabilities[queries, order], judgement.contributions[queries, order])
    return found._replace(
        ranking=ranking.reordered(order),
        dense_ranks=found.dense_ranks[queries, order],
        lexical_ranks=found.lexical_ranks[queries, order],
        judgement=shown,
    )


def _sums(support: Float64s, clusters: Int64s) -> Float64s:
    """Return the sum of the support (n, w) of each hit's cluster; equal to the last bit for the hits of a cluster."""
    sums: Float64s = np.where(clusters[:, :, None] == clusters[:, None, :], support[:, None, :], 0).sum(axis=2)
    return sums
