"""Beam transform that removes validation and test questions that occur in train in the same or almost the same words.

MEMBERS of all splits -> RemoveLeakage -> MEMBERS of validation and test, REJECTS rows, Written
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa

from pipelines.decontamination.evidence import Kept, accuse, drop_alone, drop_leaked, mention
from pipelines.decontamination.near_duplicates import Found, find_leaks, sets_to_compare
from pipelines.decontamination.settings import Leakage
from pipelines.decontamination.similar_spellings import (
    count_held_out,
    find_similar_spellings,
    place_spellings,
    spellings,
)
from pipelines.engine.combining import StepwiseCombine
from pipelines.engine.shuffle import GroupByShard
from pipelines.questions.token_frequencies import merge as merge_counts
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written


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

    def expand(self, members: beam.PCollection[pa.Table]) -> dict[str, beam.PCollection[Any]]:
        """Group by words and by question to find leaks, then by answer to find clusters left with one question."""
        tags, least = (TAG, "written"), self.leakage.near_duplicate
        counts, mentions = [], [members | "Mention" >> beam.Map(mention)]
        if least:
            by_words = (
                members
                | "SetsToCompare" >> beam.FlatMap(sets_to_compare, least, self.shards)
                | "ShuffleByWords" >> GroupByShard(key="shard", shards=self.shards)
                | "FindLeaks" >> beam.FlatMap(_accused, find_leaks, least, "sets").with_outputs("written", main="main")
            )
            mentions.append(by_words.main)
            counts.append(by_words.written)
        if 0 < least < 1:
            spelled = members | "FindSimilarSpellings" >> FindSimilarSpellings(self.leakage, self.shards)
            mentions.append(spelled["main"])
            counts.append(spelled["written"])
        clean = (
            tuple(mentions)
            | "ShuffleByQuestion" >> GroupByShard(key="question_id", shards=self.shards)
            | "DropLeaked"
            >> beam.FlatMap(lambda table: _tagged(drop_leaked(table, across=least > 0)))
            .with_output_types(Any)
            .with_outputs(*tags, main="main")
        )
        whole = (
            clean.main
            | "ShuffleByAnswerAgain" >> GroupByShard(key="answer_id", shards=self.shards)
            | "DropAlone"
            >> beam.FlatMap(lambda table: _tagged(drop_alone(table)))
            .with_output_types(Any)
            .with_outputs(*tags, main="main")
        )
        rejects = (clean[TAG], whole[TAG]) | "Lost" >> beam.Flatten()
        counted = (*counts, clean.written, whole.written) | "Counted" >> beam.Flatten()
        return {"main": whole.main, TAG: rejects, "written": counted}


@dataclasses.dataclass
class FindSimilarSpellings(beam.PTransform):
    """Find the questions of validation and test with almost the same spelling as one of an earlier split.

    Input: MEMBERS tables with their split.
    Output: ``main``, MENTIONS with a reason; ``written``, counts.

    Attributes:
        leakage: minimum similarity of leaked questions, below 1.
        shards: number of shards of the shuffle.
    """

    leakage: Leakage
    shards: int

    def expand(self, members: beam.PCollection[pa.Table]) -> dict[str, beam.PCollection[Any]]:
        """Count the grams of the questions held out, then group all questions that may be similar by a gram."""
        least = self.leakage.near_duplicate
        spelled = members | "Spellings" >> beam.Map(spellings)
        counted = spelled | "CountGrams" >> beam.Map(count_held_out)
        held_out = counted | "GramsHeldOut" >> beam.CombineGlobally(StepwiseCombine(merge_counts))
        comparison = beam.FlatMap(_accused, find_similar_spellings, least, "spellings")
        compared = (
            spelled
            | "PlaceSpellings"
            >> beam.FlatMap(place_spellings, least, held_out=beam.pvalue.AsSingleton(held_out), shards=self.shards)
            | "ShuffleByGram" >> GroupByShard(key="shard", shards=self.shards)
            | "CompareSpellings" >> comparison.with_outputs("written", main="main")
        )
        return {"main": compared.main, "written": compared.written}


def _accused(rows: pa.Table, find: Callable[[pa.Table, float], Found], least: float, kind: str) -> Iterator[Any]:
    compared = find(rows, least)
    if len(compared.leaks):
        yield accuse(compared.leaks)
    yield beam.pvalue.TaggedOutput("written", Written(None, {f"leakage.compared.pairs_of_{kind}": compared.pairs}))


def _tagged(kept: Kept) -> Iterator[Any]:
    if len(kept.members):
        yield kept.members
    if len(kept.rejects):
        yield beam.pvalue.TaggedOutput(TAG, kept.rejects)
    yield beam.pvalue.TaggedOutput("written", Written(None, dict(kept.counts)))
