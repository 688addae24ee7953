"""Work behind `qpr index --add` and `--delete`: one more segment, and tombstones for what it replaces.

question files, ids to delete -> change_index -> the next version of the index
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from jobs.display.console import say, working
from jobs.options.inputs import input_files
from jobs.workflows.index_changes.advice import shape_of
from jobs.workflows.index_changes.deletions import Deletions, read_deletions
from jobs.workflows.index_changes.known_rows import KnownRows
from jobs.workflows.index_changes.publication import Base, publish, show
from jobs.workflows.indexing import OF_DATASETS, input_notes, reject_reasons
from jobs.workflows.worker_encoder import WorkerEncoder
from model.index.consistency import AGAIN, IdTable
from model.index.ranking import Ints
from model.index.segments.builder import SegmentBuilder
from model.index.segments.layout import Mask, folder_of, in_order, segment_of, tombstones
from model.index.settings import IndexSettings
from model.search.opening import model_folder
from pipelines.engine.runner import run
from pipelines.graphs.index import build
from pipelines.reading.index_inputs import DatasetFile, QuestionInputs, SegmentFile, ignored_notes, question_files
from pipelines.reading.sources import Source as TableSource
from pipelines.reading.sources import digest_input
from pipelines.writing.finished_shards import FinishedShards
from pipelines.writing.run_report import check_sum, read_report
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Source, read_manifest, read_settings, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.tables import IDS, SHARDS, TOMBSTONES

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IndexConfig

ADDED: Final = (
    "questions_read",
    "questions_added",
    "questions_replaced",
    "questions_unchanged",
    "questions_merged",
    "questions_rejected",
)
"""Counters of the added files; the first is the sum of the others."""

DELETED: Final = (
    "deletions_read",
    "questions_deleted",
    "deletions_unknown",
    "deletions_repeated",
    "deletions_unreadable",
)
"""Counters of the files of questions to delete; the first is the sum of the others."""

_SHARD_BYTES: Final = 32 * 2**20
_ROW_BYTES: Final = 64


class _Added(NamedTuple):
    """Files, ids and counters of an addition.

    Attributes:
        files: of the new segment, and rejected rows.
        ids: of its shards, each ascending, in their order.
        inputs: added files.
        counters: of the pipeline.
    """

    files: list[File]
    ids: list[Ints]
    inputs: list[Source]
    counters: dict[str, int]


def change_index(
    url: str,
    *,
    add: Sequence[str],
    delete: Sequence[str],
    settings: IndexConfig,
    options: PipelineOptions,
    as_json: bool,
) -> None:
    """Delete questions from an index, add others, publish it and print the counters.

    Deletions come first, so a question in both is in the new version. A question that is there already is replaced,
    unless nothing about it changed. If nothing changes, the present version stays.

    Args:
        url: of the index.
        add: datasets, and files and globs of questions.
        delete: files and globs of questions or their ids.
        settings: of the reading.
        options: Beam's.
        as_json: print for a program.

    Raises:
        QprError: there is no index, a file cannot be read, no question is usable, or none would be left.
    """
    filters = read_settings(url, read_manifest(url, "index"), IndexSettings, again=AGAIN).filters

    def files_of(url: str) -> list[TableSource]:
        return input_files([url], settings, example="")

    names = settings.column_names
    inputs = question_files(add, names if add else {}, files_of=files_of, option="--add", filters=filters)
    for note in ignored_notes(inputs):
        say(note)
    sources = [source for path in delete for source in files_of(path)]
    deletions = read_deletions(sources, names, filters.vary_by) if sources else Deletions(np.empty(0, np.int64), 0, 0)
    with Output(url, "index", overwrite=True) as target:
        base = Base.of(url)
        deleted = deletions.ids[base.index.rows_of(deletions.ids) >= 0]
        added = _add(target, base, inputs, deleted, options) if add else _Added([], [], [], {})
        new = np.concatenate([deleted[:0], *added.ids])
        replaced = new[(base.index.rows_of(new) >= 0) & ~np.isin(new, deleted)]
        counters = _counters(added.counters, deletions, deleted=len(deleted), new=len(new), replaced=len(replaced))
        left = len(base.index) - len(deleted) - len(replaced) + len(new)
        if not left:
            raise QprError(f"{url}: nothing would be left of {counted(len(base.index), 'question')}. Remove the folder")
        if not len(new) and not len(deleted):
            target.abandon()
            for note in _unused(counters):
                say(note)
            say(f"{url}: nothing to change, so its version stays")
            show(url, base.manifest, shape_of(base.index, base.manifest), counters, as_json=as_json)
            return
        for note in [*input_notes(counters), *_unused(counters)]:
            say(note)
        masks = _deleted_masks(base, np.union1d(deleted, replaced))
        files = [*base.kept, *added.files]
        if dead := sum(int(mask.sum()) for mask in masks):
            content = tombstones([*masks, *(np.zeros(len(ids), bool) for ids in added.ids)])
            files.append(target.write(f"{TOMBSTONES}.bin", content, table=TOMBSTONES, rows=dead))
        manifest, shape = publish(
            target,
            base,
            files,
            base.settings.model_copy(update={"questions": left}),
            inputs=[*added.inputs, *map(digest_input, sources)],
            counters=counters,
        )
    show(url, manifest, shape, counters, as_json=as_json)


def _add(target: Output, base: Base, inputs: QuestionInputs, deleted: Ints, options: PipelineOptions) -> _Added:
    """Run the pipeline that encodes what is new or changed, and return its files."""
    stored = in_order(base.manifest.of(SHARDS))
    with_lists = [file for file, shard in zip(stored, base.index.shards, strict=True) if shard.lists]
    builder = SegmentBuilder(target.url, min(with_lists, key=lambda file: file.bytes, default=None))
    finished = FinishedShards.of(target, base.settings.model_digest)
    parts = functools.partial(
        build,
        files=inputs.files,
        run_url=target.run_url,
        shards=_shards(inputs, base.settings.shards),
        encode=encoder_of(base),
        builder=builder,
        folder=folder_of(1 + max(segment_of(file.path) for file in stored)),
        unchanged=KnownRows(target.url, base.manifest.run_id, deleted.tobytes()),
        finished=finished,
    )
    with working(f"Adding {counted(len(inputs.files), 'file')} of questions"):
        run(parts, options)
    finished.forget()
    report = read_report(target)
    tables = in_order(file for file in report.files if file.table == IDS)
    return _Added(report.files, [_ids(target, file) for file in tables], inputs.sources, report.counters)


def encoder_of(base: Base) -> WorkerEncoder:
    """Return the encoder of an index, as workers load it."""
    folder = model_folder(base.manifest)
    address = base.settings.model_url or storage.join(base.index.url, folder or "")
    return WorkerEncoder(address, base.settings.model_digest)


def _shards(inputs: QuestionInputs, most: int) -> int:
    """Return the number of shards of a segment: one for `_SHARD_BYTES` of text, and at most those of the first one."""
    text = 0.0
    for file in inputs.files:
        match file:
            case DatasetFile() | SegmentFile():
                text += file.file.rows * _ROW_BYTES
            case _:
                text += file.source.bytes * (5 if file.source.compression or file.source.format == "parquet" else 1)
    return min(most, max(1, math.ceil(text / _SHARD_BYTES)))


def _ids(target: Output, file: File) -> Ints:
    return IdTable(storage.join(target.url, file.path), read_verified(target.url, file), file.rows).question_ids()


def _counters(
    counted_rows: dict[str, int], deletions: Deletions, *, deleted: int, new: int, replaced: int
) -> dict[str, int]:
    """Return the counters of a change.

    Raises:
        QprError: they do not add up, or no added row is usable.
    """
    left_out = {"questions_indexed", *OF_DATASETS}
    counters = {name: count for name, count in counted_rows.items() if name not in left_out}
    if counted_rows:
        counters = dict.fromkeys(ADDED, 0) | counters
        counters |= {"questions_added": new - replaced, "questions_replaced": replaced}
        check_sum(counted_rows | {"new": new}, "questions_indexed", "new")
        check_sum(counters, *ADDED)
        if counters["questions_rejected"] == counters["questions_read"]:
            raise QprError(f"--add: no question with a word to add{reject_reasons(counters)}. Check the files")
    if deletions.rows:
        known = len(deletions.ids)
        repeated = deletions.rows - deletions.unreadable - known
        counts = (deletions.rows, deleted, known - deleted, repeated, deletions.unreadable)
        counters |= dict(zip(DELETED, counts, strict=True))
    return counters


def _unused(counters: dict[str, int]) -> list[str]:
    """Return a line for a person about each kind of row that changes nothing."""
    notes = []
    if unchanged := counters.get("questions_unchanged"):
        notes.append(f"in the index already, with equal columns: {counted(unchanged, 'question')}")
    if unknown := counters.get("deletions_unknown"):
        notes.append(f"not in the index, so not deleted: {counted(unknown, 'question')}")
    if unreadable := counters.get("deletions_unreadable"):
        notes.append(f"without a question or a 64-bit integer as its id, so not deleted: {counted(unreadable, 'row')}")
    return notes


def _deleted_masks(base: Base, gone: Ints) -> list[Mask]:
    """Return the deleted rows of each shard of the base after some ids have gone."""
    masks = []
    for ids, shard in zip(base.index.question_ids, base.index.shards, strict=True):
        before = np.zeros(len(shard), bool) if shard.live is None else ~shard.live
        masks.append(before | np.isin(ids, gone))
    return masks
