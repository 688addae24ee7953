"""Training examples of a reranker: the hits of queries with known paraphrases.

Index, Judgements -> examples -> Examples
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import numpy as np

from model.evaluation.relevance import Judgements, query_clusters
from model.index.index import Index
from model.reranking.reranker import QUERIES, Reranker
from schemas.arrays import Bools, Float32s, Int64s

COMPARED: Final = 2**21
"""Ids compared with a paraphrase at a time, 16 MB: the examples of confidence have up to 1,020 hits of a query."""


@dataclasses.dataclass(frozen=True)
class Examples:
    """Queries and the questions nearest to them, the nearest first.

    Attributes:
        ids: (n, k) question ids, -1 where there is none, which is an id too.
        there: (n, k), where there is one.
        table: (n, k, features).
        relevant: (n, k), which are paraphrases of the query.
        groups: (n,) queries that paraphrase one another have one number, from 0 without gaps.
    """

    ids: Int64s
    there: Bools
    table: Float32s
    relevant: Bools
    groups: Int64s


def examples(index: Index, judged: Judgements, reranker: Reranker, *, on_queries: Callable[[int], None]) -> Examples:
    """Search an index by every query, its own question left out, and look at what is found as a reranker does.

    Args:
        index: to search, without a reranker.
        judged: the queries, at least one.
        reranker: computes the features; its weights are not used.
        on_queries: called with the number of queries done.
    """
    ids, presence, tables = [], [], []
    for start in range(0, len(judged), QUERIES):
        texts = judged.texts.slice(start, QUERIES)
        hits = index.rank(texts, min(reranker.depth, len(index)), exclude=judged.ids[start : start + QUERIES])
        ids.append(hits.ids)
        presence.append(hits.rows >= 0)
        tables.append(reranker.features(index, texts, hits.rows, hits.scores))
        on_queries(start + len(texts))
    hit_ids = np.concatenate(ids)
    is_relevant = relevant(hit_ids, judged) & (present := np.concatenate(presence))
    return Examples(hit_ids, present, np.concatenate(tables), is_relevant, query_clusters(judged))


def relevant(ids: Int64s, judged: Judgements) -> Bools:
    """Return a mask of the ids found, (n, k), that are paraphrases of their query."""
    flags = np.zeros(ids.shape, bool)
    pairs = max(COMPARED // max(ids.shape[1], 1), 1)
    for start in range(0, len(judged.queries), pairs):
        part = slice(start, start + pairs)
        np.logical_or.at(flags, judged.queries[part], ids[judged.queries[part]] == judged.relevant[part, None])
    return flags
