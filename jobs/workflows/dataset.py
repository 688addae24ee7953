"""Common part of ``qpr clusters`` and ``qpr quora``: run the pipeline, publish the dataset and print its summary.

sources, configuration, steps -> make_dataset -> dataset
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import rich.console

from jobs.display.console import emit, say, warn, working
from jobs.workflows.next_steps import next_steps
from schemas.artifacts import storage
from schemas.artifacts.manifest import REPORTS
from schemas.artifacts.writer import Output
from schemas.quantities import counted

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.from_logs import ClustersConfig
    from pipelines.graphs.from_pairs import QuoraConfig
    from pipelines.reading.sources import Source
    from pipelines.summary.run_summary import RunSummary
    from schemas.artifacts.manifest import Manifest


def make_dataset(
    build: Callable[[beam.Pipeline, str], None],
    *,
    sources: Sequence[Source],
    configuration: ClustersConfig | QuoraConfig,
    output: str,
    overwrite: bool,
    options: PipelineOptions,
    max_reject_ratio: float,
    questions_a_row: int = 1,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Claim the output, run the pipeline, publish what it wrote and print it; or print what would be done.

    Args:
        build: adds the steps to a pipeline; its second argument is the run's folder.
        sources: the input files, their columns checked.
        configuration: settings of the run, stored in the manifest.
        output: folder of the dataset.
        overwrite: replace the dataset that is there.
        options: of Apache Beam.
        max_reject_ratio: maximum share of rejected rows of a run that is published.
        questions_a_row: number of questions in an input row.
        dry_run: print inputs, estimated rows and options instead, after the checks that cost nothing.
        as_json: print for a program.

    Raises:
        QprError: the output cannot be claimed, or the run is not worth publishing.
    """
    if dry_run:
        from jobs.display.terminal_tables import terminal_table
        from jobs.workflows.dry_run import dataset_dry_run, dataset_tables, show_dry_run

        result = dataset_dry_run(
            sources=sources, configuration=configuration, output=output, overwrite=overwrite, options=options
        )
        show_dry_run(
            result, as_json=as_json, table=lambda: rich.console.Group(*map(terminal_table, dataset_tables(result)))
        )
        return
    from jobs.display.html_report import dataset_page
    from pipelines.graphs.publish import run_and_publish

    size = f"{counted(len(sources), 'file')}, {counted(sum(s.bytes for s in sources), 'byte')}"
    message = f"Clustering {size}, in {counted(configuration.shards, 'part')}"
    seen: list[RunSummary] = []

    def page(summary: RunSummary) -> bytes:
        seen.append(summary)
        return dataset_page(summary)

    try:
        with Output(output, "dataset", overwrite=overwrite) as target, working(message):
            manifest = run_and_publish(
                build,
                output=target,
                sources=sources,
                configuration=configuration,
                leakage=configuration.assembly.leakage,
                options=options,
                max_reject_ratio=max_reject_ratio,
                questions_a_row=questions_a_row,
                page=page,
            )
    finally:  # the warnings of a refused run help to find its cause
        for summary in seen:
            for warning in summary.warnings:
                warn(warning)
    _show(output, manifest, seen[-1], as_json=as_json)


def _show(url: str, manifest: Manifest, summary: RunSummary, *, as_json: bool) -> None:
    """Print the tables of a run, the places of its files and report, and the next commands."""
    from jobs.display.summary_tables import rows_per_second
    from jobs.display.terminal_tables import dataset_tables
    from pipelines.summary.fallbacks import as_json as fallbacks_as_json
    from pipelines.summary.value_notes import value_notes

    [page] = [storage.join(url, file.path) for file in manifest.of(REPORTS)]
    result = {
        "dataset": url,
        "run_id": manifest.run_id,
        "digest": manifest.digest,
        "report": page,
        "seconds": manifest.seconds,
        "rows_per_second": rows_per_second(manifest.counters["rows_read"], manifest.seconds),
        "counters": manifest.counters,
        "distributions": manifest.distributions,
        "warnings": summary.warnings,
        "fallback_answers": fallbacks_as_json(summary.fallbacks, rows=manifest.counters["rows_read"]),
    }
    emit(result, as_json=as_json, table=lambda: dataset_tables(url, manifest))
    for note in value_notes(manifest.counters):
        say(note)
    say(f"Files: {storage.join(url, manifest.run_id)}; what is in them: {storage.join(url, 'manifest.json')}")
    say(f"See it in a browser: {page}")
    for line in next_steps(url, manifest.counters):
        say(line)
