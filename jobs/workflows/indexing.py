"""Work behind `qpr index`: run the pipeline with a model and FAISS, publish what it wrote, print it.

question files, model URL -> build_index -> index, with a confidence model where there are queries for it
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobs.display.console import emit, say, two_columns, warn, working
from jobs.options.inputs import input_files
from jobs.workflows.confidence import FittedConfidence, fit_confidence, validation_clusters
from jobs.workflows.index_counters import OF_DATASETS, answer_warnings, check_readable, input_notes, reject_reasons
from jobs.workflows.next_steps import next_search
from jobs.workflows.search_modes import with_mode
from jobs.workflows.sizing.coding import with_codes
from jobs.workflows.sizing.index_plan import plan_of, show_plan
from jobs.workflows.sizing.indexed_model import IndexedModel
from jobs.workflows.sizing.probe_tuning import with_probes
from jobs.workflows.worker_encoder import WorkerEncoder
from model.confidence.wordings import wordings_of
from model.index.factory import check_questions, default_factory, most_probes
from model.index.index import Index
from model.index.lexical_files import write_lexical
from model.index.settings import IndexSettings
from model.index.shard_builder import ShardBuilder
from model.index.shards import new_index
from model.search.opening import open_index
from pipelines.graphs.index import ShardedQuestions, write_shards
from pipelines.reading.index_inputs import DatasetFile, QuestionInputs, ignored_notes, question_files
from pipelines.writing.run_report import Report, check_sum
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
    inputs = _question_inputs(questions, settings)
    indexed_model = IndexedModel.of(model)
    _check_factory(settings.factory, inputs, indexed_model)
    if dry_run:
        show_plan(output, inputs, indexed_model, settings, overwrite=overwrite, as_json=as_json)
        return None
    factory, shards = _planned(inputs, indexed_model, settings)
    builder = ShardBuilder(indexed_model.dimension, factory)
    with Output(output, "index", overwrite=overwrite) as target:
        with working(f"Indexing {counted(len(inputs.files), 'file')} of questions in {counted(shards, 'shard')}"):
            encode = WorkerEncoder(indexed_model.url, indexed_model.digest)
            sharded = ShardedQuestions(inputs.files, shards, encode, builder)
            report = write_shards(target, sharded, encoder_digest=indexed_model.digest, options=options)
        counters = _counters(report, inputs, max_reject_ratio)
        indexed = counters["questions_indexed"]
        unmeasured = _settings(settings, indexed_model, builder.factory_for(indexed), questions=indexed, shards=shards)
        files = [*with_codes(target, report.files, unmeasured.factory), *indexed_model.copy_to(target)]
        files += write_lexical(target, report.files) if settings.bm25 else []
        draft = target.manifest(
            files,
            inputs=[*inputs.sources, Source(url=model, digest=indexed_model.digest)],
            configuration=unmeasured.model_dump(exclude_none=True),
            counters=counters | {"columns_ignored": len(inputs.ignored_columns)},
        )
        datasets = {file.url: file.values for file in inputs.files if isinstance(file, DatasetFile)}
        published, fitted, opened = _measure(target, draft, settings, unmeasured, datasets)
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


def _question_inputs(questions: Sequence[str], settings: IndexConfig) -> QuestionInputs:
    """Return the inputs of an index; columns that are ignored are reported."""
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
    return inputs


def _check_factory(factory: str | None, inputs: QuestionInputs, model: IndexedModel) -> None:
    """Check that FAISS can build a given factory, and that there are enough questions where that is known."""
    if factory is None:
        return
    new_index(factory, model.dimension)
    in_datasets = [file.file.rows for file in inputs.files if isinstance(file, DatasetFile)]
    if len(in_datasets) == len(inputs.files):  # manifests count the rows of datasets; tables are not counted yet
        check_questions(factory, sum(in_datasets))


def _planned(inputs: QuestionInputs, model: IndexedModel, settings: IndexConfig) -> tuple[str | None, int]:
    """Return factory and number of shards; without a factory the number of questions left after merging decides."""
    if settings.memory_mb is None:
        return settings.factory, settings.shards
    size, plan = plan_of(inputs, model, settings, timed=False)
    by_size = default_factory(size.questions, size.dimension)
    return settings.factory if plan.factory == by_size else plan.factory, plan.shards


def _settings(
    settings: IndexConfig, model: IndexedModel, factory: str, *, questions: int, shards: int
) -> IndexSettings:
    """Return the settings of an index before its searches are measured."""
    return IndexSettings(
        model_digest=model.digest,
        factory=factory,
        probes=min(settings.probes or 1, most_probes(factory)),
        dimension=model.dimension,
        questions=questions,
        shards=shards,
        distance=model.distance,
        model_url=model.address,
        vary_by=settings.vary_by or None,
        valid_until=settings.valid_until,
        answerable_share=settings.answerable_share,
    )


def _measure(
    target: Output,
    draft: Manifest,
    settings: IndexConfig,
    unmeasured: IndexSettings,
    datasets: Mapping[str, Sequence[str]],
) -> tuple[IndexSettings, FittedConfidence, Callable[[], Index]]:
    """Search the index of a draft; return its settings with probes and mode, its confidence model, and its opener."""
    written = functools.cache(lambda: open_index(target.url, manifest=draft))  # only where it is searched
    latency_ms = settings.latency_ms
    measured = with_probes(unmeasured, written, probes=settings.probes, recall=settings.recall, latency_ms=latency_ms)
    opened = functools.cache(lambda: dataclasses.replace(written(), probes=measured.probes))
    clusters = validation_clusters(datasets) if datasets else wordings_of(opened())
    share, by_answer = settings.answerable_share, not datasets
    fitted = fit_confidence(clusters, target, opened, answerable_share=share, by_answer=by_answer)
    published = with_mode(measured, clusters, draft, opened, folds=fitted.folds, latency_ms=latency_ms)
    return published, fitted, opened


def _counters(report: Report, inputs: QuestionInputs, max_reject_ratio: float) -> dict[str, int]:
    """Return the counters of a run.

    Raises:
        QprError: too few rows are usable.
    """
    counters = dict.fromkeys(COUNTERS, 0) | {n: c for n, c in report.counters.items() if n not in OF_DATASETS}
    check_sum(counters, *COUNTERS)
    check_readable(counters, [source.url for source in inputs.sources], max_reject_ratio)
    if not counters["questions_indexed"]:
        where = ", ".join(source.url for source in inputs.sources)
        raise QprError(f"{where}: no question with a word to index{reject_reasons(counters)}. Check --questions")
    return counters


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
    for warning in answer_warnings(manifest.counters):
        warn(warning)
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
