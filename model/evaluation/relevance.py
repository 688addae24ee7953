"""Relevance judgements: the query questions of a split and their paraphrases.

clusters table -> judgements -> Judgements; of an index that varies by columns -> with_row_ids beforehand
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.arrays import Bools, Int64s
from schemas.filters import row_ids
from schemas.ragged import offsets_of, ranges
from schemas.text_arrays import key_all


@dataclasses.dataclass(frozen=True)
class Judgements:
    """Query questions and their known paraphrases.

    Attributes:
        ids: (n,) question ids of the queries.
        texts: (n,) their texts.
        queries: (pairs,) number of the query of each ordered pair, ascending.
        relevant: (pairs,) id of its paraphrase, never the query's own.
    """

    ids: Int64s
    texts: pa.Array
    queries: Int64s
    relevant: Int64s

    def __len__(self) -> int:
        return len(self.ids)


def query_clusters(judged: Judgements) -> Int64s:
    """Return the (n,) number of each query's cluster: those that paraphrase one another, however indirectly."""
    from scipy.sparse import coo_array  # not needed to read judgements
    from scipy.sparse.csgraph import connected_components

    n, order = len(judged), np.argsort(judged.ids)
    places = order[np.minimum(np.searchsorted(judged.ids, judged.relevant, sorter=order), n - 1)]
    is_query = judged.ids[places] == judged.relevant
    pairs = coo_array((np.ones(is_query.sum(), bool), (judged.queries[is_query], places[is_query])), shape=(n, n))
    return np.asarray(connected_components(pairs, directed=False)[1], np.int64)


def with_row_ids(clusters: pa.Table, values: Sequence[str]) -> pa.Table:
    """Return clusters with the ids that their questions have in an index that varies by columns.

    Args:
        clusters: ``question_ids`` and ``texts``, lists of equal length.
        values: of all the questions, of the columns to vary by in their order; without any the ids stay.
    """
    if not values:
        return clusters
    lists = clusters["texts"].combine_chunks()
    texts = pc.list_flatten(lists)
    ids = row_ids(key_all(texts), [pa.repeat(value, len(texts)) for value in values])
    offsets = pa.array(offsets_of(pc.list_value_length(lists).to_numpy()), pa.int32())
    column = clusters.schema.get_field_index("question_ids")
    return clusters.set_column(column, "question_ids", pa.ListArray.from_arrays(offsets, ids))


def judgements(clusters: pa.Table, *, limit: int | None = None) -> Judgements:
    """Return every question of ``clusters`` as a query whose paraphrases are the others of its clusters.

    A question in several clusters is one query; a pair in several clusters is one pair.

    Args:
        clusters: ``question_ids`` and ``texts``, lists of equal length.
        limit: maximum queries; those with the smallest ids as unsigned numbers are kept, a uniform sample.
    """
    lists = clusters["question_ids"].combine_chunks()
    members = np.asarray(pc.list_flatten(lists).to_numpy(), np.int64)
    texts = pc.list_flatten(clusters["texts"].combine_chunks())
    ids, first = np.unique(members, return_index=True)
    order = np.argsort(ids.view(np.uint64))[:limit]
    query_of_id = np.full(len(ids), -1, np.int64)
    query_of_id[order] = np.arange(len(order))
    query = query_of_id[np.searchsorted(ids, members)]
    left, right = _ordered_pairs(np.asarray(pc.list_value_length(lists).to_numpy(), np.int64), query >= 0)
    pairs = np.unique(np.column_stack([query[left], members[right]]).reshape(-1, 2), axis=0)
    return Judgements(ids[order], texts.take(pa.array(first[order])), pairs[:, 0], pairs[:, 1])


def _ordered_pairs(sizes: Int64s, first: Bools) -> tuple[Int64s, Int64s]:
    """Return both places of ordered pairs of two places in a run, for runs of these sizes one after the other.

    Args:
        sizes: of the runs.
        first: (sum of sizes,), which places may be the first of a pair; the others use no memory.
    """
    places = np.flatnonzero(first)
    size, start = (np.repeat(values, sizes)[places] for values in (sizes, offsets_of(sizes)[:-1]))
    left, right = np.repeat(places, size), ranges(start, size)
    return left[left != right], right[left != right]
