"""Removal of validation and test members by the leakage evidence of their questions.

MEMBERS -> mention, LEAKS -> accuse -> MENTIONS of a question -> drop_leaked -> MEMBERS that remain -> drop_alone
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.decontamination.near_duplicates import KINDS, PRECEDENCE, REASONS
from pipelines.intermediate import MEMBERS, MENTIONS, REJECTS
from pipelines.writing.rejects import reject_members
from schemas.ragged import runs_of, starts_of_runs
from schemas.tables import with_nulls

_VERDICT: Final = pa.schema([MENTIONS.field(name) for name in ("question_id", "split", "reason", "score")])


class Kept(NamedTuple):
    """MEMBERS that remain, REJECTS rows of the others, and counts named ``leakage.<what>.<split>[.<reason>]``."""

    members: pa.Table
    rejects: pa.Table
    counts: dict[str, int]


def mention(members: pa.Table) -> pa.Table:
    """Return the MENTIONS of all members; those of train have only cluster, question and split."""
    in_train = pc.equal(members["split"], "train")
    train, held_out = members.filter(in_train), members.filter(pc.invert(in_train))
    bare = train.select(["cluster_id", "question_id", "split"])
    return pa.concat_tables([_mentions(bare), _mentions(held_out)])


def accuse(leaks: pa.Table) -> pa.Table:
    """Return LEAKS as MENTIONS: evidence that a question of a split leaks, with reason and score."""
    splits = pa.array(PRECEDENCE).take(leaks["rank"].combine_chunks())
    return _mentions(leaks.select(["question_id", "reason", "score"]).append_column("split", splits))


def _mentions(rows: pa.Table) -> pa.Table:
    return with_nulls(MENTIONS, dict(zip(rows.column_names, rows.columns, strict=True)))


def drop_leaked(mentions: pa.Table, *, across: bool) -> Kept:
    """Return the validation and test rows whose question does not leak.

    A question leaks if it is in an earlier split of `PRECEDENCE` too or has evidence among the MENTIONS.

    Args:
        mentions: MENTIONS; all rows of each question are present.
        across: also remove questions of validation that occur in test.
    """
    accused = pc.is_valid(mentions["reason"])
    members = mentions.filter(pc.invert(accused)).select(MEMBERS.names)
    same = [_same_question(members, split) for split in PRECEDENCE[: 2 if across else 1]]
    verdicts = pa.concat_tables([mentions.filter(accused).select(_VERDICT.names), *same])
    held_out = members.filter(pc.not_equal(members["split"], "train"))
    reasons, scores = _first_verdict(held_out, verdicts)
    rejects = [REJECTS.empty_table()]
    for number, reason in enumerate(REASONS):
        leaked = pc.fill_null(pc.equal(reasons, number), False)
        left = held_out.filter(leaked)
        rejects.append(reject_members(left, stage="leakage", reason=reason, scores=scores.filter(leaked)))
    counts = _count("compared", members["split"])
    distinct = verdicts.group_by(["question_id", "split", "reason"], use_threads=False).aggregate([])
    counts |= _count("found", distinct["split"], distinct["reason"].combine_chunks())
    gone = pc.is_valid(reasons)
    counts |= _count("removed", held_out["split"].filter(gone), reasons.filter(gone))
    return Kept(held_out.filter(pc.invert(gone)), pa.concat_tables(rejects), counts)


def _same_question(members: pa.Table, split: str) -> pa.Table:
    """Return one verdict for each row of a later split whose question occurs in ``split``."""
    number = PRECEDENCE.index(split)
    in_split = pc.unique(members["question_id"].filter(pc.equal(members["split"], split)))
    later = members.filter(pc.is_in(members["split"], value_set=pa.array(PRECEDENCE[number + 1 :])))
    leaked = later.filter(pc.is_in(later["question_id"], value_set=in_split)).select(["question_id", "split"])
    rows = len(leaked)
    leaked = leaked.append_column("reason", pa.repeat(KINDS * number, rows))
    return leaked.append_column("score", pa.nulls(rows, pa.float64())).cast(_VERDICT)


def _first_verdict(held_out: pa.Table, verdicts: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Return for each row the first reason that applies to its question in its split, and the maximum score of it."""
    reasons, scores = pa.nulls(len(held_out), pa.int8()), pa.nulls(len(held_out), pa.float64())
    for split in PRECEDENCE[1:]:
        ordered = verdicts.filter(pc.equal(verdicts["split"], split)).sort_by(
            [("question_id", "ascending"), ("reason", "ascending"), ("score", "descending")]
        )
        first = ordered.take(pa.array(starts_of_runs(ordered["question_id"].to_numpy()))).combine_chunks()
        place = pc.index_in(held_out["question_id"], value_set=first["question_id"])
        row = pc.if_else(pc.equal(held_out["split"], split), place, None).combine_chunks()
        reasons = pc.coalesce(reasons, first["reason"].combine_chunks().take(row))
        scores = pc.coalesce(scores, first["score"].combine_chunks().take(row))
    return reasons, scores


def drop_alone(members: pa.Table) -> Kept:
    """Return the members of clusters that still have at least two questions, ordered by cluster and question.

    Args:
        members: MEMBERS; all rows of each cluster are present.
    """
    ordered = members.sort_by([("cluster_id", "ascending"), ("question_id", "ascending")])
    _, sizes = runs_of(ordered["cluster_id"].to_numpy())
    alone = pa.array(np.repeat(sizes == 1, sizes))
    left = ordered.filter(alone)
    rejects = reject_members(left, stage="leakage", reason="left_alone")
    counts = {f"{name}.left_alone": n for name, n in _count("removed", left["split"]).items()}
    return Kept(ordered.filter(pc.invert(alone)), rejects, counts)


def _count(what: str, splits: pa.ChunkedArray, reasons: pa.Array | None = None) -> dict[str, int]:
    named = [] if reasons is None else [pa.array(REASONS).take(reasons)]
    counted = pc.value_counts(pc.binary_join_element_wise(f"leakage.{what}", splits, *named, "."))
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
