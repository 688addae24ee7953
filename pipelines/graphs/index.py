"""Graph from questions to the shards of an index; the encoder and the shard builder are arguments.

ShardedQuestions -> build -> FAISS shards, id tables, rejected rows, Written; write_shards runs it -> Report

Texts travel between workers, not vectors: 60 bytes a question instead of 1,200.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pipelines.engine import progress
from pipelines.engine.runner import run
from pipelines.engine.shuffle import GroupByShard, concatenate, to_ipc
from pipelines.neighbours.embeddings import Encode
from pipelines.questions.equal_questions import merge_equal
from pipelines.reading.index_inputs import QuestionFile, divide_file
from pipelines.reading.index_questions import read_questions
from pipelines.writing.finished_shards import FinishedShards
from pipelines.writing.rejected_table import WriteRejects
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from pipelines.writing.run_report import Report, WriteReport, read_report
from schemas.artifacts.table_files import arrow_bytes
from schemas.artifacts.writer import Output, write_file
from schemas.tables import ANSWER_ID, ID_TABLE, IDS, INDEX_ROWS, SHARDS

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

ENCODED: Final = 16_384
"""Texts encoded at a time: 16 MB of vectors of dimension 256."""


class Unchanged(Protocol):
    """The stored rows of an index, as the pipeline sees them; pickled like a `ShardBuilder`."""

    def __call__(self, rows: pa.Table) -> np.ndarray:
        """Return a mask of the INDEX_ROWS that the index holds in all columns; ids are distinct."""


class ShardBuilder(Protocol):
    """A library of vector indexes, as the pipeline sees it. It is pickled: workers import its module."""

    def in_sample(self, question_ids: np.ndarray, questions: int) -> np.ndarray:
        """Return a mask of the ids, int64, that are in the training sample of an index of ``questions``."""

    def train(self, vectors: np.ndarray, questions: int) -> bytes:
        """Return the part that all shards share, trained on a sample: (n, d) float32 in order of question id."""

    def build(self, trained: bytes, vectors: Iterable[np.ndarray]) -> bytes:
        """Return the file of a shard; row i holds vector i of the parts, one after the other."""


@dataclasses.dataclass(frozen=True)
class ShardedQuestions:
    """Questions, and all that decides on the bytes of their shards.

    Attributes:
        files: where the questions are.
        shards: number of parts; a question's part is its id modulo ``shards``.
        encode: returns the vectors of texts. It is pickled, so a model should travel as its address.
        builder: trains and builds shards.
        folder: of shards and id tables in the run's folder.
        unchanged: questions to leave out.
    """

    files: Sequence[QuestionFile]
    shards: int
    encode: Encode
    builder: ShardBuilder
    folder: str = ""
    unchanged: Unchanged | None = None


def write_shards(target: Output, sharded: ShardedQuestions, *, encoder_digest: str, options: PipelineOptions) -> Report:
    """Run the graph, which takes over the shards that killed runs of the same output finished; return its report.

    Args:
        target: the locked index.
        sharded: questions to index.
        encoder_digest: digest of the model that encodes.
        options: Beam's.

    Raises:
        QprError: a file cannot be read or written.
    """
    finished = FinishedShards.of(target, encoder_digest)
    run(functools.partial(build, run_url=target.run_url, sharded=sharded, finished=finished), options)
    finished.forget()
    return read_report(target)


def build(
    pipeline: beam.Pipeline, *, run_url: str, sharded: ShardedQuestions, finished: FinishedShards | None = None
) -> None:
    """Add all steps from question files to the shards and the run's report.

    Args:
        pipeline: to add them to.
        run_url: the run's folder.
        sharded: questions to index.
        finished: shards of killed runs that are not built again.
    """
    shards, encode, builder = sharded.shards, sharded.encode, sharded.builder
    read = (
        pipeline
        | "ListFiles" >> beam.Create(list(sharded.files))
        | "DivideFiles" >> beam.FlatMap(divide_file)
        | "SpreadFiles" >> beam.Reshuffle()
        | "ReadQuestions" >> beam.FlatMap(read_and_count).with_outputs("written", TAG, main="tables")
    )
    merged = (
        read.tables
        | "ShuffleByQuestion" >> GroupByShard("question_id", shards)
        | "MergeEqualKeys"
        >> beam.FlatMap(merge_and_count, sharded.unchanged).with_outputs("written", TAG, main="parts")
    )
    rejected = (read[TAG], merged[TAG]) | "WriteRejected" >> WriteRejects(run_url, shards)
    parts = merged.parts
    questions = beam.pvalue.AsSingleton(
        parts | "CountPart" >> beam.Map(lambda part: part[0]) | "CountQuestions" >> beam.CombineGlobally(sum)
    )
    trained = beam.pvalue.AsSingleton(
        parts
        | "SampleQuestions" >> beam.Map(sample_of, builder, questions).with_output_types(tuple[int, bytes])
        | "BringSampleTogether" >> beam.GroupByKey()
        | "TrainCentroids" >> beam.Map(train, encode, builder, questions)
    )
    indexed = parts | "BuildShards" >> beam.FlatMap(
        build_shard, run_url, shards, encode, builder, trained, sharded.folder, finished
    )
    _ = (
        (read.written, merged.written, rejected, indexed)
        | "AllWritten" >> beam.Flatten()
        | "Report" >> WriteReport(run_url)
    )


def read_and_count(file: QuestionFile) -> Iterator[Any]:
    """Yield tables of the usable questions of a file, its rejected rows, and the number of both."""
    for questions in read_questions(file):
        rejected = questions.rejects
        counts = {"questions_read": len(questions.rows) + len(rejected), "questions_rejected": len(rejected)}
        unreadable = {f"unreadable_{name}": count for name, count in questions.unreadable.items()}
        yield beam.pvalue.TaggedOutput("written", Written(None, {**counts, **unreadable, **questions.texts}))
        yield beam.pvalue.TaggedOutput(TAG, rejected)
        yield questions.rows


def merge_and_count(table: pa.Table, unchanged: Unchanged | None) -> Iterator[Any]:
    """Yield ``(number of questions, Arrow IPC bytes)`` of a shard in order of id, and the rows merged into others."""
    merged = merge_equal(table)
    rows, counts = merged.rows, {"questions_merged": len(table) - len(merged.rows)}
    if unchanged is not None:
        rows = rows.filter(pa.array(~unchanged(rows)))
        counts["questions_unchanged"] = len(merged.rows) - len(rows)
    yield beam.pvalue.TaggedOutput("written", Written(None, counts))
    yield beam.pvalue.TaggedOutput(TAG, merged.rejects)
    if len(rows):
        yield len(rows), to_ipc(rows)


def sample_of(part: tuple[int, bytes], builder: ShardBuilder, questions: int) -> tuple[int, bytes]:
    """Return a shard's part of the training sample under the one key 0; it may be empty."""
    table = concatenate([part[1]]).select(["question_id", "text"])
    mask = builder.in_sample(table["question_id"].to_numpy(), questions)
    return 0, to_ipc(table.filter(pa.array(mask)))


def train(keyed: tuple[int, Iterable[bytes]], encode: Encode, builder: ShardBuilder, questions: int) -> bytes:
    """Return the trained part of all shards; it depends on the questions of the sample, not on their order."""
    sample = concatenate(keyed[1]).sort_by("question_id")
    return builder.train(encode(sample["text"]), questions)


def build_shard(
    part: tuple[int, bytes],
    run_url: str,
    shards: int,
    encode: Encode,
    builder: ShardBuilder,
    trained: bytes,
    folder: str = "",
    finished: FinishedShards | None = None,
) -> Iterator[Written]:
    """Write a shard and its id table and yield a record of each; a bundle that is tried again writes the same bytes."""
    table = stored_rows(concatenate([part[1]]))
    number = table["question_id"][0].as_py() % shards
    name, place = f"{number:05d}-of-{shards:05d}", f"{folder}/" if folder else ""
    content, path = arrow_bytes(table), f"{place}{SHARDS}/{name}.faiss"
    key = finished.key(trained, content) if finished else ""
    index = finished.take(path, key) if finished else None
    if index is None:
        index = builder.build(trained, encoded(table["text"], encode))
    progress.count(len(table), "question", "indexed")
    file = write_file(run_url, path, index, table=SHARDS, rows=len(table))
    if finished:
        finished.note(path, key, file)
    yield Written(file, {"questions_indexed": len(table)})
    yield Written(write_file(run_url, f"{place}{IDS}/{name}.arrow", content, table=IDS, rows=len(table)), {})


def encoded(texts: pa.ChunkedArray, encode: Encode) -> Iterator[np.ndarray]:
    """Yield the vectors of texts in parts, so that a shard's vectors are never in memory beside its codes."""
    for start in range(0, len(texts), ENCODED):
        yield encode(texts.slice(start, ENCODED))


def stored_rows(table: pa.Table) -> pa.Table:
    """Return the id table of a shard from its rows; without ``answer_id`` where no question has one."""
    rows = table.select(ID_TABLE.names).cast(ID_TABLE)
    answer_ids = table[ANSWER_ID.name]
    if answer_ids.null_count < len(table):
        rows = rows.append_column(ANSWER_ID, answer_ids)
    for field in table.schema:
        if field.name not in INDEX_ROWS.names:
            rows = rows.append_column(field, table[field.name])
    return rows
