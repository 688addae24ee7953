"""Clusters: paraphrases among the questions that got the same answer, of a size and coherence to believe.

MEMBERS of all answers of a shard -> cluster -> MEMBERS of believable clusters, REJECTS rows
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clusters.answer_worth import extreme_answers, kind_counts, shares_of_answers, worth_counts
from pipelines.clusters.cluster_ids import cluster_ids
from pipelines.clusters.coherence import Coherence, coherence
from pipelines.clusters.incoherent_intents import incoherent_intent_counts
from pipelines.clusters.recalibration import recalibrate
from pipelines.clusters.reviewed import remove_reviewed
from pipelines.clusters.settings import Gate, Recalibration, Reviewed
from pipelines.intermediate import LOG_ANSWER_ID
from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.linkage.witnesses import Evidence
from pipelines.questions.memberships import merge_answers, replace_columns
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.writing.rejects import reject_members
from pipelines.writing.reported import JudgedAnswer
from schemas.ragged import lists_of, ranks_in_runs, runs_of, sizes_of_runs, starts_of_runs, sums_of_runs
from schemas.tables import CLUSTERS, conform
from schemas.text_arrays import with_used_texts


class Clustered(NamedTuple):
    """The outcome for the clusters of a shard.

    Attributes:
        members: MEMBERS of the believable clusters, ordered by cluster and question.
        coherence: the scores of those clusters, in the same order.
        rejects: REJECTS rows, one a member.
        counts: numbers of ``members_judged`` (all of them are kept or rejected), of their ``answers``, of ``groups``
            and of groups by outcome.
        names: ``answer_id`` and ``answer`` of the answers whose surplus `pipelines.clusters.size_cap` cut.
        judged_answers: answers of many questions with the lowest or highest worth, where answers are split.
    """

    members: pa.Table
    coherence: Coherence
    rejects: pa.Table
    counts: dict[str, int]
    names: pa.Table
    judged_answers: Sequence[JudgedAnswer]


def cluster(
    members: pa.Table,
    gate: Gate,
    weights: TokenWeights,
    linker: Linker | None = None,
    recalibration: Recalibration | None = None,
    *,
    evidence: Evidence | None = None,
    threshold: float | None = None,
    reviewed: Reviewed | None = None,
) -> Clustered:
    """Merge answer forms and split answers, then reject single, improbable, surplus and incoherent questions.

    Args:
        members: all rows of each answer; of one that was cut, votes instead of the rows that are gone.
        gate: the limits.
        weights: of the tokens, for the linker and the idf score.
        linker: splits answers into groups of paraphrases; None: all questions of an answer are one group.
        recalibration: corrects the probabilities of the linker and rejects clusters with a low one.
        evidence: neighbours of the questions, for the linker; None: they are found among the members.
        threshold: of the log, for a linker that has none of its own; None: it is chosen among the members.
        reviewed: clusters and questions that people judged to be wrong, which are rejected.
    """
    several, whole = _merge(members)
    del members  # of an answer with millions of questions there would be one table more while it is divided
    linked = None if linker is None or not len(several) else linker(several, weights, evidence, threshold)
    grouped, of_intent = _split_answers(several, linked)
    several = several.select(["answer_id", "answer"])
    stays, judged_wrong, verdict_counts = remove_reviewed(grouped, reviewed)
    grouped, of_intent = grouped.filter(pa.array(stays)), of_intent[stays]
    limited = _limit_groups(grouped, gate, recalibration, cut=whole.names["answer_id"].to_numpy())
    kept, of_intent = limited.members, of_intent[limited.within]
    judged, scores, incoherent = _believe(kept, gate, weights, of_intent)
    counts = {
        "members_judged": len(several) + len(whole.single),
        "answers": whole.answers,
        "groups": len(whole.single) + limited.groups,
        "groups_of_one": len(whole.single) + limited.groups_of_one,
        "groups_incoherent": len(starts_of_runs(kept["cluster_id"].to_numpy())) - len(scores.paper),
        **limited.rejected_groups,
        **verdict_counts,
    }
    if linker is None:
        believed = pc.is_in(kept["cluster_id"], value_set=judged["cluster_id"].combine_chunks())
        counts |= incoherent_intent_counts(kept.filter(pc.invert(believed)), weights)
    judged_answers: Sequence[JudgedAnswer] = ()
    if linked is not None:
        counts |= worth_counts(linked, several["answer_id"].to_numpy(), judged)
        shares = shares_of_answers(linked, several)
        counts |= kind_counts(shares)
        judged_answers = extreme_answers(shares)
    rejects = pa.concat_tables([whole.single, judged_wrong, *limited.rejects, incoherent])
    return Clustered(judged, scores, rejects, counts, whole.names, judged_answers)


class _Whole(NamedTuple):
    """All answers of a shard before they are split.

    Attributes:
        answers: their number.
        single: REJECTS rows of the answers with one question.
        names: ``answer_id`` and ``answer`` of the answers that were cut.
    """

    answers: int
    single: pa.Table
    names: pa.Table


def _merge(members: pa.Table) -> tuple[pa.Table, _Whole]:
    """Return the rows of answers with several questions, forms merged."""
    merged = merge_answers(members)
    answers = merged["answer_id"].to_numpy()
    starts, sizes = runs_of(answers)
    voted = pc.unique(members["answer_id"].filter(pc.is_null(members["text"]))).to_numpy()
    cut = starts[np.isin(answers[starts], voted)]
    is_single = pa.array(np.repeat(sizes == 1, sizes))
    single = reject_members(merged.filter(is_single), stage="size", reason="single_question")
    some = merged.select(["answer_id", "answer"]).take(pa.array(cut))
    names = some.set_column(1, "answer", with_used_texts(some["answer"]))  # it travels to all shards
    return merged.filter(pc.invert(is_single)), _Whole(len(sizes), single, names)


def _split_answers(merged: pa.Table, linked: Linked | None) -> tuple[pa.Table, np.ndarray]:
    """Return the rows with the id of their group, ordered by it and question, and whether their answer is an intent."""
    if linked is None:
        answers = merged["answer_id"].combine_chunks()
        return replace_columns(merged, cluster_id=answers), np.zeros(len(merged), bool)
    ids = cluster_ids(merged, linked.group)
    grouped = replace_columns(merged, cluster_id=pa.array(ids), linkage_probability=pa.array(linked.confidence))
    order = np.lexsort((grouped["question_id"].to_numpy(), ids))
    of_intent = np.zeros(len(merged), bool) if linked.of_intent is None else linked.of_intent
    return grouped.take(pa.array(order)), of_intent[order]


def _recalibrate(grouped: pa.Table, recalibration: Recalibration | None) -> tuple[pa.Table, np.ndarray]:
    """Return the rows with calibrated probabilities, and which of them are in a cluster below the threshold."""
    if recalibration is None:
        return grouped, np.zeros(len(grouped), bool)
    stated = grouped["linkage_probability"].to_numpy()
    calibrated = pa.array(recalibrate(stated, recalibration))
    return replace_columns(grouped, linkage_probability=calibrated), stated < recalibration.min_stated


class _Limited(NamedTuple):
    """Groups within the limits of size and probability, and the others.

    Attributes:
        members: rows of the former, their probabilities calibrated.
        within: which rows these are.
        rejects: the others as REJECTS rows.
        groups: number of all groups.
        groups_of_one: number of those with one question.
        rejected_groups: numbers of those of which rows are rejected, by limit.
    """

    members: pa.Table
    within: np.ndarray
    rejects: list[pa.Table]
    groups: int
    groups_of_one: int
    rejected_groups: dict[str, int]


def _limit_groups(grouped: pa.Table, gate: Gate, recalibration: Recalibration | None, *, cut: np.ndarray) -> _Limited:
    """Reject groups of one, improbable groups and the surplus of groups; ``cut`` are ids of answers cut before."""
    starts, sizes = runs_of(grouped["cluster_id"].to_numpy())
    over = (sizes > gate.max_cluster_size) | np.isin(grouped["answer_id"].to_numpy()[starts], cut)
    alone = np.repeat(sizes == 1, sizes)
    grouped, improbable = _recalibrate(grouped, recalibration)
    improbable &= ~alone
    surplus = (ranks_in_runs(starts, len(grouped)) >= gate.max_cluster_size) & ~improbable
    unlikely = grouped.filter(pa.array(improbable))
    scores = unlikely["linkage_probability"].combine_chunks()
    rejects = [
        reject_members(grouped.filter(pa.array(alone)), stage="linkage", reason="no_paraphrase"),
        reject_members(unlikely, stage="linkage", reason="below_precision", scores=scores),
        reject_members(grouped.filter(pa.array(surplus)), stage="size", reason="over_max_cluster_size"),
    ]
    rejected_groups = {"groups_over_max_cluster_size": int(np.count_nonzero(over))}
    if recalibration is not None:
        rejected_groups["groups_below_precision"] = int(np.count_nonzero(improbable[starts]))
    within = ~(alone | improbable | surplus)
    kept = grouped.filter(pa.array(within))
    return _Limited(kept, within, rejects, len(sizes), int(np.count_nonzero(sizes == 1)), rejected_groups)


def _believe(
    kept: pa.Table, gate: Gate, weights: TokenWeights, of_intent: np.ndarray
) -> tuple[pa.Table, Coherence, pa.Table]:
    """Return the clusters that reach the gate's coherence, their scores, and the others as REJECTS rows.

    The coherence of an intent falls with its number of questions, so a cluster of an intent need not reach it.
    """
    starts, sizes = runs_of(kept["cluster_id"].to_numpy())
    scored = coherence(kept["token_ids"], starts, weights)
    score = scored.named(gate.coherence)
    passes = (score >= gate.min_coherence) | of_intent[starts]
    score_of_row, coherent = (np.repeat(values, sizes) for values in (score, passes))
    believed = Coherence(*(values[passes] for values in scored))
    left, scores = kept.filter(pa.array(~coherent)), pa.array(score_of_row[~coherent])
    incoherent = reject_members(left, stage="coherence", reason="incoherent", scores=scores)
    return kept.filter(pa.array(coherent)), believed, incoherent


def describe(members: pa.Table, scores: Coherence) -> pa.Table:
    """Return the CLUSTERS row of each cluster, whose answer is in memory once for all clusters of it.

    Args:
        members: MEMBERS with their split, ordered by cluster and question.
        scores: of those clusters, in the same order.
    """
    starts = starts_of_runs(members["cluster_id"].to_numpy())
    first = members.take(pa.array(starts))
    events = members["events"].to_numpy()
    described = pa.table(
        {
            "cluster_id": first["cluster_id"],
            "answer_hash": first["answer_id"],
            "answer": first["answer"],
            "answer_id": first[LOG_ANSWER_ID.name],
            "split": first["split"],
            "size": pa.array(sizes_of_runs(starts, len(members))),
            "events": pa.array(sums_of_runs(events, starts)),
            "coherence": pa.array(scores.paper),
            "adjusted_coherence": pa.array(scores.adjusted),
            "idf_coherence": pa.array(scores.idf),
            "linkage_probability": first["linkage_probability"],
            "question_ids": lists_of(members["question_id"], starts),
            "texts": lists_of(members["text"], starts),
        },
    )
    return conform(described, CLUSTERS)
