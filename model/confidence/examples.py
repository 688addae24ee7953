"""Examples of a confidence model: queries with known paraphrases, each also with its paraphrases removed.

Index, Judgements -> examples -> Examples

A query's own question is left out of its ranking. A cluster of two questions would not be known without the query, so
the other question counts as in no cluster. In the clusters as they are indexed it would be a hit whose cluster has no
other question, which can only be right: no real request has that to offer. Where hits with one answer count as one
cluster, every hit with an answer is in one, also if no other question has that answer, so nothing is given away.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from model.confidence.confidence import ranked_features
from model.confidence.features import NEIGHBOURS
from model.evaluation.relevance import Judgements, query_clusters
from model.index.index import Index
from model.index.ranking import Ranking, joined
from model.reranking.candidates import relevant
from model.reranking.term_statistics import WordCounts
from schemas.arrays import Bools, Float64s, Int64s
from schemas.text_arrays import key_all

QUERIES: Final = 256
"""Queries searched and compared together."""

REMOVED: Final = 1_000
"""Maximum paraphrases that are removed from a ranking, the default maximum of a cluster."""


@dataclasses.dataclass(frozen=True)
class Examples:
    """m rankings with features; the second half has the queries of the first, without their paraphrases.

    Attributes:
        table: (m, k, F) features of the hits.
        there: (m, k), where there is a hit.
        right: (m, k), which are paraphrases of the query.
        groups: (m,) queries that paraphrase one another have one number, from 0 without gaps.
        answerable: (m,) whether the paraphrases are not removed.
    """

    table: Float64s
    there: Bools
    right: Bools
    groups: Int64s
    answerable: Bools

    def weights(self, answerable_share: float) -> Float64s:
        """Return weights (m,) with which the answerable rankings have that share; 1 each for one half."""
        return np.where(self.answerable, 2 * answerable_share, 2 * (1 - answerable_share))

    def part(self, mask: Bools) -> Examples:
        """Return the rankings of a mask (m,)."""
        return Examples(*(values[mask] for values in vars(self).values()))


def examples(
    index: Index,
    judged: Judgements,
    counts: WordCounts,
    *,
    as_indexed: bool = False,
    by_answer: bool = False,
    of_query: Int64s | None = None,
    on_queries: Callable[[int], None] = lambda _: None,
) -> Examples:
    """Search an index by every query, its own question left out, with and without its paraphrases.

    Where columns filter searches, each query searches the rows with its own values.

    Args:
        index: to search.
        judged: the queries, at least one.
        counts: of the words of the index.
        as_indexed: regard the other one of two questions as in its cluster; to measure what that gives away.
        by_answer: hits with one answer count as one cluster.
        of_query: number of the group of each query, from 0 without gaps. None: paraphrases are in one, and, where
            columns filter searches, equal queries with different values.
        on_queries: called with the number of queries done.
    """
    mates = np.bincount(judged.queries, minlength=len(judged))
    depth = min(NEIGHBOURS + min(int(mates.max(initial=0)), REMOVED), len(index))  # as many remain without mates
    full = _ranked(judged, depth, parts_of(index, judged), on_queries)
    right = relevant(full.ids, judged) & full.found
    lone = right & (mates == 1)[:, None] & (not as_indexed and not by_answer)
    halves = []
    for removed in (np.zeros_like(right), right):  # queries with an answer, then the same without one
        order = np.argsort(removed | ~full.found, axis=1, kind="stable")[:, :NEIGHBOURS]
        ranking = _reordered(full, order, removed)
        is_relevant, alone = (np.take_along_axis(flags, order, axis=1) for flags in (right, lone))
        table, is_hit = _features(index, judged, counts, ranking, alone, by_answer)
        halves.append((table, is_hit, is_relevant & is_hit))
    table, is_hit, is_right = (np.concatenate(parts) for parts in zip(*halves, strict=True))
    if of_query is None:
        of_query = query_clusters(judged)
        of_query = joined_by_wording(of_query, judged.texts) if index.settings.vary_by else of_query
    answerable = np.repeat([True, False], len(judged))
    return Examples(table, is_hit, is_right, np.concatenate([of_query, of_query]), answerable)


def parts_of(index: Index, judged: Judgements) -> Iterator[tuple[Int64s, Index]]:
    """Yield the numbers of the queries with equal values, and the rows of the index with these; every query once.

    Answers that have ended are among them: an index does not depend on the time of its build.
    """
    names = index.settings.vary_by or ()
    if not names:
        yield np.arange(len(judged)), index
        return
    rows, filters = index.questions(index.rows_of(judged.ids)), index.row_filters
    numbers = collections.defaultdict[tuple[str, ...], list[int]](list)
    for number, values in enumerate(zip(*(rows[name].to_pylist() for name in names), strict=True)):
        numbers[values].append(number)
    for values, some in numbers.items():
        yield np.array(some, np.int64), index.within(filters.masks(values, 0), values)


def joined_by_wording(number: npt.NDArray[Any], texts: pa.Array) -> Int64s:
    """Return numbers of groups, from 0 without gaps, in which groups with an equal question are one.

    Args:
        number: (n,) number or name of the group of each question.
        texts: (n,) the questions.
    """
    keys = key_all(texts).to_numpy(zero_copy_only=False)
    (_, group), (_, wording) = (np.unique(values, return_inverse=True) for values in (number, keys))
    size = len(texts)
    pairs = coo_array((np.ones(size, bool), (group, size + wording)), shape=(2 * size, 2 * size))
    component = connected_components(pairs, directed=False)[1][group]
    return np.asarray(np.unique(component, return_inverse=True)[1], np.int64)


def _ranked(
    judged: Judgements, depth: int, parts: Iterable[tuple[Int64s, Index]], on_queries: Callable[[int], None]
) -> Ranking:
    """Return the hits of every query in its part of the index, its own question left out."""
    rankings, queries_done = list[Ranking](), list[Int64s]()
    for queries, part in parts:
        for some in np.split(queries, range(QUERIES, len(queries), QUERIES)):
            rankings.append(part.rank(judged.texts.take(pa.array(some)), depth, exclude=judged.ids[some]))
            queries_done.append(some)
            on_queries(sum(map(len, queries_done)))
    full, back = joined(rankings), np.argsort(np.concatenate(queries_done))
    return Ranking(*(values[back] for values in vars(full).values()))


def _reordered(full: Ranking, order: Int64s, removed: Bools) -> Ranking:
    """Return a ranking in another order, with padding in place of the hits that are removed."""
    is_removed, ranking, blank = np.take_along_axis(removed, order, axis=1), full.reordered(order), np.float32(-np.inf)
    ids, rows = (np.where(is_removed, -1, part) for part in (ranking.ids, ranking.rows))
    return Ranking(ids, np.where(is_removed, blank, ranking.scores), rows)


def _features(
    index: Index, judged: Judgements, counts: WordCounts, ranking: Ranking, alone: Bools, by_answer: bool
) -> tuple[Float64s, Bools]:
    tables, is_hit = [], []
    for start in range(0, len(judged), QUERIES):
        part = slice(start, start + QUERIES)
        nearest = Ranking(ranking.ids[part], ranking.scores[part], ranking.rows[part])
        questions = index.questions(nearest.rows[nearest.found])
        texts = judged.texts.slice(start, QUERIES)
        table, mask = ranked_features(counts, texts, nearest, questions, alone=alone[part], by_answer=by_answer)
        tables.append(table)
        is_hit.append(mask)
    return np.concatenate(tables), np.concatenate(is_hit)
