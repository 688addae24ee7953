"""Beam transform that removes validation and test questions that occur in train in the same or almost the same words.

MEMBERS of all splits -> RemoveLeakage -> MEMBERS of validation and test, REJECTS rows, Written
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa

from pipelines.decontamination.evidence import Kept, accuse, drop_alone, drop_leaked, mention
from pipelines.decontamination.near_duplicates import find_leaks, sets_to_compare
from pipelines.decontamination.settings import Leakage
from pipelines.engine.shuffle import GroupByShard
from pipelines.intermediate import Written
from pipelines.writing.rejects import TAG


@dataclasses.dataclass
class RemoveLeakage(beam.PTransform):
    """Remove from validation and test every question that occurs in train, then clusters left with one question.

    Questions of validation that occur in test are removed too, even if the question of test is itself removed.

    Input: MEMBERS tables with their split.
    Output: ``main``, MEMBERS of validation and test ordered by cluster and question, one table a shard, each
    cluster in one table; ``rejects``, REJECTS tables; ``written``, counts.

    Attributes:
        leakage: minimum similarity of leaked questions.
        shards: number of shards of each shuffle.
    """

    leakage: Leakage
    shards: int

    def __post_init__(self) -> None:
        super().__init__()

    def expand(self, members: beam.PCollection[pa.Table]) -> dict[str, beam.PCollection[Any]]:
        """Group by words and by question to find leaks, then by answer to find clusters left with one question."""
        tags = (TAG, "written")
        counts, mentions = [], [members | "Mention" >> beam.Map(mention)]
        if self.leakage.near_duplicate:
            found = (
                members
                | "SetsToCompare" >> beam.Map(sets_to_compare, self.leakage.near_duplicate)
                | "MeetByWords" >> GroupByShard(key="meeting", shards=self.shards)
                | "FindLeaks" >> beam.FlatMap(_find, self.leakage.near_duplicate).with_outputs("written", main="main")
            )
            mentions.append(found.main)
            counts.append(found.written)
        clean = (
            tuple(mentions)
            | "MeetByQuestion" >> GroupByShard(key="question_id", shards=self.shards)
            | "DropLeaked"
            >> beam.FlatMap(
                lambda table: _tagged(drop_leaked(table, across=self.leakage.near_duplicate > 0))
            ).with_outputs(*tags, main="main")
        )
        whole = (
            clean.main
            | "MeetByAnswerAgain" >> GroupByShard(key="answer_id", shards=self.shards)
            | "DropAlone" >> beam.FlatMap(lambda table: _tagged(drop_alone(table))).with_outputs(*tags, main="main")
        )
        lost = (clean[TAG], whole[TAG]) | "Lost" >> beam.Flatten()
        counted = (*counts, clean.written, whole.written) | "Counted" >> beam.Flatten()
        return {"main": whole.main, TAG: lost, "written": counted}


def _find(sets: pa.Table, near_duplicate: float) -> Iterator[Any]:
    found = find_leaks(sets, near_duplicate)
    if len(found.leaks):
        yield accuse(found.leaks)
    yield beam.pvalue.TaggedOutput("written", Written(None, {"leakage.compared.pairs_of_sets": found.pairs}))


def _tagged(kept: Kept) -> Iterator[Any]:
    if len(kept.members):
        yield kept.members
    if len(kept.rejects):
        yield beam.pvalue.TaggedOutput(TAG, kept.rejects)
    yield beam.pvalue.TaggedOutput("written", Written(None, dict(kept.counts)))
