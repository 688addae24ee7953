"""Graph from questions and their answers to the tables of a dataset, shared by logs and pairs.

QUESTIONS, MEMBERS, token counts -> AssembleDataset -> Written
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clusters.answer_worth import count_log
from pipelines.clusters.clustering import cluster, describe
from pipelines.clusters.coherence import Coherence, coherence
from pipelines.clusters.pairs import pair
from pipelines.clusters.size_cap import CutSurplus, reject_surplus
from pipelines.clusters.splits import keep_splits, splits_of_answers, without_splits
from pipelines.decontamination.transform import RemoveLeakage
from pipelines.decontamination.verification import CheckLeakage
from pipelines.engine import progress
from pipelines.engine.shuffle import GroupByShard, JoinByShard, Joined, tables_of
from pipelines.graphs.settings import Assembly
from pipelines.intermediate import Written
from pipelines.linkage.linker import Linker
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.threshold_sample import with_evidence
from pipelines.linkage.transform import ChooseThreshold, CountAgreement, MakeLinker, RankNeighbours
from pipelines.neighbours.embeddings import Encode, with_vectors
from pipelines.questions.aggregation import as_memberships, assign_clusters, places
from pipelines.questions.scripts import script_counts
from pipelines.questions.token_frequencies import TokenWeights, frequent, merge
from pipelines.reading.sources import Source, digest_input
from pipelines.summary.fallbacks import broad_answers
from pipelines.writing.parquet import WriteTable
from pipelines.writing.rejects import TAG
from schemas.ragged import starts_of_runs
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

    def __post_init__(self) -> None:
        super().__init__()

    def expand(self, parts: Parts) -> beam.PCollection[Written]:
        """Wire the steps; each is a function of its own."""
        counts = parts["token_counts"] | "CountTokens" >> beam.CombineGlobally(merge)
        weights = counts | "WeighTokens" >> beam.Map(frequent)
        members, surplus, cut_away = parts["members"], [], []
        if self.encode is not None:
            members = members | "EncodeQuestions" >> beam.Map(with_vectors, self.encode)
        if self.assembly.linking.method == "none":  # an answer is one cluster: cut it before it is shuffled
            cut = members | "CutSurplus" >> CutSurplus(self.assembly.gate.max_cluster_size)
            members, surplus, cut_away = cut["main"], [cut["surplus"]], [cut["written"]]
            of_answers = members
        else:
            of_answers = members | "MeetByAnswer" >> GroupByShard(key="answer_id", shards=self.shards)
        linker = (of_answers, weights) | "MakeLinker" >> MakeLinker(self.assembly.linking, self.encode)
        standings = (of_answers, weights) | "RankNeighbours" >> RankNeighbours(self.assembly.linking, self.shards)
        join = JoinByShard(key="answer_id", shards=self.shards)
        with_neighbours = (members, *standings) | "JoinNeighbours" >> join
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
            | "MeetByQuestion" >> GroupByShard(key="question_id", shards=self.shards)
            | "AssignClusters" >> beam.Map(assign_clusters)
        )
        names, with_split = beam.pvalue.AsList(judged["names"]), not self.has_earlier_splits
        rejected = (
            parts["rejects"],
            judged[TAG],
            held_out[TAG],
            *(part | "RejectSurplus" >> beam.Map(reject_surplus, names, with_split=with_split) for part in surplus),
        ) | "GatherRejected" >> GroupByShard(key="shard_key", shards=self.shards)
        tables = {table: self._write_splits(table, judged, finished) for table in _TABLES}
        check = CheckLeakage(self.assembly.leakage.near_duplicate, self.shards, self.run_url.rsplit("/", 1)[0])
        written = [
            questions | "WriteQuestions" >> self._write("questions", "question_id"),
            questions
            | "CountScripts"
            >> beam.Map(lambda assigned: Written(None, script_counts(assigned))).with_output_types(Written),
            rejected | "WriteRejected" >> self._write("rejected", "shard_key"),
            *tables["clusters"],
            *tables["pairs"],
            (tables["clusters"] | "WrittenClusters" >> beam.Flatten(), weights) | "CheckLeakage" >> check,
            *cut_away,
            counts_of_log,
            judged["written"],
            held_out["written"],
        ]
        return written | "Written" >> beam.Flatten()

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


def judge(
    joined: Joined,
    assembly: Assembly,
    weights: TokenWeights,
    linker: Linker | None = None,
    agreement: Mapping[int, LogAgreement] | None = None,
    threshold: float | None = None,
    has_earlier_splits: bool = False,
) -> Iterator[Any]:
    """Yield the members of accepted clusters with their split, the finished tables of train, and rejected members.

    The split is the answer's, so that all clusters of an answer share it.

    Args:
        joined: MEMBERS of whole answers, with their vectors if there is an encoder, and their STANDINGS of each kind if
            there are any.
        assembly: how to judge.
        weights: weights of the log's tokens.
        linker: splits the answers.
        agreement: agreement of the log by the number of the kind, where neighbours were sought.
        threshold: of the log, for a linker that has none of its own.
        has_earlier_splits: splits are of earlier versions, and not of rejected rows.
    """
    members, evidence = with_evidence(tables_of(joined), agreement)
    kept, moved = keep_splits(members)
    members = without_splits(kept) if has_earlier_splits else kept
    given, reviewed = assembly.recalibration, assembly.reviewed
    clustered = cluster(
        members, assembly.gate, weights, linker, given, evidence=evidence, threshold=threshold, reviewed=reviewed
    )
    progress.count(clustered.counts["members_judged"], "question", "clustered")
    split = splits_of_answers(clustered.members["answer_id"], kept, assembly.salt)
    believed = clustered.members.set_column(clustered.members.column_names.index("split"), "split", split)
    yield believed
    in_train = pc.equal(split, "train")
    starts = starts_of_runs(believed["cluster_id"].to_numpy())
    cluster_in_train = in_train.take(pa.array(starts)).to_numpy(zero_copy_only=False)
    scores = Coherence(*(values[cluster_in_train] for values in clustered.coherence))
    yield from _tables(believed.filter(in_train), scores, assembly)
    yield beam.pvalue.TaggedOutput(TAG, pa.concat_tables([clustered.rejects, moved]))
    clustered.counts["members_judged"] += len(moved)
    broad, judged_answers = broad_answers(members, weights), clustered.judged_answers
    written = Written(None, clustered.counts, broad_answers=broad, judged_answers=judged_answers)
    yield beam.pvalue.TaggedOutput("written", written)
    if len(clustered.names):
        yield beam.pvalue.TaggedOutput("names", clustered.names)


def finish(members: pa.Table, assembly: Assembly, weights: TokenWeights) -> Iterator[Any]:
    """Yield the finished tables of validation and test, scored again now that leaked questions are gone."""
    starts = starts_of_runs(members["cluster_id"].to_numpy())
    yield from _tables(members, coherence(members["token_ids"], starts, weights), assembly)


def _tables(members: pa.Table, scores: Coherence, assembly: Assembly) -> Iterator[beam.pvalue.TaggedOutput]:
    """Yield the tables of each split; ``shard_key`` is the hash of an answer of the shard."""
    yield beam.pvalue.TaggedOutput("places", places(members))
    tables = {"clusters": describe(members, scores), "pairs": pair(members, assembly.max_pairs_per_cluster)}
    split_of_cluster = tables["clusters"].select(["cluster_id", "split"])
    for split in SPLITS:
        ids = split_of_cluster.filter(pc.equal(split_of_cluster["split"], split))["cluster_id"]
        for name, table in tables.items():
            part = (
                table.filter(pc.is_in(table["cluster_id"], value_set=ids))
                if len(ids) < len(split_of_cluster)
                else table
            )
            if len(ids) and len(part):
                shard_key = pa.repeat(members["answer_id"][0], len(part))
                yield beam.pvalue.TaggedOutput(f"{name}_{split}", part.append_column("shard_key", shard_key))
