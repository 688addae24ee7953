"""`qpr sample`: clusters of a dataset for a person to read, or pairs to judge.

dataset -> sample -> terminal, Markdown, CSV, JSON Lines or Parquet
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import Overwrite, file_to_write, folder
from jobs.options.sample import Sample


def sample(
    dataset: Annotated[str, folder("Dataset of `qpr clusters` or `qpr quora`.")],
    settings: Sample,
    output: Annotated[str | None, file_to_write("File to write; parquet needs one.", show_default="stdout")] = None,
    overwrite: Overwrite = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the sample as JSON; with --output, a summary.")
    ] = False,
) -> None:
    """Show a sample of clusters with their scores, or draw pairs to judge.

    The same dataset and seed give the same sample on every machine; a larger sample begins with a smaller one.

    Examples:
      qpr sample --dataset dataset --clusters 20 --split test
      qpr sample --dataset dataset --for-calibration 150 --output verdicts.csv
    """
    if settings.for_calibration is not None:
        from jobs.workflows.verdicts.pair_sample import write_pair_sample

        write_pair_sample(dataset, settings, output=output, overwrite=overwrite, as_json=as_json)
        return
    from jobs.workflows.cluster_sample import show_clusters

    show_clusters(dataset, settings, output=output, overwrite=overwrite, as_json=as_json)
