"""Work behind `qpr index --compact`: one segment of the live rows, on centroids that they train.

index -> compact_index -> the next version of the index
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobs.display.console import say, working
from jobs.workflows.index_changes.additions import encoder_of
from jobs.workflows.index_changes.advice import Shape, shape_of
from jobs.workflows.index_changes.counted_words import reduced_confidence, with_reduced
from jobs.workflows.index_changes.publication import Base, publish, show
from jobs.workflows.sizing.coding import with_codes
from jobs.workflows.sizing.probe_tuning import with_probes
from model.index.factory import default_factory, most_probes
from model.index.segments.layout import in_order, segment_of, tombstones
from model.index.shard_builder import ShardBuilder
from model.index.shards import new_index
from model.index.sizing.planning import Size, planned
from pipelines.graphs.index import ShardedQuestions, write_shards
from pipelines.reading.index_inputs import SegmentFile
from pipelines.writing.run_report import check_sum
from schemas.arrays import Int64s
from schemas.artifacts.manifest import Manifest, read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.tables import CODES, IDS, LEXICAL, MODEL, SHARDS

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IndexConfig


def compact_index(url: str, *, settings: IndexConfig, options: PipelineOptions, as_json: bool) -> None:
    """Build the live rows of an index again as one segment, publish it and print the counters.

    The files of shards, ids and BM25 equal those of a new index of the same questions. An index of one segment without
    deleted rows stays as it is, unless a setting is given.

    Args:
        url: of the index.
        settings: those that were given replace the index's own.
        options: Beam's.
        as_json: print for a program.

    Raises:
        QprError: there is no index, it is damaged, or it is too small for the factory.
        UsageError: FAISS cannot build the factory.
    """
    read_manifest(url, "index")  # before a folder is made
    with Output(url, "index", change=True) as target:
        base = Base.of(url)
        shape = shape_of(base.index, base.manifest)
        if shape.segments == 1 and not shape.deleted_share and not settings.model_fields_set:
            target.abandon()
            say(f"{url}: has one segment and no deleted rows, so its version stays")
            show(url, base.manifest, shape, {}, as_json=as_json)
            return
        manifest, shape, counters = compact(target, base, settings=settings, options=options)
    show(url, manifest, shape, counters, as_json=as_json)


def compact(
    target: Output,
    base: Base,
    *,
    settings: IndexConfig,
    options: PipelineOptions,
    erased: Int64s | None = None,
) -> tuple[Manifest, Shape, dict[str, int]]:
    """Publish one segment of the live rows of an index; nothing of its other rows is left.

    Args:
        target: the locked index.
        base: its present version.
        settings: those that were given replace the index's own.
        options: Beam's.
        erased: ids of questions that are left out too.

    Raises:
        QprError: no question would be left, or the index is too small for the factory.
        UsageError: FAISS cannot build the factory.
    """
    gone = np.empty(0, np.int64) if erased is None else erased
    live = live_without(base, gone)
    if not live:
        raise QprError(
            f"{target.url}: nothing would be left of {counted(len(base.index), 'question')}. Remove the folder"
        )
    factory, shards = _within_memory(base, live, settings)
    if factory is not None:
        new_index(factory, base.settings.dimension)
    builder = ShardBuilder(base.settings.dimension, factory)
    sharded = ShardedQuestions(_live_files(base, gone), shards, encoder_of(base), builder)
    with working(f"Indexing {counted(live, 'question')} in {counted(shards, 'shard')}"):
        report = write_shards(target, sharded, encoder_digest=base.settings.model_digest, options=options)
    check_sum(report.counters | {"live": live}, "live", "questions_indexed")
    built = builder.factory_for(live)
    probes, recall = _probes(base, settings, same=built == base.settings.factory)
    compacted = base.settings.model_copy(
        update={
            "factory": built,
            "shards": shards,
            "probes": min(probes or 1, most_probes(built)),
            "questions": live,
            "recall": None,  # it was that of other lists
        }
    )
    files = with_codes(target, report.files, built)
    kept = [file for file in base.kept if file.table not in (SHARDS, CODES, IDS)]
    kept = with_reduced(target, kept, reduced_confidence(base, gone))
    manifest, shape = publish(
        target,
        base,
        [*kept, *files],
        compacted,
        inputs=[],
        counters=report.counters,
        tune=lambda built, index: with_probes(
            built, lambda: index, probes=probes, recall=recall, latency_ms=settings.latency_ms
        ),
        erased=() if erased is None else base.manifest.erased_on(),
    )
    return manifest, shape, report.counters


def live_without(base: Base, erased: Int64s) -> int:
    """Return the number of live rows of an index that are not of these ids."""
    return len(base.index) - int(np.count_nonzero(base.index.rows_of(erased) >= 0))


def _within_memory(base: Base, live: int, settings: IndexConfig) -> tuple[str | None, int]:
    """Return the factory, None for that of the size, and the number of shards: given, by the memory, or as they were.

    Raises:
        QprError: no plan is within the memory.
    """
    given = "shards" in settings.model_fields_set
    shards = settings.shards if given else base.settings.shards
    if settings.memory_mb is None:
        return settings.factory or (None if _has_preset(settings) else _given_factory(base)), shards
    tables = base.manifest.of(IDS)
    size = Size(
        questions=live,
        dimension=base.settings.dimension,
        text_bytes=sum(file.bytes for file in tables) / sum(file.rows for file in tables),
        model_bytes=sum(file.bytes for file in base.manifest.of(MODEL)),
        encode_us=0.0,  # the time is not asked for
        bm25=bool(base.manifest.of(LEXICAL)),
    )
    plan = planned(size, factory=settings.factory, shards=shards, more_shards=not given, memory_mb=settings.memory_mb)
    return plan.factory, plan.shards


def _probes(base: Base, settings: IndexConfig, *, same: bool) -> tuple[int | None, float]:
    """Return the number of lists to search, None for the fewest for a recall, and this recall; the index's by default.

    Args:
        base: the index.
        settings: those that were given.
        same: the factory stays, and with it a number of lists that was given when the index was built.
    """
    recorded, given = base.settings.recall, "recall" in settings.model_fields_set
    if recorded is None or given or settings.probes is not None:
        return settings.probes, settings.recall
    if recorded.target is None:  # the number was given
        return base.settings.probes if same and not _has_preset(settings) else None, settings.recall
    return None, recorded.target


def _has_preset(settings: IndexConfig) -> bool:
    """Return whether a preset was given; a factory or number of lists that it does not set is chosen as in a build."""
    return "preset" in settings.model_fields_set


def _given_factory(base: Base) -> str | None:
    """Return the factory of the index, None if it is that of the size of its first segment."""
    first = sum(file.rows for file in base.manifest.of(IDS) if not segment_of(file.path))
    return None if base.settings.factory == default_factory(first, base.settings.dimension) else base.settings.factory


def _live_files(base: Base, erased: Int64s) -> list[SegmentFile]:
    """Return the id tables of an index with their deleted and erased rows."""
    files = []
    for file, shard, ids in zip(
        in_order(base.manifest.of(IDS)), base.index.shards, base.index.question_ids, strict=True
    ):
        gone = np.isin(ids, erased)
        gone |= False if shard.live is None else np.logical_not(shard.live)
        deleted = tombstones([gone]) if gone.any() else b""
        files.append(SegmentFile(base.index.url, file, deleted, base.settings.filters))
    return files
