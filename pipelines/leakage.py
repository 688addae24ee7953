"""No question of validation or test may occur in train: found by key, wherever its clusters are.

MEMBERS of all splits -> RemoveLeakage -> MEMBERS of validation and test, TURNED_AWAY rows
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clustering import turn_members_away
from pipelines.grouping import starts_of_runs
from pipelines.rows import MEMBERS
from pipelines.shuffle import GroupByShard

TURNED_AWAY_TAG = "turned_away"


class Kept(NamedTuple):
    """MEMBERS that stay and TURNED_AWAY rows for the others."""

    members: pa.Table
    turned_away: pa.Table


@dataclasses.dataclass
class RemoveLeakage(beam.PTransform):
    """Remove from validation and test every question that occurs in train, then clusters left with one question.

    Input: MEMBERS tables with their split.
    Output: ``main``, MEMBERS of validation and test ordered by cluster and question, one table a shard, all of a
    cluster in one table; ``turned_away``, TURNED_AWAY tables.
    """

    shards: int

    def __post_init__(self) -> None:
        super().__init__()

    def expand(self, members: beam.PCollection[pa.Table]) -> dict[str, beam.PCollection[pa.Table]]:
        """Meet by question to find leaks, then by cluster to find clusters left with one question."""
        clean = (
            members
            | "Mention" >> beam.Map(mention)
            | "MeetByQuestion" >> GroupByShard(key="question_id", shards=self.shards)
            | "DropLeaked" >> beam.FlatMap(lambda t: _tagged(drop_leaked(t))).with_outputs(TURNED_AWAY_TAG, main="main")
        )
        whole = (
            clean.main
            | "MeetByCluster" >> GroupByShard(key="cluster_id", shards=self.shards)
            | "DropAlone" >> beam.FlatMap(lambda t: _tagged(drop_alone(t))).with_outputs(TURNED_AWAY_TAG, main="main")
        )
        lost = (clean[TURNED_AWAY_TAG], whole[TURNED_AWAY_TAG]) | "Lost" >> beam.Flatten()
        return {"main": whole.main, TURNED_AWAY_TAG: lost}


def mention(members: pa.Table) -> pa.Table:
    """Return MEMBERS in which a train row says no more than that its question occurs in train."""
    in_train = pc.equal(members["split"], "train")
    train = members.filter(in_train)
    known = {name: train[name] for name in ("cluster_id", "question_id", "split")}
    bare = pa.table({f.name: known.get(f.name, pa.nulls(len(train), f.type)) for f in MEMBERS}, schema=MEMBERS)
    return pa.concat_tables([bare, members.filter(pc.invert(in_train))])


def drop_leaked(mentions: pa.Table) -> Kept:
    """Return the validation and test rows whose question has no train row.

    Args:
        mentions: what `mention` returns; all rows of each question are present.
    """
    in_train = pc.equal(mentions["split"], "train")
    held_out = mentions.filter(pc.invert(in_train))
    leaked = pc.is_in(held_out["question_id"], value_set=pc.unique(mentions["question_id"].filter(in_train)))
    lost = turn_members_away(held_out.filter(leaked), stage="leakage", reason="in_train")
    return Kept(held_out.filter(pc.invert(leaked)), lost)


def drop_alone(members: pa.Table) -> Kept:
    """Return the clusters that still have two questions, ordered by cluster and question.

    Args:
        members: MEMBERS; all rows of each cluster are present.
    """
    ordered = members.sort_by([("cluster_id", "ascending"), ("question_id", "ascending")])
    starts = starts_of_runs(ordered["cluster_id"].to_numpy())
    sizes = np.diff(np.append(starts, len(ordered)))
    alone = pa.array(np.repeat(sizes == 1, sizes))
    lost = turn_members_away(ordered.filter(alone), stage="leakage", reason="left_alone")
    return Kept(ordered.filter(pc.invert(alone)), lost)


def _tagged(kept: Kept) -> Iterator[pa.Table | beam.pvalue.TaggedOutput]:
    if len(kept.members):
        yield kept.members
    if len(kept.turned_away):
        yield beam.pvalue.TaggedOutput(TURNED_AWAY_TAG, kept.turned_away)
