"""Run a pipeline that writes a dataset, check its counters, and publish it.

build, output -> run_and_publish -> Manifest, and a page about the run
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.decontamination.report import leakage_report, write_leakage
from pipelines.engine.runner import run
from pipelines.graphs.settings import ClustersConfig, QuoraConfig
from pipelines.questions.changed_answers import merge_changes
from pipelines.reading.sources import Source
from pipelines.summary.cluster_summary import summarize_clusters
from pipelines.summary.fallbacks import fallbacks
from pipelines.summary.faults import fault_of, selected_rows, shown_rejects
from pipelines.summary.reject_examples import reject_examples
from pipelines.summary.run_summary import RunSummary
from pipelines.writing.run_report import check_sum, read_report
from schemas.artifacts import storage
from schemas.artifacts.manifest import REPORTS, Manifest
from schemas.artifacts.manifest import Source as Input
from schemas.artifacts.writer import Output
from schemas.errors import QprError, UnusableInputError
from schemas.tables import SPLITS, TABLES

PAGE = "report.html"
_REJECTED = "rejected"


def run_and_publish(
    build: Callable[[beam.Pipeline, str], None],
    *,
    output: Output,
    sources: Sequence[Source],
    configuration: ClustersConfig | QuoraConfig,
    options: PipelineOptions,
    max_reject_ratio: float,
    page: Callable[[RunSummary], bytes],
) -> Manifest:
    """Run the pipeline and publish its files as the dataset at ``output``.

    Args:
        build: adds the steps to a pipeline, given the run's folder.
        output: the claimed place.
        sources: the input files.
        configuration: goes into the manifest.
        options: Beam's.
        max_reject_ratio: with a larger share of rejected rows nothing is published.
        page: content of the file `PAGE`; it contains times, so digests exclude it.

    Raises:
        QprError: counters do not add up, or a question leaked.
        UnusableInputError: too many rejects, or no cluster. Rejects and page stay, so that they can be read; without
            rejects nothing stays.
    """
    leakage = configuration.assembly.leakage
    try:
        run(lambda pipeline: build(pipeline, output.run_url), options)
        report = read_report(output)
        counted, leakage_file = write_leakage(report.counters, leakage, output)
        counters = _check_accounts(counted, configuration.QUESTIONS_A_ROW)
        fault = fault_of(counters, [source.url for source in sources], max_reject_ratio)
        summary = RunSummary(
            url=output.url,
            run_id=output.run_id,
            seconds=output.seconds,
            fault=fault,
            inputs=_in_order(report.sources, sources),
            configuration=configuration.model_dump(mode="json"),
            counters=counters,
            clusters=summarize_clusters(output.url, report.files),
            leakage=leakage_report(report.counters, leakage),
            rejects=reject_examples(output.url, report.files, counters),
            fallbacks=fallbacks(report.broad_answers, rows=selected_rows(counters)),
            judged_answers=report.judged_answers,
            changed_answers=merge_changes(report.changed_answers),
        )
        page_file = output.write(PAGE, page(summary), table=REPORTS)
    except BaseException:
        output.abandon()
        raise
    if fault and (counters["rows_rejected"] or counters["members_rejected"]):
        _delete_tables(output.run_url)
        output.release()
        rejected, page_url = (storage.join(output.run_url, name) for name in (_REJECTED, PAGE))
        examples = "".join(f"\n  {line}" for line in shown_rejects(summary.rejects, fault))
        places = f"Read what was rejected in {rejected} or see the counts in {page_url}"
        raise UnusableInputError(f"{fault}. {places}{examples}")
    if fault:
        output.abandon()
        raise UnusableInputError(fault)
    return output.publish(
        [*report.files, leakage_file, page_file],
        inputs=summary.inputs,
        configuration=summary.configuration,
        counters=counters,
        distributions={name: distribution.five() for name, distribution in summary.clusters.distributions.items()},
    )


def _delete_tables(run_url: str) -> None:
    """Delete the tables of a refused run but for the rejects: no command reads them or erases from them."""
    with contextlib.suppress(QprError, OSError):  # the fault of the run should be read
        for name in storage.children(run_url):
            if name in TABLES and name != _REJECTED:
                storage.delete(storage.join(run_url, name))


def _in_order(inputs: Sequence[Input], sources: Sequence[Source]) -> list[Input]:
    """Return the inputs with the digests from the workers, in the order of ``sources``."""
    by_url = {entry.url: entry for entry in inputs}
    return [by_url.get(source.url, Input(url=source.url, bytes=source.bytes)) for source in sources]


def _check_accounts(counted: dict[str, int], questions_a_row: int) -> dict[str, int]:
    """Every row read is kept or rejected; every question of an answer is judged or ambiguous, in a cluster or not."""
    counters = {"rows_rejected": 0, "members_rejected": 0} | counted
    counters["rows_kept"] = counters.get("events", 0) // questions_a_row
    check_sum(counters, "rows_read", "rows_kept", "rows_rejected", *({"rows_erased"} & counters.keys()))
    ambiguous = [name for name in counters if name.startswith("rejected_ambiguity_")]
    check_sum(counters, "members", "members_judged", *ambiguous)
    check_sum(counters, "members", *(f"members_{split}" for split in SPLITS), "members_rejected")
    return counters
