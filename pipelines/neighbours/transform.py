"""Beam transform that finds the nearest questions of each question among all questions of the log.

MEMBERS of whole answers, TokenWeights -> FindNeighbours -> NEIGHBOURS of whole questions
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa

from pipelines.engine.shuffle import GroupByShard
from pipelines.neighbours.described import describe
from pipelines.neighbours.join import compare_placed, nearest_of_answers, place_in_shards
from pipelines.neighbours.pairs import merge_nearest, parts_of_questions
from pipelines.questions.token_frequencies import TokenWeights


@dataclasses.dataclass
class FindNeighbours(beam.PTransform):
    """Find the nearest questions of each question, with its answer and with another one.

    Input: MEMBERS tables, all rows of each answer in one; TokenWeights, one element.
    Output: NEIGHBOURS tables, all rows of each question in one, ordered by answer, question and falling similarity. A
    question that is the only one of its answer has none but is a neighbour itself. The rows are the same for any number
    of shards. They are shuffled by question, since an answer can have any number of questions.

    Attributes:
        k: maximum number of neighbours of a question with its answer, and the maximum number with another answer.
        shards: number of shards of each shuffle.
    """

    k: int
    shards: int

    def expand(
        self, inputs: tuple[beam.PCollection[pa.Table], beam.PCollection[TokenWeights]]
    ) -> beam.PCollection[pa.Table]:
        """Compare questions of one answer, then those that share a rare stem, and merge the neighbours of each."""
        members, weights = inputs
        described = members | "DescribeQuestions" >> beam.FlatMap(
            _describe_and_place, self.k, self.shards, weights=beam.pvalue.AsSingleton(weights)
        ).with_outputs("placed", main="same_answer")
        others = (
            described.placed
            | "ShuffleByRareStem" >> GroupByShard(key="shard", shards=self.shards)
            | "ComparePlaced"
            >> beam.FlatMap(compare_placed, beam.pvalue.AsSingleton(weights), k=self.k, shards=self.shards)
        )
        return (
            (described.same_answer, others)
            | "ShuffleByQuestion" >> GroupByShard(key="question_id", shards=self.shards)
            | "PartsOfQuestions" >> beam.FlatMap(parts_of_questions)
            | "MergeNearest" >> beam.Map(merge_nearest, k=self.k)
        )


def _describe_and_place(members: pa.Table, k: int, shards: int, weights: TokenWeights) -> Iterator[Any]:
    described = describe(members, weights)
    yield from nearest_of_answers(described, weights, k=k)
    keyed = described.keyed
    del described  # with its words, which nothing needs any more
    for placed in place_in_shards(keyed, weights, shards=shards):
        yield beam.pvalue.TaggedOutput("placed", placed)
