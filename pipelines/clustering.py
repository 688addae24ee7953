"""Clusters: the distinct questions that got the same answer, of a size and coherence to believe.

MEMBERS of all answers of a shard -> cluster -> MEMBERS of believable clusters, TURNED_AWAY rows
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pydantic

from pipelines.coherence import Coherence, coherence
from pipelines.grouping import lists_of, most_frequent, starts_of_runs
from pipelines.rejects import json_objects, turn_away
from pipelines.rows import MEMBERS, TURNED_AWAY
from pipelines.token_weights import TokenWeights
from schemas.tables import CLUSTERS


class Gate(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Which clusters to believe.

    Attributes:
        coherence: the score that decides: the paper's, adjusted for size, or adjusted with idf weights.
        min_coherence: clusters that score lower are turned away.
        max_cluster_size: of a larger cluster the questions with the smallest ids (hashes) stand for all.
    """

    coherence: Literal["paper", "adjusted", "idf"] = "idf"
    min_coherence: float = pydantic.Field(default=0.1, ge=0, le=1)
    max_cluster_size: int = pydantic.Field(default=1_000, ge=2)


class Clustered(NamedTuple):
    """The outcome for the clusters of a shard.

    Attributes:
        members: MEMBERS of the believable clusters, ordered by cluster and question.
        coherence: the scores of those clusters, in the same order.
        turned_away: TURNED_AWAY rows, one a member.
        counts: how many ``members_judged`` there were (so many are kept or turned away), in how many ``groups`` of
            one answer, and what became of these.
    """

    members: pa.Table
    coherence: Coherence
    turned_away: pa.Table
    counts: dict[str, int]


def cluster(members: pa.Table, gate: Gate, weights: TokenWeights) -> Clustered:
    """Merge answer forms, then turn away clusters of one question, surplus questions and incoherent clusters.

    Args:
        members: all rows of each cluster.
        gate: the limits.
        weights: of the tokens, for the idf score.
    """
    merged = merge_answers(members)
    ids = merged["cluster_id"].to_numpy()
    starts = starts_of_runs(ids)
    sizes = np.diff(np.append(starts, len(ids)))
    size_of_row = np.repeat(sizes, sizes)
    rank_in_cluster = np.arange(len(ids)) - np.repeat(starts, sizes)
    single, surplus = size_of_row == 1, rank_in_cluster >= gate.max_cluster_size
    lost = [
        turn_members_away(merged.filter(pa.array(single)), stage="size", reason="single_question"),
        turn_members_away(merged.filter(pa.array(surplus)), stage="size", reason="over_max_cluster_size"),
    ]
    kept = merged.filter(pa.array(~(single | surplus)))
    starts = starts_of_runs(kept["cluster_id"].to_numpy())
    scored = coherence(kept["token_ids"], starts, weights)
    score = scored.named(gate.coherence)
    score_of_row = np.repeat(score, np.diff(np.append(starts, len(kept))))
    coherent = score_of_row >= gate.min_coherence
    believed = Coherence(*(values[score >= gate.min_coherence] for values in scored))
    counts = {
        "members_judged": len(merged),
        "groups": len(sizes),
        "groups_of_one": int(np.count_nonzero(sizes == 1)),
        "groups_over_max_cluster_size": int(np.count_nonzero(sizes > gate.max_cluster_size)),
        "groups_incoherent": int(np.count_nonzero(score < gate.min_coherence)),
    }
    incoherent = kept.filter(pa.array(~coherent))
    scores = pa.array(score_of_row[~coherent])
    lost.append(turn_members_away(incoherent, stage="coherence", reason="incoherent", scores=scores))
    return Clustered(kept.filter(pa.array(coherent)), believed, pa.concat_tables(lost), counts)


def merge_answers(members: pa.Table) -> pa.Table:
    """Return one row a question of each cluster, in that order, with the cluster's most frequent answer form."""
    order = np.lexsort((members["question_id"].to_numpy(), members["cluster_id"].to_numpy()))
    ordered = members.take(pa.array(order))
    ids, questions = ordered["cluster_id"].to_numpy(), ordered["question_id"].to_numpy()
    first = np.union1d(starts_of_runs(ids), starts_of_runs(questions)).astype(np.int64)
    merged = ordered.take(pa.array(first))
    events = np.add.reduceat(ordered["events"].to_numpy(), first) if len(first) else np.zeros(0, np.int64)
    named = most_frequent(
        ordered["cluster_id"].combine_chunks(), ordered["answer"].combine_chunks(), ordered["events"].combine_chunks()
    )
    answer_of_row = np.searchsorted(named["group"].to_numpy(), merged["cluster_id"].to_numpy())
    columns = dict(zip(merged.column_names, merged.columns, strict=True))
    columns |= {"events": pa.array(events), "answer": named["value"].take(pa.array(answer_of_row))}
    return pa.table(columns).cast(MEMBERS)


def turn_members_away(members: pa.Table, *, stage: str, reason: str, scores: pa.Array | None = None) -> pa.Table:
    """Return a TURNED_AWAY row for each member, which tells question, answer, events, cluster and split."""
    if not len(members):
        return TURNED_AWAY.empty_table()
    told = {
        "question": members["text"],
        "answer": members["answer"],
        "events": members["events"],
        "cluster_id": members["cluster_id"],
        "split": members["split"],
    }
    payloads = json_objects(told)
    keys = members["question_id"].combine_chunks()
    return turn_away(payloads, stage=stage, reasons=reason, scores=scores, shard_keys=keys)


def describe(members: pa.Table, scores: Coherence) -> pa.Table:
    """Return the CLUSTERS row of each cluster.

    Args:
        members: MEMBERS with their split, ordered by cluster and question.
        scores: of those clusters, in the same order.
    """
    ids = members["cluster_id"].to_numpy()
    starts = starts_of_runs(ids)
    first = members.take(pa.array(starts))
    events = members["events"].to_numpy()
    return pa.table(
        {
            "cluster_id": first["cluster_id"],
            "answer": first["answer"],
            "split": first["split"],
            "size": pa.array(np.diff(np.append(starts, len(ids)))),
            "events": pa.array(np.add.reduceat(events, starts) if len(starts) else np.zeros(0, np.int64)),
            "coherence": pa.array(scores.paper),
            "adjusted_coherence": pa.array(scores.adjusted),
            "idf_coherence": pa.array(scores.idf),
            "question_ids": lists_of(members["question_id"], starts),
            "texts": lists_of(members["text"], starts),
        },
    ).cast(CLUSTERS)
