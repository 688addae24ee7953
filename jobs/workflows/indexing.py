"""Work behind `qpr index`: run the pipeline with a model and FAISS, publish what it wrote, print it.

question files, model URL -> build_index -> index, with a confidence model where there are queries for it
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.display.console import emit, say, two_columns, working
from jobs.options.inputs import input_files
from jobs.workflows.confidence import fit_confidence
from jobs.workflows.next_steps import next_search
from jobs.workflows.search_modes import with_mode
from jobs.workflows.sizing.coding import with_codes
from jobs.workflows.sizing.index_plan import plan_of, show_plan
from jobs.workflows.sizing.indexed_model import IndexedModel
from jobs.workflows.sizing.probe_tuning import with_probes
from jobs.workflows.worker_encoder import WorkerEncoder
from model.confidence.wordings import wordings_of
from model.index.factory import check_questions, default_factory, most_probes
from model.index.lexical_files import write_lexical
from model.index.settings import IndexSettings
from model.index.shard_builder import ShardBuilder
from model.index.shards import new_index
from model.search.opening import open_index
from pipelines.engine.runner import run
from pipelines.graphs.index import build
from pipelines.reading.index_inputs import DatasetFile, ignored_notes, question_files
from pipelines.summary.faults import fault_of_rows
from pipelines.writing.finished_shards import FinishedShards
from pipelines.writing.run_report import check_sum, read_report
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Manifest, Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.tables import CONFIDENCE

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IndexConfig

COUNTERS = ("questions_read", "questions_indexed", "questions_merged", "questions_rejected")
"""The first is the sum of the others."""

OF_DATASETS = ("rows_rejected", "members_rejected")
"""Counters of a rejected table that mean rows of logs and of clusters."""


def build_index(
    questions: Sequence[str],
    settings: IndexConfig,
    *,
    model: str,
    output: str,
    overwrite: bool,
    options: PipelineOptions,
    max_reject_ratio: float = 1.0,
    as_json: bool = False,
    dry_run: bool = False,
    show: bool = True,
) -> Manifest | None:
    """Build an index, publish it, print its counters and return its manifest; or print its plan and return None.

    Args:
        questions: datasets, and files and globs of questions.
        settings: of the reading and of the index.
        model: URL of the model.
        output: folder of the index.
        overwrite: replace the index that is there.
        options: Beam's.
        max_reject_ratio: maximum share of rows that cannot be read.
        as_json: print for a program.
        dry_run: print the plan and write nothing.
        show: print the counters.

    Raises:
        QprError: a file or the model cannot be read, no index is within the memory, too few rows are usable, or
            the output cannot be claimed.
        UsageError: FAISS cannot build the factory, or an option describes tables and there is none.
    """
    file_options = {"valid-until": settings.valid_until, "delimiter": settings.delimiter, "encoding": settings.encoding}
    inputs = question_files(
        questions,
        settings.column_names,
        files_of=lambda url: input_files([url], settings, example=""),
        file_options=[f"--{name} {value}" for name, value in file_options.items() if value is not None],
        filters=settings.filters,
    )
    for note in ignored_notes(inputs):
        say(note)
    indexed_model = IndexedModel.of(model)
    if settings.factory is not None:
        new_index(settings.factory, indexed_model.dimension)
        in_datasets = [file.file.rows for file in inputs.files if isinstance(file, DatasetFile)]
        if len(in_datasets) == len(inputs.files):  # manifests count the rows of datasets; tables are not counted yet
            check_questions(settings.factory, sum(in_datasets))
    if dry_run:
        show_plan(output, inputs, indexed_model, settings, overwrite=overwrite, as_json=as_json)
        return None
    factory, shards = settings.factory, settings.shards
    if settings.memory_mb is not None:
        plan_size, plan = plan_of(inputs, indexed_model, settings, timed=False)
        shards = plan.shards
        by_size = default_factory(plan_size.questions, plan_size.dimension)
        if plan.factory != by_size:  # else by the number that is left after merging
            factory = plan.factory
    builder = ShardBuilder(indexed_model.dimension, factory)
    message = f"Indexing {counted(len(inputs.files), 'file')} of questions in {counted(shards, 'shard')}"
    with Output(output, "index", overwrite=overwrite) as target:
        encode = WorkerEncoder(model, indexed_model.digest)
        parts = functools.partial(build, files=inputs.files, run_url=target.run_url, shards=shards)
        finished = FinishedShards.of(target, indexed_model.digest)
        with working(message):
            run(functools.partial(parts, encode=encode, builder=builder, finished=finished), options)
        finished.forget()
        report = read_report(target)
        counters = dict.fromkeys(COUNTERS, 0) | {n: c for n, c in report.counters.items() if n not in OF_DATASETS}
        check_sum(counters, *COUNTERS)
        check_readable(counters, [source.url for source in inputs.sources], max_reject_ratio)
        indexed = counters["questions_indexed"]
        if not indexed:
            where = ", ".join(source.url for source in inputs.sources)
            raise QprError(f"{where}: no question with a word to index{reject_reasons(counters)}. Check --questions")
        built = builder.factory_for(indexed)
        published = IndexSettings(
            model_digest=indexed_model.digest,
            factory=built,
            probes=min(settings.probes or 1, most_probes(built)),
            dimension=indexed_model.dimension,
            questions=indexed,
            shards=shards,
            distance=indexed_model.distance,
            model_url=model if indexed_model.manifest is None else None,
            vary_by=settings.vary_by or None,
            valid_until=settings.valid_until,
            answerable_share=settings.answerable_share,
        )
        files = [*with_codes(target, report.files, built), *indexed_model.copy_to(target)]
        files += write_lexical(target, report.files) if settings.bm25 else []
        draft = target.manifest(
            files,
            inputs=[*inputs.sources, Source(url=model, digest=indexed_model.digest)],
            configuration=published.model_dump(exclude_none=True),
            counters=counters | {"columns_ignored": len(inputs.ignored_columns)},
        )
        datasets = {file.url: None for file in inputs.files if isinstance(file, DatasetFile)}
        written = functools.cache(lambda: open_index(target.url, manifest=draft))  # only where it is searched
        published = with_probes(
            published, written, probes=settings.probes, recall=settings.recall, latency_ms=settings.latency_ms
        )
        opened = functools.cache(lambda: dataclasses.replace(written(), probes=published.probes))
        clusters = validation_clusters([*datasets]) if datasets else wordings_of(opened())
        share, by_answer = settings.answerable_share, not datasets
        fitted = fit_confidence(clusters, target, opened, answerable_share=share, by_answer=by_answer)
        if not settings.vary_by:  # ways are compared by searches of all rows, which such an index does not have
            published = with_mode(
                published, clusters, draft, opened, folds=fitted.folds, latency_ms=settings.latency_ms
            )
        manifest = target.publish(
            [*files, *fitted.files],
            inputs=draft.inputs,
            configuration=published.model_dump(exclude_none=True),
            counters=draft.counters | fitted.counters,
            distributions=fitted.distributions,
        )
    if show:
        _show(output, manifest, ignored=inputs.ignored_columns, as_json=as_json)
        say(f"Next: {next_search(output, opened())}")
    return manifest


def validation_clusters(datasets: Sequence[str]) -> pa.Table:
    """Return ids and texts of the validation clusters of datasets, at least one."""
    columns = ["question_ids", "texts"]
    return pa.concat_tables(
        open_dataset(url).table("clusters", columns=columns, split="validation") for url in datasets
    )


def _show(url: str, manifest: Manifest, *, ignored: list[str], as_json: bool) -> None:
    result = {
        "index": url,
        "digest": manifest.digest,
        "seconds": manifest.seconds,
        "counters": manifest.counters,
        "confidence": manifest.distributions.get(CONFIDENCE),
        "ignored_columns": ignored,
        "configuration": manifest.configuration,
    }
    for note in input_notes(manifest.counters):
        say(note)
    configuration = manifest.configuration
    rows = {**manifest.counters, "factory": configuration["factory"], "mode": configuration["mode"]}
    if recall := configuration.get("recall"):
        rows |= {"probes": configuration["probes"], "recall@10": f"{recall['at_10']:.4f}"}
        if recall.get("reworded_at_10") is not None:
            rows["recall@10, new wordings"] = f"{recall['reworded_at_10']:.4f}"
    for name, figures in configuration["modes"].items():
        rows[f"MRR, {name}"] = f"{figures['mrr']:.4f} in {figures['median_ms']:.2f} computed ms a query"
    rows["seconds"] = manifest.seconds
    emit(result, as_json=as_json, table=lambda: two_columns(url, rows))


def check_readable(counters: Mapping[str, int], urls: Sequence[str], max_reject_ratio: float) -> None:
    """Check that most rows of the question files can be read; rows of a table may well lack a question.

    Args:
        counters: of the run.
        urls: of the files.
        max_reject_ratio: maximum share of rows that cannot be read.

    Raises:
        QprError: too many cannot.
    """
    unreadable = {name: count for name, count in counters.items() if name.startswith("rejected_read_")}
    rows = {"rows_read": counters["questions_read"], "rows_rejected": sum(unreadable.values())}
    if unreadable and (fault := fault_of_rows(unreadable | rows, urls, max_reject_ratio)):
        raise QprError(fault)


def input_notes(counters: dict[str, int]) -> Iterator[str]:
    """Yield a line for a person about each kind of input that is not in the index."""
    if rejected := counters.get("questions_rejected"):
        yield f"not indexed, and in the index's table rejected: {counted(rejected, 'row')}{reject_reasons(counters)}"
    if others := counters.get("rejected_merge_other_answer"):
        yield (
            f"in the index's table rejected: {counted(others, 'row')} with another answer to a question than the one "
            "indexed, the most frequent"
        )
    for column, kind in (("cluster_id", "a 64-bit integer"), ("events", "a whole number from 0 to 2**53")):
        if unreadable := counters.get(f"unreadable_{column}"):
            yield f"{column}: {counted(unreadable, 'value')} cannot be read as {kind}; indexed without it"


def reject_reasons(counters: dict[str, int]) -> str:
    """Return the number of rejected rows by reason, in brackets; nothing if none was rejected."""
    reasons = [
        f"{count:,} {name.split('_', 2)[2]}"
        for name, count in sorted(counters.items())
        if name.startswith(("rejected_read_", "rejected_validate_"))
    ]
    return f" ({', '.join(reasons)})" if reasons else ""
