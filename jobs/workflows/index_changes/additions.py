"""A further segment of an index: the questions of some files, encoded and written beside the segments before.

base, question files -> add_segment -> Added: files of the segment, its ids
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from jobs.display.console import working
from jobs.workflows.index_changes.known_rows import KnownRows
from jobs.workflows.index_changes.publication import Base
from jobs.workflows.sizing.coding import with_codes
from jobs.workflows.worker_encoder import WorkerEncoder
from model.index.consistency import IdTable
from model.index.segments.builder import SegmentBuilder
from model.index.segments.layout import folder_of, in_order
from model.search.opening import model_folder
from pipelines.graphs.index import ShardedQuestions, write_shards
from pipelines.reading.estimate import text_bytes
from pipelines.reading.index_inputs import DatasetFile, QuestionFile, SegmentFile
from schemas.arrays import Int64s
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, read_verified
from schemas.artifacts.writer import Output
from schemas.tables import IDS, SHARDS

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

_SHARD_BYTES: Final = 32 * 2**20
"""Bytes of text of a shard, as in the pipelines."""

_ROW_BYTES: Final = 64
"""Bytes of the text of a row in a dataset or a segment, which is not read to count them; some 60 on average."""


class Added(NamedTuple):
    """Files, ids and counters of an addition.

    Attributes:
        files: of the new segment, and rejected rows.
        ids: of its shards, each ascending, in their order.
        counters: of the pipeline.
    """

    files: list[File]
    ids: list[Int64s]
    counters: dict[str, int]


NOTHING: Final = Added([], [], {})


def add_segment(
    target: Output,
    base: Base,
    files: Sequence[QuestionFile],
    *,
    number: int,
    unchanged: KnownRows | None,
    message: str,
    options: PipelineOptions,
) -> Added:
    """Run the pipeline that encodes questions, and return the files of the segment.

    Args:
        target: the index to write.
        base: the version before.
        files: with the questions.
        number: of the segment.
        unchanged: stored rows that are left out.
        message: of the progress.
        options: Beam's.

    Raises:
        QprError: a file cannot be read.
    """
    stored = in_order(base.manifest.of(SHARDS))
    with_lists = [file for file, shard in zip(stored, base.index.shards, strict=True) if shard.lists]
    builder = SegmentBuilder(base.index.url, min(with_lists, key=lambda file: file.bytes, default=None))
    shards = _shards(files, base.settings.shards)
    sharded = ShardedQuestions(files, shards, encoder_of(base), builder, folder_of(number), unchanged)
    with working(message):
        report = write_shards(target, sharded, encoder_digest=base.settings.model_digest, options=options)
    tables = in_order(file for file in report.files if file.table == IDS)
    coded = with_codes(target, report.files, base.settings.factory, base=(base.index.url, base.manifest))
    return Added(coded, [_ids(target, file) for file in tables], report.counters)


def encoder_of(base: Base) -> WorkerEncoder:
    """Return the encoder of an index, as workers load it."""
    folder = model_folder(base.manifest)
    address = base.settings.model_url or storage.join(base.index.url, folder or "")
    return WorkerEncoder(address, base.settings.model_digest)


def _shards(files: Sequence[QuestionFile], maximum: int) -> int:
    """Return the number of shards of a segment: one for `_SHARD_BYTES` of text, and at most those of the first one."""
    text = 0.0
    for file in files:
        match file:
            case DatasetFile() | SegmentFile():
                text += file.file.rows * _ROW_BYTES
            case _:
                text += text_bytes(file.source)
    return min(maximum, max(1, math.ceil(text / _SHARD_BYTES)))


def _ids(target: Output, file: File) -> Int64s:
    return IdTable(storage.join(target.url, file.path), read_verified(target.url, file), file.rows).question_ids()
