"""Index of the next dataset: files of the index before, one more segment of what is new or changed, and tombstones.

index, dataset -> next_index -> another index of all questions of the dataset, or None where a new build is due

Where the last segments together are no larger than what is new, their questions go into the new segment. So the sizes
of segments fall by half at least, their number grows with the logarithm of the nights, and a question is encoded as
often.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from jobs.display.console import say
from jobs.workflows.index_changes.additions import NOTHING, Added, add_segment
from jobs.workflows.index_changes.advice import DELETED_SHARE, SEGMENTS, shape_of
from jobs.workflows.index_changes.known_rows import equal_rows
from jobs.workflows.index_changes.publication import Base, publish
from model.index.ranking import Ints
from model.index.segments.layout import Mask, in_order, segment_of, tombstones
from pipelines.graphs.index import stored_rows
from pipelines.reading.index_inputs import QuestionInputs, SegmentFile, question_files
from pipelines.reading.index_questions import read_questions
from pipelines.writing.run_report import check_sum
from schemas.artifacts import storage
from schemas.artifacts.manifest import Manifest
from schemas.artifacts.shared_files import share_file
from schemas.artifacts.table_files import arrow_bytes
from schemas.artifacts.writer import Output
from schemas.quantities import counted
from schemas.tables import IDS, SHARDS, TOMBSTONES

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

_CHANGED: Final = "changed"
"""Folder of the rows to encode in the folder of a run; publication leaves none."""

_NEW: Final = -1


@dataclasses.dataclass(frozen=True)
class Change:
    """Difference of a dataset and an index.

    Attributes:
        ids: questions of the dataset, distinct.
        holders: for each id the segment that has the row with equal columns, or -1.
        rows: of the dataset to write into the next segment.
        replaced: number of these that the index has with other columns.
        segment: number of the next segment; those from it on are left out.
        masks: of each shard of the segments before it, the rows that are deleted afterwards.
        reason: to build the index again instead; None where there is none.
    """

    ids: Ints
    holders: Ints
    rows: pa.Table
    replaced: int
    segment: int
    masks: list[Mask]
    reason: str | None


def next_index(before: str, dataset: str, *, output: str, options: PipelineOptions) -> Manifest | None:
    """Write the index of a dataset from an index of other questions by the same encoder, and return its manifest.

    The index before stays as it is. It need not stay: the next one shares no folder with it.

    Args:
        before: URL of the index to start from.
        dataset: URL of the dataset whose questions the new one has, and no others.
        output: URL of the new index.
        options: Beam's.

    Returns:
        None where the index should be built again, by the rules of `advice`: too many rows are deleted, there are too
        many segments, its lists are out of balance, or it has more than twice the questions of its first segment.

    Raises:
        QprError: the index or the dataset is damaged, or the output cannot be written.
    """
    base = Base.of(before)
    change = difference(base, dataset)
    if change.reason:
        say(f"building the index again: {change.reason}")
        return None
    with Output(output, "index", overwrite=True) as target:
        added = _add(target, base, change, options)
        kept = [file for file in base.kept if file.table not in (SHARDS, IDS) or segment_of(file.path) < change.segment]
        files = [*(share_file(before, file, target) for file in kept), *added.files]
        if dead := sum(int(mask.sum()) for mask in change.masks):
            content = tombstones([*change.masks, *(np.zeros(len(ids), bool) for ids in added.ids)])
            files.append(target.write(f"{TOMBSTONES}.bin", content, table=TOMBSTONES, rows=dead))
        held = int(np.count_nonzero(change.holders != _NEW))
        changed = len(change.ids) - held
        counters = {
            "questions_read": len(change.ids),
            "questions_added": changed - change.replaced,
            "questions_replaced": change.replaced,
            "questions_unchanged": held,
            "questions_deleted": len(base.index) - held - change.replaced,
            "questions_encoded": len(change.rows),
        }
        check_sum(counters | {"written": sum(map(len, added.ids))}, "questions_encoded", "written")
        manifest, _ = publish(
            target,
            base,
            files,
            base.settings.model_copy(update={"questions": len(change.ids)}),
            inputs=_inputs(dataset, base).sources,
            counters=counters,
        )
    return manifest


def difference(base: Base, dataset: str) -> Change:
    """Return what a dataset changes in an index.

    Args:
        base: the index.
        dataset: URL.

    Raises:
        QprError: a file of the dataset is missing or damaged.
    """
    segments = np.array([segment_of(file.path) for file in in_order(base.manifest.of(SHARDS))])
    of_row = np.repeat(segments, [len(shard) for shard in base.index.shards])
    ids, holders, loose, replaced, rejected = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [], 0, 0
    for file in _inputs(dataset, base).files:
        for read in read_questions(file):
            rejected += len(read.rejects)
            numbers = read.rows["question_id"].to_numpy()
            place = base.index.rows_of(numbers)
            there = place >= 0
            stored = base.index.questions(place[there]).select(read.rows.column_names)
            same = np.zeros(len(numbers), bool)
            same[there] = equal_rows(read.rows.filter(pa.array(there)), stored)
            held = np.where(same, of_row[place], _NEW)
            replaced += int(np.count_nonzero(there & ~same))
            ids.append(numbers)
            holders.append(held)
            loose.append(read.rows.append_column("holder", pa.array(held)).filter(pa.array(held != 0)))
    every, held_by = np.concatenate(ids), np.concatenate(holders)
    first_loose = _next_segment(held_by, int(segments.max()))
    table = pa.concat_tables(loose).combine_chunks()
    of_table = table["holder"].to_numpy()
    rows = table.filter(pa.array((of_table == _NEW) | (of_table >= first_loose))).drop_columns("holder")
    masks = [
        ~np.isin(of_shard, every[held_by == segment])
        for of_shard, segment in zip(base.index.question_ids, segments, strict=True)
        if segment < first_loose
    ]
    reason = _reason(base, masks, segments[segments < first_loose], rows=len(rows), first=held_by == 0)
    if rejected:
        reason = f"the dataset has {counted(rejected, 'question')} that cannot be indexed"
    return Change(every, held_by, rows.sort_by("question_id"), replaced, first_loose, masks, reason)


def _next_segment(holders: Ints, last: int) -> int:
    """Return the number of the next segment: those before it have more live rows than it, the first one aside."""
    size, number = int(np.count_nonzero(holders == _NEW)), last + 1
    while number > 1 and (live := int(np.count_nonzero(holders == number - 1))) <= size:
        size, number = size + live, number - 1
    return number


def _reason(base: Base, masks: list[Mask], segments: Ints, *, rows: int, first: Mask) -> str | None:
    """Return why an index should be built again instead of changed, or None."""
    if grown := shape_of(base.index, base.manifest).grown_list:
        return grown
    live = int(first.sum())
    if live < len(first) - live:
        return f"its first segment would have {live:,} of {counted(len(first), 'question')}"
    dead, every = sum(int(mask.sum()) for mask in masks), rows + sum(map(len, masks))
    if dead >= DELETED_SHARE * every:
        return f"{dead / every:.0%} of its rows would be deleted"
    if len(set(segments.tolist())) + bool(rows) > SEGMENTS:
        return f"it would have over {counted(SEGMENTS, 'segment')}"
    return None


def _add(target: Output, base: Base, change: Change, options: PipelineOptions) -> Added:
    """Write the next segment."""
    if not len(change.rows):
        return NOTHING
    content = arrow_bytes(stored_rows(change.rows))
    file = target.write(f"{_CHANGED}/rows.arrow", content, table=IDS, rows=len(change.rows))
    added = add_segment(
        target,
        base,
        [SegmentFile(target.url, file, filters=base.settings.filters)],
        number=change.segment,
        unchanged=None,
        message=f"Adding {counted(len(change.rows), 'question')} to the index",
        options=options,
    )
    storage.delete(storage.join(target.run_url, _CHANGED))
    return added


def _inputs(dataset: str, base: Base) -> QuestionInputs:
    return question_files([dataset], {}, files_of=lambda _: [], filters=base.settings.filters)
