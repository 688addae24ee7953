"""The end that ``qpr clusters`` and ``qpr quora`` share: make the dataset, publish it, tell of it.

sources, configuration, steps -> make_dataset -> dataset
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jobs.beam_options import show_dataset
from jobs.console import working
from schemas.output import Output

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.clusters import ClustersConfig
    from pipelines.quora import QuoraConfig
    from pipelines.reading.sources import Source


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
    as_json: bool,
) -> None:
    """Claim the output, run the pipeline, publish what it wrote and print it.

    Args:
        build: adds the steps to a pipeline, given the run's folder.
        sources: the input files, their columns checked.
        configuration: all that decides what becomes of them.
        output: folder of the dataset.
        overwrite: replace the dataset that is there.
        options: Beam's.
        max_reject_ratio: with a larger share of rejected rows nothing is published.
        questions_a_row: how many questions an input row holds.
        as_json: print for a program.

    Raises:
        QprError: the output cannot be claimed, or the run is not worth publishing.
    """
    from pipelines.publication import run_and_publish

    target = Output(output, "dataset", overwrite=overwrite)
    size = f"{len(sources)} file(s), {sum(s.bytes for s in sources):,} bytes"
    with working(f"Clustering {size}, in {configuration.shards} part(s)"):
        manifest = run_and_publish(
            build,
            output=target,
            sources=sources,
            configuration=configuration,
            leakage=configuration.assembly.leakage,
            options=options,
            max_reject_ratio=max_reject_ratio,
            questions_a_row=questions_a_row,
        )
    show_dataset(output, manifest, as_json=as_json)
