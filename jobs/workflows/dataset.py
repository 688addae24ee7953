"""Common part of ``qpr clusters`` and ``qpr quora``: run the pipeline, publish the dataset and print its summary.

sources, configuration, steps -> make_dataset -> dataset
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import rich.console

from jobs.display.console import emit, say, warn
from jobs.options.inputs import (
    check_inputs,
    check_users,
    input_files,
    note_ignored_columns,
    require_users,
    warn_of_partial_columns,
)
from jobs.options.secret_files import read_user_key
from jobs.workflows.dataset_publication import publish_dataset
from jobs.workflows.linkage import with_calibration
from jobs.workflows.next_steps import next_steps
from jobs.workflows.verdicts.reviewed_clusters import with_reviewed
from schemas.artifacts import storage
from schemas.artifacts.manifest import REPORTS
from schemas.errors import QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import ClustersConfig, QuoraConfig
    from pipelines.reading.sources import Source
    from pipelines.summary.run_summary import RunSummary
    from schemas.artifacts.manifest import Manifest


@dataclasses.dataclass(frozen=True)
class DatasetRun:
    """Output and engine of a command that makes a dataset.

    Attributes:
        output: folder of the dataset.
        options: of Beam.
        max_reject_ratio: with a larger share of rejected rows nothing is published.
        overwrite: replace an existing dataset.
        dry_run: print the plan instead, after the checks that cost nothing.
        as_json: print for a program.
    """

    output: str
    options: PipelineOptions
    max_reject_ratio: float
    overwrite: bool
    dry_run: bool
    as_json: bool


def dataset_of_logs(
    files: Sequence[str] | None,
    settings: ClustersConfig,
    run: DatasetRun,
    *,
    refine_with: str | None,
    calibration: str | None,
    precision: float | None,
    verdicts: str | None,
    user_key_file: str | None,
) -> None:
    """Make a dataset of log files.

    Args:
        files: paths, globs and URLs.
        settings: of the pipeline.
        run: output and engine.
        refine_with: model whose vectors are compared too.
        calibration: folder of learned weights and measured thresholds.
        precision: choose the threshold that reached it.
        verdicts: file of wrong clusters and strays, which are rejected.
        user_key_file: of the key of the hashes of users and questions that are written; that of the environment by
            default.

    Raises:
        UsageError: users are limited, and a file has no column of user ids.
        QprError: a file cannot be read, settings do not fit together, or the run is not worth publishing.
    """
    from pipelines.graphs import from_logs
    from pipelines.reading.headers.columns import LOG_COLUMNS, with_needed

    user_key = read_user_key(user_key_file)
    sources = input_files(files, settings, example="qpr clusters 'logs/*.jsonl.gz' --output dataset")
    columns = with_needed(LOG_COLUMNS, settings.validation.filters)
    columns_of = check_inputs(sources, columns, settings.column_names)
    note_ignored_columns(*next(iter(columns_of.items())), settings.column_names)
    warn_of_partial_columns(columns_of, settings.column_names)
    check_users(sources, columns_of, settings.column_names, settings.privacy.options_of_users)
    if user_key_file:
        _warn_without_users(sources, settings)
    calibrated, encode = with_calibration(
        settings, calibration=calibration, precision=precision, refine_with=refine_with
    )
    judged = calibrated if verdicts is None else with_reviewed(calibrated, verdicts)
    config = judged.for_files(sources)
    make_dataset(
        lambda pipeline, url: from_logs.build(
            pipeline, sources=sources, config=config, run_url=url, encode=encode, user_key=user_key
        ),
        sources=sources,
        configuration=config,
        run=run,
    )


def _warn_without_users(sources: Sequence[Source], settings: ClustersConfig) -> None:
    """Warn of a file without user ids, for which no hash of a user can be written."""
    try:
        require_users(sources, settings.column_names)
    except QprError as error:
        warn(f"--user-key-file has no effect on a file without user ids. {error}")


def dataset_of_pairs(files: Sequence[str] | None, settings: QuoraConfig, run: DatasetRun) -> None:
    """Make a dataset of files of labelled pairs.

    Raises:
        QprError: a file cannot be read, or the run is not worth publishing.
    """
    from pipelines.duplicates import labelled_pairs
    from pipelines.graphs import from_pairs

    sources = input_files(files, settings, example="qpr quora quora_duplicate_questions.tsv --output dataset")
    check_inputs(sources, labelled_pairs.COLUMNS, settings.column_names)
    config = settings.for_files(sources)
    make_dataset(
        lambda pipeline, url: from_pairs.build(pipeline, sources=sources, config=config, run_url=url),
        sources=sources,
        configuration=config,
        run=run,
    )


def make_dataset(
    build: Callable[[beam.Pipeline, str], None],
    *,
    sources: Sequence[Source],
    configuration: ClustersConfig | QuoraConfig,
    run: DatasetRun,
) -> None:
    """Claim the output, run the pipeline, publish what it wrote and print it; or print what would be done.

    Args:
        build: adds the steps to a pipeline; its second argument is the run's folder.
        sources: the input files, their columns checked.
        configuration: settings of the run, stored in the manifest.
        run: output and engine.

    Raises:
        QprError: the output cannot be claimed, or the run is not worth publishing.
    """
    if run.dry_run:
        from jobs.display.terminal_tables import terminal_table
        from jobs.workflows.dry_run import dataset_dry_run, dataset_tables, show_dry_run

        result = dataset_dry_run(
            sources=sources,
            configuration=configuration,
            output=run.output,
            overwrite=run.overwrite,
            options=run.options,
        )
        tables = dataset_tables(result)
        show_dry_run(result, as_json=run.as_json, table=lambda: rich.console.Group(*map(terminal_table, tables)))
        return
    size = f"{counted(len(sources), 'file')}, {counted(sum(s.bytes for s in sources), 'byte')}"
    manifest, summary = publish_dataset(
        build,
        url=run.output,
        overwrite=run.overwrite,
        message=f"Clustering {size}, in {counted(configuration.shards or 1, 'part')}",
        sources=sources,
        configuration=configuration,
        options=run.options,
        max_reject_ratio=run.max_reject_ratio,
    )
    _show(run.output, manifest, summary, as_json=run.as_json)


def _show(url: str, manifest: Manifest, summary: RunSummary, *, as_json: bool) -> None:
    """Print the tables of a run, the places of its files and report, and the next commands."""
    from jobs.display.summary_tables import rows_per_second
    from jobs.display.terminal_tables import dataset_tables
    from pipelines.questions.changed_answers import changes_as_json
    from pipelines.summary.answer_worth import answer_worth
    from pipelines.summary.answer_worth import as_json as worth_as_json
    from pipelines.summary.fallbacks import as_json as fallbacks_as_json
    from pipelines.summary.faults import selected_rows
    from pipelines.summary.incoherent_intents import as_json as intents_as_json
    from pipelines.summary.incoherent_intents import incoherent_intents
    from pipelines.summary.script_shares import as_json as shares_as_json
    from pipelines.summary.script_shares import script_shares
    from pipelines.summary.value_notes import value_warnings
    from pipelines.summary.worth_by_kind import as_json as answers_as_json
    from pipelines.summary.worth_by_kind import worth_of_answers, worth_of_kinds

    [page] = [storage.join(url, file.path) for file in manifest.of(REPORTS)]
    unread = value_warnings(manifest.counters)
    worth = answer_worth(manifest.counters, manifest.configuration, manifest.inputs)
    judged = summary.judged_answers if worth and worth.is_by_linkage else ()
    kinds = worth_of_kinds(manifest.counters) if worth and worth.is_by_linkage else ()
    result = {
        "dataset": url,
        "run_id": manifest.run_id,
        "digest": manifest.digest,
        "report": page,
        "seconds": manifest.seconds,
        "rows_per_second": rows_per_second(manifest.counters["rows_read"], manifest.seconds),
        "counters": manifest.counters,
        "distributions": manifest.distributions,
        "scripts": shares_as_json(script_shares(manifest.counters)),
        "answer_worth": worth_as_json(worth),
        "answers": answers_as_json(kinds, worth_of_answers(judged, manifest.counters)),
        "rejected_intents": intents_as_json(incoherent_intents(manifest.counters, manifest.configuration)),
        "warnings": [*summary.warnings, *unread],
        "fallback_answers": fallbacks_as_json(summary.fallbacks, rows=selected_rows(manifest.counters)),
        "changed_answers": changes_as_json(summary.changed_answers),
    }
    emit(result, as_json=as_json, table=lambda: dataset_tables(url, manifest))
    for warning in unread:
        warn(warning)
    say(f"Files: {storage.join(url, manifest.run_id)}; what is in them: {storage.join(url, 'manifest.json')}")
    say(f"See it in a browser: {page}")
    for line in next_steps(url, manifest.counters, lambda: _salt_for(url)):
        say(line)


def _salt_for(url: str) -> str | None:
    """Return a salt that leaves no split of a dataset empty, as far as its clusters stay the same."""
    from pipelines.clusters.splits import filling_salt
    from schemas.artifacts.dataset import open_dataset

    return filling_salt(open_dataset(url).table("clusters", columns=["answer_hash"])["answer_hash"].to_numpy())
