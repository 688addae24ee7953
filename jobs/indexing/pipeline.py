"""The pipeline behind ``qpr index``: every worker encodes and builds its shards on shared centroids.

question files -> GroupByShard -> sample -> trained index -> FAISS shards, id tables, rejected rows and a report

Texts travel between workers, not vectors: 60 bytes a question instead of 1,200.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.indexing.question_files import QuestionFile
from jobs.indexing.question_merging import merge_equal
from jobs.indexing.question_tables import read_questions
from jobs.workflows.worker_encoder import WorkerEncoder
from model.index.id_table import stored_rows
from model.index.index import IDS, SHARDS
from model.index.shards import build_shard, check_questions, default_factory, in_sample, sample_size, train
from pipelines.engine import progress
from pipelines.engine.shuffle import GroupByShard, concatenate, to_ipc
from pipelines.writing.parquet import WriteTable, Written
from schemas.artifacts import storage
from schemas.artifacts.writer import write_file

TURNED_AWAY_TAG = "turned_away"

REPORT = "_report.json"
"""What the workers did, for the driver: one JSON list, removed before the index is published."""


@dataclasses.dataclass(frozen=True)
class IndexJob:
    """What every worker needs to know.

    Attributes:
        run_url: folder the files go to.
        model: encodes the questions.
        shards: how many parts the questions are dealt to.
        factory: FAISS factory, or None for the default at the number of questions.
    """

    run_url: str
    model: WorkerEncoder
    shards: int
    factory: str | None = None

    def factory_for(self, questions: int) -> str:
        """Return the factory of an index of this many questions."""
        return self.factory or default_factory(questions)


def build(pipeline: beam.Pipeline, *, files: list[QuestionFile], job: IndexJob) -> None:
    """Add the pipeline; when it has run, `REPORT` lists the files and counts."""
    read = (
        pipeline
        | "ListFiles" >> beam.Create(files)
        | "ReadQuestions" >> beam.FlatMap(read_and_count).with_outputs("counts", TURNED_AWAY_TAG, main="tables")
    )
    merged = (
        read.tables
        | "ShuffleByQuestion" >> GroupByShard("question_id", job.shards)
        | "MergeEqualKeys" >> beam.FlatMap(merge_and_count).with_outputs("counts", TURNED_AWAY_TAG, main="parts")
    )
    rejected = (
        (read[TURNED_AWAY_TAG], merged[TURNED_AWAY_TAG])
        | "ShuffleRejected" >> GroupByShard("shard_key", job.shards)
        | "WriteRejected" >> WriteTable(job.run_url, "rejected", "shard_key", job.shards)
        | "CountRejected" >> beam.FlatMap(records_of)
    )
    parts = merged.parts
    questions = beam.pvalue.AsSingleton(
        parts | "CountPart" >> beam.Map(lambda part: part[0]) | "CountQuestions" >> beam.CombineGlobally(sum)
    )
    trained = beam.pvalue.AsSingleton(
        parts
        | "SampleQuestions" >> beam.Map(sample_of, job, questions).with_output_types(tuple[int, bytes])
        | "BringSampleTogether" >> beam.GroupByKey()
        | "TrainCentroids" >> beam.ParDo(TrainCentroids(job), questions)
    )
    files_and_counts = parts | "BuildShards" >> beam.ParDo(BuildShards(job), trained)
    _ = (
        (read.counts, merged.counts, rejected, files_and_counts)
        | "JoinReports" >> beam.Flatten()
        | "ListReports" >> beam.CombineGlobally(beam.combiners.ToListCombineFn())
        | "WriteReport" >> beam.Map(write_report, job.run_url)
    )


def read_and_count(source: QuestionFile) -> Iterator[Any]:
    """Yield tables of questions that have a word, the rows turned away, and counts of both."""
    for questions in read_questions(source):
        lost = questions.turned_away
        counts = {"questions_read": len(questions.rows) + len(lost), "questions_rejected": len(lost)}
        unreadable = {f"unreadable_{name}": count for name, count in questions.unreadable.items()}
        yield beam.pvalue.TaggedOutput("counts", counts | unreadable)
        yield beam.pvalue.TaggedOutput(TURNED_AWAY_TAG, lost)
        yield questions.rows


def merge_and_count(table: pa.Table) -> Iterator[Any]:
    """Yield ``(number of questions, Arrow IPC bytes)`` of a shard, in order of id, and what was merged with another."""
    distinct, lost = merge_equal(table)
    yield beam.pvalue.TaggedOutput("counts", {"questions_merged": len(table) - len(distinct)})
    yield beam.pvalue.TaggedOutput(TURNED_AWAY_TAG, lost)
    yield len(distinct), to_ipc(distinct)


def records_of(written: Written) -> Iterator[dict[str, Any]]:
    """Yield a file of rejected rows and how many it holds by stage and reason."""
    assert written.file
    yield written.file.model_dump()
    yield {name: count for name, count in written.counts.items() if name.startswith("rejected_")}


def sample_of(part: tuple[int, bytes], job: IndexJob, questions: int) -> tuple[int, bytes]:
    """Return a shard's part of the training sample under the one key 0; it may be empty."""
    table = concatenate([part[1]]).select(["question_id", "text"])
    wanted = sample_size(job.factory_for(questions))
    mask = in_sample(table["question_id"].to_numpy(), wanted=wanted, questions=questions)
    return 0, to_ipc(table.filter(pa.array(mask)))


class _Encodes(beam.DoFn):
    """A step that encodes: the model is loaded once a worker process."""

    def __init__(self, job: IndexJob) -> None:
        super().__init__()
        self.job = job

    def setup(self) -> None:
        """Load the model."""
        self.encoder = self.job.model.load()


class TrainCentroids(_Encodes):
    """Sample of questions -> a trained empty index, serialised."""

    def process(self, keyed: tuple[int, Iterable[bytes]], questions: int) -> Iterator[bytes]:
        """Yield the index that every shard starts from; it depends on the sample's questions, not on their order."""
        factory = self.job.factory_for(questions)
        sample = concatenate(keyed[1]).sort_by("question_id")
        check_questions(factory, len(sample))
        yield train(factory, self.encoder.encode(sample["text"]))


class BuildShards(_Encodes):
    """``(number of questions, Arrow IPC bytes)`` of a shard -> its files written, and a record of each."""

    def process(self, part: tuple[int, bytes], trained: bytes) -> Iterator[dict[str, Any]]:
        """Write a shard and its id table, the same bytes when a bundle is tried again."""
        table = stored_rows(concatenate([part[1]]))
        number = table["question_id"][0].as_py() % self.job.shards
        name = f"{number:05d}-of-{self.job.shards:05d}"
        index = build_shard(trained, self.encoder.encode(table["text"]))
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        ids = sink.getvalue().to_pybytes()
        for path, content, of in ((f"{SHARDS}/{name}.faiss", index, SHARDS), (f"{IDS}/{name}.parquet", ids, IDS)):
            yield write_file(self.job.run_url, path, content, table=of, rows=len(table)).model_dump()
        progress.count(len(table), "question", "indexed")
        yield {"questions_indexed": len(table)}


def write_report(records: list[dict[str, Any]], run_url: str) -> None:
    """Write what the workers did, in an order that does not depend on them."""
    lines = sorted(json.dumps(record, sort_keys=True) for record in records)
    storage.write_bytes(storage.join(run_url, REPORT), f"[{','.join(lines)}]".encode())
