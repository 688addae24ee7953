"""Work behind `qpr index --add` and `--delete`: one more segment, and tombstones for what it replaces.

question files, ids to delete -> change_index -> the next version of the index
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from jobs.display.console import say, warn
from jobs.options.inputs import input_files
from jobs.workflows.index_changes.additions import NOTHING, Added, add_segment
from jobs.workflows.index_changes.advice import shape_of
from jobs.workflows.index_changes.deletions import Deletions, read_deletions
from jobs.workflows.index_changes.known_rows import KnownRows
from jobs.workflows.index_changes.publication import Base, publish, show
from jobs.workflows.index_counters import OF_DATASETS, answer_warnings, check_readable, input_notes, reject_reasons
from jobs.workflows.sizing.probe_tuning import with_present_recall
from model.index.consistency import AGAIN
from model.index.segments.layout import segment_of, tombstones
from model.index.settings import IndexSettings
from pipelines.reading.index_inputs import QuestionInputs, ignored_notes, question_files
from pipelines.reading.sources import Source as TableSource
from pipelines.reading.sources import digest_input
from pipelines.writing.run_report import check_sum
from schemas.arrays import Bools, Int64s
from schemas.artifacts.manifest import File, read_manifest, read_settings
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.tables import SHARDS, TOMBSTONES

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


def change_index(
    url: str,
    *,
    add: Sequence[str],
    delete: Sequence[str],
    settings: IndexConfig,
    options: PipelineOptions,
    max_reject_ratio: float = 1.0,
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
        max_reject_ratio: maximum share of added rows that cannot be read.
        as_json: print for a program.

    Raises:
        QprError: there is no index, a file cannot be read, too few rows are usable, or none would be left.
    """
    filters = read_settings(url, read_manifest(url, "index"), IndexSettings, again=AGAIN).filters

    def files_of(url: str) -> list[TableSource]:
        return input_files([url], settings, example="")

    names = settings.column_names
    inputs = question_files(add, names if add else {}, files_of=files_of, option="--add", filters=filters)
    for note in ignored_notes(inputs):
        say(note)
    sources = [source for path in delete for source in files_of(path)]
    deletions = read_deletions(sources, names, filters.vary_by)
    with Output(url, "index", change=True) as target:
        base = Base.of(url)
        change = _change(target, base, inputs, deletions, options)
        counters = _counters(change, deletions)
        if add:
            check_readable(counters, [source.url for source in inputs.sources], max_reject_ratio)
        left = len(base.index) - len(change.deleted) - len(change.replaced) + len(change.new)
        if not left:
            raise QprError(f"{url}: nothing would be left of {counted(len(base.index), 'question')}. Remove the folder")
        if not len(change.new) and not len(change.deleted):
            target.abandon()
            _report_unused(counters)
            say(f"{url}: nothing to change, so its version stays")
            show(url, base.manifest, shape_of(base.index, base.manifest), counters, as_json=as_json)
            return
        for note in input_notes(counters):
            say(note)
        for warning in answer_warnings(counters):
            warn(warning)
        _report_unused(counters)
        manifest, shape = publish(
            target,
            base,
            [*base.kept, *change.added.files, *_write_tombstones(target, base, change)],
            base.settings.model_copy(update={"questions": left}),
            inputs=[*inputs.sources, *map(digest_input, sources)],
            counters=counters,
            tune=with_present_recall if len(change.new) else None,
        )
    show(url, manifest, shape, counters, as_json=as_json)


class _Change(NamedTuple):
    """Difference of an index from its base.

    Attributes:
        added: files of the new segment, and its ids.
        deleted: ids of the base to delete.
        new: ids of the new segment.
        replaced: those of them that the base has and that are not deleted.
    """

    added: Added
    deleted: Int64s
    new: Int64s
    replaced: Int64s


def _change(
    target: Output, base: Base, inputs: QuestionInputs, deletions: Deletions, options: PipelineOptions
) -> _Change:
    """Write the new segment, if there are inputs of one."""
    deleted = deletions.ids[base.index.rows_of(deletions.ids) >= 0]
    added = NOTHING
    if inputs.sources:
        added = add_segment(
            target,
            base,
            inputs.files,
            number=1 + max(segment_of(file.path) for file in base.manifest.of(SHARDS)),
            unchanged=KnownRows(base.index.url, base.manifest.run_id, deleted.tobytes()),
            message=f"Adding {counted(len(inputs.files), 'file')} of questions",
            options=options,
        )
    new = np.concatenate([deleted[:0], *added.ids])
    return _Change(added, deleted, new, new[(base.index.rows_of(new) >= 0) & ~np.isin(new, deleted)])


def _counters(change: _Change, deletions: Deletions) -> dict[str, int]:
    """Return the counters of a change.

    Raises:
        QprError: they do not add up, or no added row is usable.
    """
    counted_rows, new, replaced = change.added.counters, len(change.new), len(change.replaced)
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
        distinct, deleted = len(deletions.ids), len(change.deleted)
        repeated = deletions.rows - deletions.unreadable - distinct
        counts = (deletions.rows, deleted, distinct - deleted, repeated, deletions.unreadable)
        counters |= dict(zip(DELETED, counts, strict=True))
    return counters


def _report_unused(counters: dict[str, int]) -> None:
    """Print a line for a person about each kind of row that changes nothing; about unreadable ones it is a warning."""
    if unchanged := counters.get("questions_unchanged"):
        say(f"in the index already, with equal columns: {counted(unchanged, 'question')}")
    if unknown := counters.get("deletions_unknown"):
        say(f"not in the index, so not deleted: {counted(unknown, 'question')}")
    if unreadable := counters.get("deletions_unreadable"):
        rows = counted(unreadable, "row")
        warn(f"--delete: {rows} without a question or a 64-bit integer as its id, so not deleted. Correct the files")


def _write_tombstones(target: Output, base: Base, change: _Change) -> list[File]:
    """Write the mask of the deleted and replaced rows; return no file if there is no such row."""
    masks = _deleted_masks(base, np.union1d(change.deleted, change.replaced))
    dead = sum(int(mask.sum()) for mask in masks)
    if not dead:
        return []
    content = tombstones([*masks, *(np.zeros(len(ids), bool) for ids in change.added.ids)])
    return [target.write(f"{TOMBSTONES}.bin", content, table=TOMBSTONES, rows=dead)]


def _deleted_masks(base: Base, gone: Int64s) -> list[Bools]:
    """Return the deleted rows of each shard of the base after some ids have gone."""
    masks = []
    for ids, shard in zip(base.index.question_ids, base.index.shards, strict=True):
        before = np.zeros(len(shard), bool) if shard.live is None else ~shard.live
        masks.append(before | np.isin(ids, gone))
    return masks
