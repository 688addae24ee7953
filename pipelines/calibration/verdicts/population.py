"""Pairs of questions with the same answer: those that a dataset keeps, and the others.

Dataset -> read_population -> Population: kept pairs ranked by probability, other pairs by answer
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.payloads import object_in
from pipelines.writing.rejects import cut_answers
from schemas.artifacts.dataset import Dataset
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.ragged import pairs_in_runs, starts_of_runs
from schemas.text_arrays import hash64_all

_UNPAIRED: Final = ("single_question",)
"""Reasons of the stage size that reject questions without another one of their answer."""


@dataclasses.dataclass(frozen=True)
class Population:
    """All pairs of a dataset's questions with the same answer text.

    A group is a kept cluster or one rejected question; groups are ordered by answer.

    Attributes:
        cluster_id: (C,) int64 kept clusters, the most probable first.
        probability: (C,) float64 their linkage probability.
        size: (C,) int64 their number of questions.
        group_answer: (G,) int64 number of the answer of each group, ascending.
        group_size: (G,) int64 number of its questions.
        group_cluster: (G,) int64 index of its cluster in ``cluster_id``; -1 for a rejected question.
        rejected: (G,) texts of the rejected questions; null for clusters.
        answers: their texts, by number; of an answer without a cluster as the payloads of rejects have it.
    """

    cluster_id: np.ndarray
    probability: np.ndarray
    size: np.ndarray
    group_answer: np.ndarray
    group_size: np.ndarray
    group_cluster: np.ndarray
    rejected: pa.Array
    answers: pa.Array

    @property
    def pairs(self) -> np.ndarray:
        """Return the (C,) number of kept pairs of each cluster."""
        return pairs_in_runs(self.size)

    @property
    def other_pairs(self) -> np.ndarray:
        """Return the (A,) number of pairs of each answer that are not kept."""
        starts = starts_of_runs(self.group_answer)
        if not len(starts):
            return np.zeros(0, np.int64)
        kept = np.where(self.group_cluster >= 0, pairs_in_runs(self.group_size), 0)
        return pairs_in_runs(np.add.reduceat(self.group_size, starts)) - np.add.reduceat(kept, starts)


def read_population(dataset: Dataset) -> Population:
    """Return the pairs of a dataset; questions that leak between splits or have no clear answer are in none.

    Raises:
        QprError: the dataset has no cluster, its answers were not split by linkage, or a rejected question cannot be
            read.
    """
    columns = ["cluster_id", "answer", "size", "linkage_probability"]
    clusters = dataset.table("clusters", columns=columns).combine_chunks()
    if not len(clusters):
        fault = "has no cluster, so there is nothing to judge"
        raise QprError(f"{dataset.url}: {fault}. `rejected` in the dataset lists the reasons")
    if clusters["linkage_probability"].null_count or clusters["answer"].null_count:
        raise QprError(
            f"{dataset.url}: its clusters have no linkage_probability. Give one of `qpr clusters` with a --linkage"
        )
    order = np.lexsort((clusters["cluster_id"].to_numpy(), -clusters["linkage_probability"].to_numpy()))
    clusters = clusters.take(pa.array(order))
    answers, keys, texts = _rejected(dataset)
    kept_answers = clusters["answer"].combine_chunks()
    coded = pa.chunked_array([_keys(*cut_answers(kept_answers)), keys], pa.string()).dictionary_encode()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in coded.chunks]).astype(np.int64)
    group_size = np.concatenate([clusters["size"].to_numpy(), np.ones(len(answers), np.int64)])
    group_cluster = np.concatenate([np.arange(len(clusters)), np.full(len(answers), -1)])
    _, first = np.unique(codes, return_index=True)
    names = np.concatenate([clusters["cluster_id"].to_numpy(), hash64_all(texts).to_numpy()])
    by_answer = np.lexsort((names, -group_cluster, codes))
    return Population(
        cluster_id=clusters["cluster_id"].to_numpy(),
        probability=clusters["linkage_probability"].to_numpy(),
        size=clusters["size"].to_numpy(),
        group_answer=codes[by_answer],
        group_size=group_size[by_answer],
        group_cluster=group_cluster[by_answer],
        rejected=pa.concat_arrays([pa.nulls(len(clusters), pa.string()), texts]).take(pa.array(by_answer)),
        answers=pa.chunked_array([kept_answers, answers], pa.string()).take(pa.array(first)).combine_chunks(),
    )


def _rejected(dataset: Dataset) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return answers, their keys and texts of the questions that linkage, size or coherence rejected."""
    rows: list[tuple[str, str | None, str]] = []
    unreadable = 0
    for part in dataset.parts("rejected", columns=["stage", "reason", "payload"]):
        for payload in part.filter(_is_paired(part))["payload"].to_pylist():
            row = object_in(payload) or {}
            if isinstance(row.get("answer"), str) and isinstance(row.get("question"), str):
                rows.append((row["answer"], row.get("answer_hash"), row["question"]))
            else:
                unreadable += 1
    if unreadable:
        broken = counted(unreadable, "rejected question")
        raise QprError(
            f"{dataset.url}: the payload of {broken} cannot be read, so pairs that were not kept cannot be counted. "
            "Make the dataset again"
        )
    answers, hashes, texts = (pa.array([row[place] for row in rows], pa.string()) for place in range(3))
    return answers, _keys(answers, hashes), texts


def _is_paired(rejected: pa.Table) -> pa.ChunkedArray:
    """Return whether each REJECTS row is a question with another one of its answer."""
    judged = pc.is_in(rejected["stage"], pa.array(["linkage", "size", "coherence"]))
    return pc.and_(judged, pc.invert(pc.is_in(rejected["reason"], pa.array(_UNPAIRED))))


def _keys(answers: pa.Array, hashes: pa.Array) -> pa.Array:
    """Return one text for each answer that `cut_answers` cut, equal for equal answers only."""
    return pc.binary_join_element_wise(answers, pc.fill_null(hashes, ""), "\n")
