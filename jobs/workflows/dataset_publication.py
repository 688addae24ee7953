"""Publication of a dataset that a pipeline makes: of logs, of labelled pairs or of a warehouse's days.

pipeline, output's URL -> publish_dataset -> dataset, summary of its run
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jobs.display.console import warn, working
from schemas.artifacts.paths import url_text
from schemas.artifacts.writer import Output

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import ClustersConfig, QuoraConfig
    from pipelines.reading.sources import Source
    from pipelines.summary.run_summary import RunSummary
    from schemas.artifacts.manifest import Manifest


def publish_dataset(
    build: Callable[[beam.Pipeline, str], None],
    *,
    url: str | os.PathLike[str],
    overwrite: bool,
    message: str,
    sources: Sequence[Source],
    configuration: ClustersConfig | QuoraConfig,
    options: PipelineOptions,
    max_reject_ratio: float,
) -> tuple[Manifest, RunSummary]:
    """Claim the output, run the pipeline, publish what it wrote, pass its warnings on, and return its summary.

    Args:
        build: adds the steps to a pipeline; its second argument is the run's folder.
        url: the dataset's folder; a path such as `pathlib.Path` too.
        overwrite: replace an existing dataset.
        message: shown while the pipeline runs.
        sources: the input files, their columns checked.
        configuration: settings of the run, stored in the manifest.
        options: Beam's.
        max_reject_ratio: maximum share of rejected rows.

    Raises:
        QprError: the output cannot be claimed, or the run is not worth publishing.
    """
    from jobs.display.html_report import dataset_page
    from pipelines.graphs.publish import run_and_publish

    seen: list[RunSummary] = []

    def page(summary: RunSummary) -> bytes:
        seen.append(summary)
        return dataset_page(summary)

    try:
        with Output(url_text(url), "dataset", overwrite=overwrite) as target, working(message):
            manifest = run_and_publish(
                build,
                output=target,
                sources=sources,
                configuration=configuration,
                options=options,
                max_reject_ratio=max_reject_ratio,
                page=page,
            )
    finally:  # the warnings of a refused run help to find its cause
        for summary in seen:
            for warning in summary.warnings:
                if warning[1:] not in (summary.fault or ""):  # the error has it too, as a sentence
                    warn(warning)
    return manifest, seen[-1]
