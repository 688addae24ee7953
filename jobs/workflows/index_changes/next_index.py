"""Index of the next dataset: files of the index before, one more segment of what is new or changed, and tombstones.

index, dataset -> next_index -> another index of all questions of the dataset, or None where a new build is due

A question that is there with another answer, cluster or number of events keeps its vector: only the id table is
written again. Where the last segments together are no larger than what is new, their questions go into the new segment.
So the sizes of segments fall by half at least, their number grows with the logarithm of the nights, and a question is
encoded as often.
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
from jobs.workflows.sizing.probe_tuning import with_present_recall
from model.index.segments.layout import in_order, segment_of, tombstones
from pipelines.graphs.index import stored_rows
from pipelines.reading.index_inputs import SegmentFile, question_files
from pipelines.reading.index_questions import read_questions
from pipelines.writing.run_report import check_sum
from schemas.arrays import Bools, Int64s
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Manifest, Source
from schemas.artifacts.shared_files import share_file
from schemas.artifacts.table_files import arrow_bytes
from schemas.artifacts.writer import Output
from schemas.quantities import counted
from schemas.tables import IDS, SHARDS, TOMBSTONES, take_rows

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

_CHANGED: Final = "changed"
"""Folder of the rows to encode in the folder of a run; publication leaves none."""

_NEW: Final = -1
"""Segment of a question that has to be encoded; segments are numbered from 0."""


@dataclasses.dataclass(frozen=True)
class Change:
    """Difference of a dataset and an index.

    Attributes:
        rows: of all questions of the dataset, ascending by id.
        holders: for each of them the segment that has its vector, or -1.
        replaced: number of those with -1 that the index has with another text.
        segment: number of the next segment; those from it on are left out.
        masks: of each shard of the segments before it, the rows that are deleted afterwards.
        reason: to build the index again instead; None where there is none.
        sources: the dataset, as it was read.
    """

    rows: pa.Table
    holders: Int64s
    replaced: int
    segment: int
    masks: list[Bools]
    reason: str | None
    sources: list[Source]

    @property
    def to_encode(self) -> pa.Table:
        """Return the rows of the next segment."""
        return self.rows.filter(pa.array(_of_next(self.holders, self.segment)))


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
        kept = [file for file in base.kept if segment_of(file.path) < change.segment]
        tables = _id_tables(target, base, change)
        files = [*tables.values(), *added.files]
        files += [share_file(before, file, target) for file in kept if file.path not in tables]
        if dead := sum(int(mask.sum()) for mask in change.masks):
            content = tombstones([*change.masks, *(np.zeros(len(ids), bool) for ids in added.ids)])
            files.append(target.write(f"{TOMBSTONES}.bin", content, table=TOMBSTONES, rows=dead))
        counters = _counters(base, change)
        check_sum(counters | {"written": sum(map(len, added.ids))}, "questions_encoded", "written")
        manifest, _ = publish(
            target,
            base,
            files,
            base.settings.model_copy(update={"questions": len(change.rows)}),
            inputs=change.sources,
            counters=counters,
            tune=with_present_recall if added.files else None,
        )
    return manifest


def difference(base: Base, dataset: str) -> Change:
    """Return the difference of a dataset and an index.

    Args:
        base: the index.
        dataset: URL.

    Raises:
        QprError: a file of the dataset is missing or damaged.
    """
    inputs = question_files([dataset], {}, files_of=lambda _: [], filters=base.settings.filters)
    read = [batch for file in inputs.files for batch in read_questions(file)]
    every = pa.concat_tables([batch.rows for batch in read])
    rows = take_rows(every, np.argsort(every["question_id"].to_numpy(), kind="stable")).combine_chunks()
    segments = np.array([segment_of(file.path) for file in in_order(base.manifest.of(SHARDS))])
    of_row = np.repeat(segments, [len(shard) for shard in base.index.shards])
    ids = rows["question_id"].to_numpy()
    place = base.index.rows_of(ids)
    indexed = place >= 0
    same = np.zeros(len(ids), bool)
    stored = base.index.questions(place[indexed])
    same[indexed] = equal_rows(rows.select(["text"]).filter(pa.array(indexed)), stored)
    holders = np.where(same, of_row[place], _NEW)
    segment = _next_segment(holders, int(segments.max()))
    kept = segments < segment
    masks = [
        ~np.isin(of_shard, ids[holders == number])
        for of_shard, number in zip(base.index.question_ids, segments, strict=True)
        if number < segment
    ]
    reason = _reason(base, masks, holders, segments=len(set(segments[kept].tolist())), segment=segment)
    if rejected := sum(len(batch.rejects) for batch in read):
        reason = f"the dataset has {counted(rejected, 'question')} that cannot be indexed"
    return Change(rows, holders, int(np.count_nonzero(indexed & ~same)), segment, masks, reason, inputs.sources)


def _next_segment(holders: Int64s, last: int) -> int:
    """Return the number of the next segment: those before it have more live rows than it, the first one aside."""
    size, number = int(np.count_nonzero(holders == _NEW)), last + 1
    while number > 1 and (live := int(np.count_nonzero(holders == number - 1))) <= size:
        size, number = size + live, number - 1
    return number


def _of_next(holders: Int64s, segment: int) -> Bools:
    mask: Bools = (holders == _NEW) | (holders >= segment)
    return mask


def _reason(base: Base, masks: list[Bools], holders: Int64s, *, segments: int, segment: int) -> str | None:
    """Return why an index should be built again instead of changed, or None."""
    if stale := shape_of(base.index, base.manifest).stale_centroids:
        return stale
    first, added = int(np.count_nonzero(holders == 0)), int(_of_next(holders, segment).sum())
    if first < len(holders) - first:
        return f"its first segment would have {first:,} of {counted(len(holders), 'question')}"
    dead, every = sum(int(mask.sum()) for mask in masks), added + sum(map(len, masks))
    if dead >= DELETED_SHARE * every:
        return f"{100 * dead / every:.0f} % of its rows would be deleted"
    if segments + bool(added) > SEGMENTS:
        return f"it would have over {counted(SEGMENTS, 'segment')}"
    return None


def _counters(base: Base, change: Change) -> dict[str, int]:
    held = int(np.count_nonzero(change.holders != _NEW))
    changed = len(change.rows) - held
    return {
        "questions_read": len(change.rows),
        "questions_added": changed - change.replaced,
        "questions_replaced": change.replaced,
        "questions_kept": held,
        "questions_deleted": len(base.index) - held - change.replaced,
        "questions_encoded": int(_of_next(change.holders, change.segment).sum()),
    }


def _add(target: Output, base: Base, change: Change, options: PipelineOptions) -> Added:
    """Write the next segment."""
    rows = change.to_encode
    if not len(rows):
        return NOTHING
    file = target.write(f"{_CHANGED}/rows.arrow", arrow_bytes(stored_rows(rows)), table=IDS, rows=len(rows))
    added = add_segment(
        target,
        base,
        [SegmentFile(target.url, file, b"", base.settings.filters)],
        number=change.segment,
        unchanged=None,
        message=f"Adding {counted(len(rows), 'question')} to the index",
        options=options,
    )
    storage.delete(storage.join(target.run_url, _CHANGED))
    return added


def _id_tables(target: Output, base: Base, change: Change) -> dict[str, File]:
    """Write the id tables of which a column changed; return them by the path of the table before."""
    ids, start, written = change.rows["question_id"].to_numpy(), 0, {}
    for file, of_shard in zip(in_order(base.manifest.of(IDS)), base.index.question_ids, strict=True):
        number = segment_of(file.path)
        if number < change.segment:
            stored = base.index.questions(np.arange(start, start + len(of_shard))).select(change.rows.column_names)
            place = np.minimum(np.searchsorted(ids, of_shard), len(ids) - 1)
            live = (ids[place] == of_shard) & (change.holders[place] == number)
            both = pa.concat_tables([change.rows, stored])
            table = take_rows(both, np.where(live, place, len(ids) + np.arange(len(of_shard))))
            if not equal_rows(table, stored).all():
                content = arrow_bytes(stored_rows(table))
                path = file.path.partition("/")[2]
                written[file.path] = target.write(path, content, table=IDS, rows=len(table))
        start += len(of_shard)
    return written
