"""Search of a test set: the hits of a night's index, and the metrics of its own test split.

dataset -> read_test -> JudgedSplit; index, JudgedSplit -> rank_test -> Ranked -> own_metrics
Ranked -> to_rows -> table of a report -> from_rows -> the same hits on the next night, without a search
"""

from __future__ import annotations

import dataclasses
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.workflows.index_changes.known_rows import RowIds
from model.evaluation.evaluator import metrics_of, ranked_ids
from model.evaluation.relevance import Judgements, judgements
from model.search.searcher import Searcher
from schemas.arrays import Bools, Int64s
from schemas.artifacts.dataset import open_dataset
from schemas.ragged import offsets_of

QUERIES: Final = 2_000
"""Maximum number of queries; those with the smallest ids are kept, a uniform sample."""

DEPTH: Final = 100
"""Hits of a query; a right one beyond them counts as none. The next night reads them again (decision 80)."""

RANKS: Final = pa.schema([pa.field("rows", pa.list_(pa.field("element", pa.int32())), nullable=False)])
"""One row for each query of a test split, in its order: rows of the index that it finds, the best first. There are no
ids, so that an erasure need not change it."""


class JudgedSplit(NamedTuple):
    """Test split of a dataset.

    Attributes:
        judged: its queries.
        clusters: (n,) number of the cluster of each query.
    """

    judged: Judgements
    clusters: Int64s


class Ranked(NamedTuple):
    """Hits of a test set in an index.

    Attributes:
        ids: (n, `DEPTH`) question ids that each query finds, its own left out, padded with -1.
        held: ids of all questions of the index, ascending.
    """

    ids: Int64s
    held: Int64s

    def has(self, ids: Int64s) -> Bools:
        """Return the mask of the questions that the index has; padding is none."""
        if not len(self.held):
            return np.zeros(ids.shape, bool)
        place = np.minimum(np.searchsorted(self.held, ids), len(self.held) - 1)
        return np.asarray((self.held[place] == ids) & (ids != -1))


def read_test(dataset: str) -> JudgedSplit:
    """Return the test split of a dataset.

    Raises:
        QprError: it is missing or damaged.
    """
    clusters = open_dataset(dataset).cluster_texts("test")
    judged = judgements(clusters, limit=QUERIES)
    members = pc.list_flatten(clusters["question_ids"]).to_numpy()
    numbers = np.repeat(np.arange(len(clusters)), pc.list_value_length(clusters["question_ids"]).to_numpy())
    order = np.argsort(members, kind="stable")
    of_query = numbers[order][np.searchsorted(members[order], judged.ids)] if len(judged) else numbers[:0]
    return JudgedSplit(judged, of_query)


def rank_test(searcher: Searcher, test: JudgedSplit, rows: RowIds) -> Ranked:
    """Return the hits of a test set in an index.

    Args:
        searcher: of the index, or of a part of it.
        test: the test set.
        rows: of the whole index.
    """
    judged = test.judged
    ids = ranked_ids(searcher, judged, depth=DEPTH) if len(judged) else np.zeros((0, DEPTH), np.int64)
    return Ranked(ids, rows.held)


def to_rows(ranked: Ranked, rows: RowIds) -> pa.Table:
    """Return the hits of a test set as RANKS.

    Args:
        ranked: the hits.
        rows: of the index that was searched.
    """
    in_index = ranked.has(ranked.ids)
    flat = rows.by_id[np.searchsorted(ranked.held, ranked.ids[in_index])].astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(offsets_of(in_index.sum(axis=1)), pa.int32()), pa.array(flat))
    return pa.table({"rows": lists}).cast(RANKS)


def from_rows(table: pa.Table, rows: RowIds) -> Ranked:
    """Return the hits of a test set from RANKS, made by `to_rows` with the same rows."""
    lists = table["rows"].combine_chunks()
    ids = np.full((len(table), DEPTH), -1, np.int64)
    ids[np.arange(DEPTH) < np.asarray(pc.list_value_length(lists))[:, None]] = rows.ids[pc.list_flatten(lists)]
    return Ranked(ids, rows.held)


def own_metrics(test: JudgedSplit, ranked: Ranked) -> dict[str, float]:
    """Return the metrics of an index on the test split of its dataset; empty where it has no test cluster.

    Args:
        test: the split.
        ranked: its hits in the index.
    """
    judged = test.judged
    if not len(judged):
        return {}
    return {"queries": float(len(judged)), **dataclasses.asdict(metrics_of(ranked.ids, judged))}
