"""Judgement of the hits of a test set by the clusters of two versions, for logs that grow.

test set, clusters before and of the night -> Relevance -> mask of the right (query, question) pairs

A question of the version before is right for a query if it is a paraphrase by the test set, or the version before has
it in a cluster with the query or such a paraphrase. A new question is right if the night has it in such a cluster, and
most earlier questions of that cluster had an answer of the query: a cluster that joins several answers is no evidence.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from model.evaluation.relevance import Judgements
from schemas.arrays import Bools, Int64s


@dataclasses.dataclass(frozen=True)
class Relevance:
    """Judgement of hits.

    Attributes:
        judged: the test set.
        before: clusters of the version before: ``question_ids`` and ``answer_hash``.
        night: those of the night.
    """

    judged: Judgements
    before: pa.Table
    night: pa.Table

    def of_known(self, queries: Int64s, questions: Int64s) -> Bools:
        """Return the mask of the right questions of the version before, by numbers of queries and ids of questions."""
        asked = _pairs(queries, questions)
        related = _join(asked, self._related, ["query", "id"], "left semi")
        clustered = _in_clusters(asked, _members(self.before, questions), self._clusters(self.before))
        return _mask(len(queries), related, clustered)

    def of_new(self, queries: Int64s, questions: Int64s) -> Bools:
        """Return the mask of the right new questions, by numbers of queries and ids of questions."""
        members = _members(self.night, questions)
        return _mask(len(queries), _in_clusters(_pairs(queries, questions), members, self._clusters_of_one_answer))

    @functools.cached_property
    def _related(self) -> pa.Table:
        """Return each query and its paraphrases: ``query`` and ``id``."""
        numbers, judged = np.arange(len(self.judged)), self.judged
        ids = np.concatenate([judged.ids, judged.relevant])
        return pa.table({"query": np.concatenate([numbers, judged.queries]), "id": ids})

    def _clusters(self, clusters: pa.Table) -> pa.Table:
        """Return ``query`` and ``cluster`` for each cluster with the query or a paraphrase of it."""
        members = _members(clusters, self._related["id"].to_numpy())
        return _distinct(_join(self._related, members, "id"), "query", "cluster")

    @functools.cached_property
    def _clusters_of_one_answer(self) -> pa.Table:
        """Return those clusters of the night most of whose earlier questions had an answer of the query, or none."""
        clusters = self._clusters(self.night)
        rows = np.unique(clusters["cluster"].to_numpy())
        members = _members(self.night.take(rows))
        members = members.set_column(1, "cluster", pa.array(rows[members["cluster"].to_numpy()]))
        answers = self._answers_before(np.union1d(members["id"].to_numpy(), self._related["id"].to_numpy()))
        earlier = _join(members, answers, "id")
        every = earlier.group_by("cluster", use_threads=False).aggregate([("id", "count_distinct")])
        of_answer = earlier.group_by(["cluster", "answer"], use_threads=False).aggregate([([], "count_all")])
        of_query = _distinct(_join(self._related, answers, "id"), "query", "answer")
        counted = _join(_join(clusters, of_answer, "cluster"), every, "cluster")
        shared = _join(counted, of_query, ["query", "answer"], "left semi")
        by_majority = shared.filter(pc.greater(pc.multiply(shared["count_all"], 2), shared["id_count_distinct"]))
        without = _join(clusters, every, "cluster", "left anti")
        return _distinct(
            pa.concat_tables([part.select(clusters.column_names) for part in (by_majority, without)]),
            "query",
            "cluster",
        )

    def _answers_before(self, ids: Int64s) -> pa.Table:
        """Return ``id`` and ``answer`` of some questions in the version before."""
        members = _members(self.before, ids)
        answers = self.before["answer_hash"].take(members["cluster"])
        return _distinct(pa.table({"id": members["id"], "answer": answers}), "id", "answer")


def _pairs(queries: Int64s, questions: Int64s) -> pa.Table:
    return pa.table({"query": queries, "id": questions, "pair": np.arange(len(queries))})


def _in_clusters(pairs: pa.Table, members: pa.Table, clusters: pa.Table) -> pa.Table:
    """Return the pairs whose question is in a cluster of the query."""
    return _join(_join(pairs, members, "id"), clusters, ["query", "cluster"], "left semi")


def _members(clusters: pa.Table, ids: Int64s | None = None) -> pa.Table:
    """Return ``id`` and ``cluster``, its row, of the members of clusters; of these ids only if some are given."""
    lists = clusters["question_ids"]
    rows = np.repeat(np.arange(len(clusters)), pc.list_value_length(lists).to_numpy())
    table = pa.table({"id": pc.list_flatten(lists), "cluster": rows})
    return table if ids is None else table.filter(pa.array(np.isin(table["id"].to_numpy(), ids)))


def _mask(count: int, *right: pa.Table) -> Bools:
    is_right = np.zeros(count, bool)
    for pairs in right:
        is_right[pairs["pair"].to_numpy()] = True
    return is_right


def _distinct(table: pa.Table, *columns: str) -> pa.Table:
    return table.group_by(list(columns), use_threads=False).aggregate([])


def _join(left: pa.Table, right: pa.Table, keys: str | list[str], kind: str = "inner") -> pa.Table:
    return left.join(right, keys, join_type=kind, use_threads=False)
