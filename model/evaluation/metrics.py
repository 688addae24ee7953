"""Ranking metrics of paraphrase retrieval: H@1, H@10, MRR and nDCG@10, per question and per pair.

ranked ids and relevant (query, id) pairs -> ranks -> question_values, pair_values -> Metrics
"""

from __future__ import annotations

import dataclasses

import numpy as np

from schemas.arrays import Float64s, Int64s
from schemas.ragged import ranks_in_runs, starts_of_runs

CUT = 10
"""Ranks that H@10 and nDCG@10 look at."""

_PAIRS_A_BLOCK = 100_000  # 80 MB of comparisons at depth 100


@dataclasses.dataclass(frozen=True)
class Metrics:
    """Means over questions or pairs, each in [0, 1] (Bonadiman et al. 2019, section 4.3).

    Attributes:
        hits_at_1: share with a relevant question at rank 1.
        hits_at_10: share with one among the first ten.
        mrr: mean reciprocal rank of the first one, 0 where none is retrieved.
        ndcg_at_10: normalised discounted cumulative gain of the first ten, gains linear in the grade.
    """

    hits_at_1: float
    hits_at_10: float
    mrr: float
    ndcg_at_10: float

    @classmethod
    def of(cls, values: Float64s) -> Metrics:
        """Return the means of `question_values` or `pair_values`."""
        if not values.size:
            raise ValueError("there is nothing to average")
        return cls(*map(float, values.mean(axis=1)))


def ranks(ranked: Int64s, *, queries: Int64s, relevant: Int64s) -> Int64s:
    """Return the rank of each relevant question in its query's ranking, from 1; 0 where it is not retrieved.

    Args:
        ranked: (n, depth) ids, best first, none twice in a row; negative padding matches no relevant id that is there.
        queries: (pairs,) row of ``ranked`` that each relevant question belongs to.
        relevant: (pairs,) its id.
    """
    pair_ranks = np.zeros(len(queries), np.int64)
    for start in range(0, len(queries), _PAIRS_A_BLOCK):
        block = slice(start, start + _PAIRS_A_BLOCK)
        same = ranked[queries[block]] == relevant[block, None]
        pair_ranks[block] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
    return pair_ranks


def per_question(pair_ranks: Int64s, *, queries: Int64s, count: int, grades: Int64s | None = None) -> Metrics:
    """Return the means of `question_values`."""
    return Metrics.of(question_values(pair_ranks, queries=queries, count=count, grades=grades))


def per_pair(pair_ranks: Int64s, *, queries: Int64s) -> Metrics:
    """Return the means of `pair_values`."""
    return Metrics.of(pair_values(pair_ranks, queries=queries))


def question_values(pair_ranks: Int64s, *, queries: Int64s, count: int, grades: Int64s | None = None) -> Float64s:
    """Return the (4, count) metrics of each query question, in the order of `Metrics`.

    Args:
        pair_ranks: what `ranks` returns.
        queries: (pairs,) number of the query of each relevant question, in [0, count).
        count: how many queries; one without a relevant question scores 0.
        grades: (pairs,) the gain of each relevant question; 1 by default.
    """
    gain = np.ones(len(queries)) if grades is None else grades
    best_rank = np.full(count, np.inf)
    np.minimum.at(best_rank, queries, np.where(pair_ranks > 0, pair_ranks, np.inf))
    gains = np.bincount(queries, weights=gain * discount(pair_ranks), minlength=count)
    best_first = np.lexsort((-gain, queries))
    query = queries[best_first]
    rank = 1 + ranks_in_runs(starts_of_runs(query), len(query))
    ideal = np.bincount(query, weights=gain[best_first] * discount(rank), minlength=count)
    return _values(best_rank, np.divide(gains, ideal, out=np.zeros(count), where=ideal > 0))


def pair_values(pair_ranks: Int64s, *, queries: Int64s) -> Float64s:
    """Return the (4, pairs) metrics of each ordered pair (query, relevant question), in the filtered setting.

    The rank of a relevant question is its rank once the query's other relevant questions are left out, as in link
    prediction: a system is not blamed for ranking one paraphrase above another. Arguments as for `question_values`.
    """
    filtered = filtered_ranks(pair_ranks, queries=queries)
    return _values(np.where(filtered > 0, filtered, np.inf), discount(filtered))


def filtered_ranks(pair_ranks: Int64s, *, queries: Int64s) -> Int64s:
    """Return the rank of each relevant question without its query's other ones, 0 where it is not retrieved."""
    retrieved = np.flatnonzero(pair_ranks)
    order = retrieved[np.lexsort((pair_ranks[retrieved], queries[retrieved]))]
    better = ranks_in_runs(starts_of_runs(queries[order]), len(order))
    filtered = np.zeros_like(pair_ranks)
    filtered[order] = pair_ranks[order] - better
    return filtered


def discount(rank: Int64s) -> Float64s:
    """Return the gain of a relevant question at each rank: ``1 / log2(1 + rank)`` down to rank 10, 0 below and at 0."""
    inside = (rank >= 1) & (rank <= CUT)
    return np.where(inside, 1 / np.log2(1 + np.where(inside, rank, 1)), 0.0)


def _values(best_rank: Float64s, ndcg: Float64s) -> Float64s:
    return np.stack([best_rank <= 1, best_rank <= CUT, 1 / best_rank, ndcg])
