"""Graph from questions and their answers to the tables of a dataset, shared by logs and pairs.

QUESTIONS, MEMBERS, token counts -> AssembleDataset -> Written
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypedDict

import apache_beam as beam
import pyarrow as pa

from pipelines.clusters.answer_worth import count_log
from pipelines.clusters.size_cap import CutSurplus, reject_surplus
from pipelines.decontamination.transform import RemoveLeakage
from pipelines.decontamination.verification import CheckLeakage
from pipelines.engine.combining import StepwiseCombine
from pipelines.engine.shuffle import GroupByShard, JoinByShard
from pipelines.graphs.judging import finish, judge
from pipelines.graphs.settings import Assembly
from pipelines.linkage.transform import (
    ChooseThreshold,
    CountAgreement,
    MakeLinker,
    RankNeighbours,
    compared_columns,
)
from pipelines.neighbours.embeddings import Encode, with_vectors
from pipelines.questions.aggregation import as_memberships, assign_clusters
from pipelines.questions.scripts import script_counts
from pipelines.questions.token_frequencies import TokenWeights, frequent, merge
from pipelines.reading.sources import Source, digest_input
from pipelines.writing.parquet import WriteTable
from pipelines.writing.rejected_table import WriteRejects
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from schemas.tables import SPLITS

_TABLES = ("clusters", "pairs")
_TAGS = (*(f"{table}_{split}" for table in _TABLES for split in SPLITS), "places", "names", TAG, "written")


class Parts(TypedDict):
    """Collections that a source provides, before clusters are judged.

    Attributes:
        questions: QUESTIONS tables without cluster, each question once.
        members: MEMBERS tables in any order, all rows of a question in one of them; a split that is given stays, a null
            one is decided by hash.
        token_counts: TokenWeights of disjoint sets of questions.
        rejects: REJECTS tables.
    """

    questions: beam.PCollection[pa.Table]
    members: beam.PCollection[pa.Table]
    token_counts: beam.PCollection[TokenWeights]
    rejects: beam.PCollection[pa.Table]


class _Members(NamedTuple):
    """Members of all answers before they are judged.

    Attributes:
        rows: MEMBERS tables, with vectors if there is an encoder.
        of_answers: tables from which neighbours are found: all rows of an answer in one, where answers are split.
        surplus: SURPLUS tables, where answers stay whole and are cut.
        written: counts of the surplus.
    """

    rows: beam.PCollection[pa.Table]
    of_answers: beam.PCollection[pa.Table]
    surplus: list[beam.PCollection[pa.Table]]
    written: list[beam.PCollection[Written]]


@dataclasses.dataclass
class AssembleDataset(beam.PTransform):
    """Judge clusters, split them, remove leakage, pair their questions and write every table.

    Input: `Parts`.
    Output: `Written`.

    Attributes:
        assembly: how to do it.
        shards: how many parts a shuffle and a table have.
        run_url: the run's folder.
        encode: returns vectors of texts, where ``assembly.linking`` compares them.
        has_earlier_splits: splits are of earlier versions, and not of rejected rows, as in one build of all days.
    """

    assembly: Assembly
    shards: int
    run_url: str
    encode: Encode | None = None
    has_earlier_splits: bool = False

    def expand(self, parts: Parts) -> beam.PCollection[Written]:
        """Wire the steps; each is a function of its own."""
        counts = parts["token_counts"] | "CountTokens" >> beam.CombineGlobally(StepwiseCombine(merge))
        weights = counts | "WeighTokens" >> beam.Map(frequent)
        members = self._prepare(parts["members"])
        judged, counts_of_log = self._judge(members, weights)
        held_out = judged.main | "RemoveLeakage" >> RemoveLeakage(self.assembly.leakage, self.shards)
        finished = held_out["main"] | "Finish" >> beam.FlatMap(
            finish, self.assembly, weights=beam.pvalue.AsSingleton(weights)
        ).with_outputs(*_TAGS)
        questions = (
            (
                parts["questions"] | "AwaitPlaces" >> beam.Map(as_memberships),
                judged["places"],
                finished["places"],
            )
            | "ShuffleByQuestion" >> GroupByShard(key="question_id", shards=self.shards)
            | "AssignClusters" >> beam.Map(assign_clusters)
        )
        names, with_split = beam.pvalue.AsList(judged["names"]), not self.has_earlier_splits
        rejected = (
            parts["rejects"],
            judged[TAG],
            held_out[TAG],
            *(m | "RejectSurplus" >> beam.Map(reject_surplus, names, with_split=with_split) for m in members.surplus),
        )
        tables = {table: self._write_splits(table, judged, finished) for table in _TABLES}
        check = CheckLeakage(self.assembly.leakage.near_duplicate, self.shards, self.run_url.rsplit("/", 1)[0])
        written = [
            questions | "WriteQuestions" >> self._write("questions", "question_id"),
            questions
            | "CountScripts"
            >> beam.Map(lambda assigned: Written(None, script_counts(assigned))).with_output_types(Written),
            rejected | "WriteRejected" >> WriteRejects(self.run_url, self.shards),
            *tables["clusters"],
            *tables["pairs"],
            (tables["clusters"] | "WrittenClusters" >> beam.Flatten(), weights) | "CheckLeakage" >> check,
            *members.written,
            counts_of_log,
            judged["written"],
            held_out["written"],
        ]
        return written | "Written" >> beam.Flatten()

    def _prepare(self, members: beam.PCollection[pa.Table]) -> _Members:
        """Encode the questions; group them by answer, or cut answers that are not split."""
        if self.encode is not None:
            members = members | "EncodeQuestions" >> beam.Map(with_vectors, self.encode)
        if self.assembly.linking.method == "none":  # an answer is one cluster: cut it before it is shuffled
            cut = members | "CutSurplus" >> CutSurplus(self.assembly.gate.max_cluster_size)
            return _Members(cut["main"], cut["main"], [cut["surplus"]], [cut["written"]])
        of_answers = (
            members
            | "ComparedColumns" >> beam.Map(compared_columns, self.assembly.linking)
            | "ShuffleByAnswer" >> GroupByShard(key="answer_id", shards=self.shards)
        )
        return _Members(members, of_answers, [], [])

    def _judge(self, members: _Members, weights: Any) -> tuple[Any, beam.PCollection[Written]]:
        """Judge the clusters; return the outputs of `judge`, and the counts of the whole log."""
        compared = (members.of_answers, weights)
        linker = compared | "MakeLinker" >> MakeLinker(self.assembly.linking, self.encode)
        standings = compared | "RankNeighbours" >> RankNeighbours(self.assembly.linking, self.shards)
        join = JoinByShard(key="answer_id", shards=self.shards)
        with_neighbours = (members.rows, *standings) | "JoinNeighbours" >> join
        agreement = with_neighbours | "CountAgreement" >> CountAgreement()
        threshold = (with_neighbours, weights, linker, agreement) | "ChooseThreshold" >> ChooseThreshold()
        of_log = {
            "weights": beam.pvalue.AsSingleton(weights),
            "linker": beam.pvalue.AsSingleton(linker),
            "agreement": beam.pvalue.AsSingleton(agreement),
        }
        counts_of_log = threshold | "CountLog" >> beam.Map(count_log, **of_log).with_output_types(Written)
        of_log["threshold"] = beam.pvalue.AsSingleton(threshold)
        judged = with_neighbours | "Judge" >> beam.FlatMap(
            judge, self.assembly, has_earlier_splits=self.has_earlier_splits, **of_log
        ).with_outputs(*_TAGS, main="main")
        return judged, counts_of_log

    def _write_splits(self, table: str, judged: Any, finished: Any) -> list[beam.PCollection[Written]]:
        """Write a table's rows of each split, of which those of train were finished when they were judged."""
        return [
            (judged if split == "train" else finished)[f"{table}_{split}"]
            | f"Write{table.title()}{split.title()}" >> self._write(table, "shard_key", part=f"{split}-")
            for split in SPLITS
        ]

    def _write(self, table: str, key: str, part: str = "") -> WriteTable:
        return WriteTable(run_url=self.run_url, table=table, key=key, shards=self.shards, part=part)


class DigestInputs(beam.PTransform):
    """Compute the SHA-256 of every input file, one file a worker."""

    def expand(self, sources: beam.PCollection[Source]) -> beam.PCollection[Written]:
        """Return a `Written` with the input of each element."""
        return (
            sources
            | "SpreadInputs" >> beam.Reshuffle()
            | "DigestInput"
            >> beam.Map(lambda source: Written(None, {}, digest_input(source))).with_output_types(Written)
        )
