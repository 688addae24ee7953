"""Graph from labelled pairs to a dataset.

files of pairs -> build -> Written
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.duplicates.labelled_pairs import COLUMNS, validate_pairs
from pipelines.duplicates.transform import ClusterDuplicates
from pipelines.engine import progress
from pipelines.engine.shuffle import GroupByShard
from pipelines.graphs.dataset import AssembleDataset, DigestInputs, Parts
from pipelines.graphs.settings import QuoraConfig
from pipelines.intermediate import MEMBERS
from pipelines.questions.aggregation import name_questions
from pipelines.reading.reader import divide, read
from pipelines.reading.sources import Source
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from pipelines.writing.run_report import WriteReport


def build(pipeline: beam.Pipeline, *, sources: Sequence[Source], config: QuoraConfig, run_url: str) -> None:
    """Add all steps from files of pairs to the written dataset."""
    shards = config.for_files(sources).shards or 1
    files = pipeline | "Files" >> beam.Create(list(sources))
    paired = (
        files
        | "DivideFiles" >> beam.FlatMap(divide)
        | "SpreadFiles" >> beam.Reshuffle()
        | "ReadAndValidate"
        >> beam.FlatMap(read_pairs, config.column_names).with_outputs("edges", "qids", TAG, "written", main="asked")
    )
    clustered = paired.edges | "ClusterDuplicates" >> ClusterDuplicates(config.held_out, shards)
    named = (
        (paired.asked, clustered["places"])
        | "ShuffleByQuestion" >> GroupByShard(key="question_id", shards=shards)
        | "NameAndPlace"
        >> beam.FlatMap(name_and_place, held_out=beam.pvalue.AsSingleton(clustered["held_out"])).with_outputs(
            "members", "token_counts", "written", main="questions"
        )
    )
    counted = (
        paired.qids
        | "ShuffleByQid" >> GroupByShard(key="qid", shards=shards)
        | "CountQids" >> beam.Map(lambda qids: Written(None, count_qids(qids))).with_output_types(Written)
    )
    parts: Parts = {
        "questions": named.questions,
        "members": named.members,
        "token_counts": named.token_counts,
        "rejects": paired[TAG],
    }
    written = parts | "AssembleDataset" >> AssembleDataset(config.assembly, shards, run_url)
    digested = files | "DigestInputs" >> DigestInputs()
    (
        (written, paired.written, named.written, counted, clustered["written"], digested)
        | "AllWritten" >> beam.Flatten()
        | "Report" >> WriteReport(run_url)
    )


def read_pairs(source: Source, names: Mapping[str, str]) -> Iterator[Any]:
    """Yield the ASKED rows of a file, its edges, ids and rejects, and its number of rows.

    Args:
        source: the file.
        names: our name of a column -> the file's, where they differ.
    """
    rows_read = 0
    for batch in read(source, COLUMNS, names):
        rows_read += len(batch.rows) + len(batch.rejects)
        progress.count(len(batch.rows) + len(batch.rejects), "row", "read")
        paired = validate_pairs(batch.rows)
        if len(paired.asked):
            yield paired.asked
            yield beam.pvalue.TaggedOutput("edges", paired.edges)
        if len(paired.qids):
            yield beam.pvalue.TaggedOutput("qids", paired.qids)
        for rejects in (paired.rejects, batch.rejects):
            if len(rejects):
                yield beam.pvalue.TaggedOutput(TAG, rejects)
    yield beam.pvalue.TaggedOutput("written", Written(None, {"rows_read": rows_read}))


def name_and_place(asked_and_placed: pa.Table, held_out: pa.Table) -> Iterator[Any]:
    """Yield the questions of a shard, those in a cluster as MEMBERS, token counts and numbers of texts.

    Args:
        asked_and_placed: ASKED and `pipelines.duplicates.held_out_split.place_questions`; all rows of each
            question are present.
        held_out: `pipelines.duplicates.held_out_split.SPLITS_OF`.
    """
    is_asked = pc.is_valid(asked_and_placed["key"])
    asked, placed = asked_and_placed.filter(is_asked), asked_and_placed.filter(pc.invert(is_asked))
    named = name_questions(asked)
    texts = asked.group_by(["question_id", "text"], use_threads=False).aggregate([])
    merged = len(texts) - len(named.questions)
    members = place(named.members, placed, held_out)
    counts = {"texts": len(texts), "texts_merged_by_key": merged, "members": len(members)}
    yield named.questions
    yield beam.pvalue.TaggedOutput("members", members)
    yield beam.pvalue.TaggedOutput("token_counts", named.token_counts)
    yield beam.pvalue.TaggedOutput("written", Written(None, counts))


def place(members: pa.Table, placed: pa.Table, held_out: pa.Table) -> pa.Table:
    """Return the MEMBERS that have a place, with its cluster and split.

    Args:
        members: MEMBERS, one row a question.
        placed: ``question_id`` and ``answer_id``, one row a question of a component.
        held_out: `pipelines.duplicates.held_out_split.SPLITS_OF`.
    """
    rows = pc.index_in(members["question_id"], value_set=placed["question_id"])
    inside = pc.is_valid(rows)
    answer_ids = placed["answer_id"].take(rows.filter(inside))
    split = held_out["split"].take(pc.index_in(answer_ids, value_set=held_out["cluster_id"]))
    columns = {name: members[name].filter(inside) for name in MEMBERS.names}
    return pa.table({**columns, "answer_id": answer_ids, "split": pc.fill_null(split, "train")}).cast(MEMBERS)


def count_qids(qids: pa.Table) -> dict[str, int]:
    """Return the number of question ids and the number of ids with several texts.

    Args:
        qids: `pipelines.duplicates.labelled_pairs.QIDS`; all rows of each id are present.
    """
    texts = qids.group_by("qid", use_threads=False).aggregate([("text", "count_distinct")])["text_count_distinct"]
    return {"qids": len(texts), "qids_with_several_texts": pc.sum(pc.greater(texts, 1)).as_py() or 0}
