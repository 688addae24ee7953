"""`qpr sample`: clusters of a dataset for a person to read.

dataset -> sample_clusters -> terminal, Markdown, CSV or Parquet
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jobs.display.console import emit, two_columns
from jobs.display.safe_text import with_text_ids
from jobs.options.output import Overwrite, file_to_write, folder
from jobs.options.sample import Sample
from schemas.artifacts import conditional_writes
from schemas.errors import UsageError


def sample(
    dataset: Annotated[str, folder("Dataset of `qpr clusters` or `qpr quora`.")],
    settings: Sample,
    output: Annotated[str | None, file_to_write("File to write; parquet needs one.", show_default="stdout")] = None,
    overwrite: Overwrite = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the sample as JSON; with --output, a summary.")
    ] = False,
) -> None:
    """Show a sample of clusters with answers, questions and scores.

    The same dataset and seed give the same sample on every machine.

    Example:
      qpr sample --dataset dataset --clusters 20 --split test
    """
    from jobs.display.sample_formats import file_content, terminal_table
    from jobs.workflows.cluster_sample import sample_clusters

    form, shown = settings.format, settings.questions
    if form == "parquet" and output is None and not as_json:
        raise UsageError("--format parquet is no text. Add --output FILE")
    if form == "table" and output is not None:
        raise UsageError(f"--output {output}: say in which --format, one of markdown, csv, parquet")
    if output is not None:
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    drawn = sample_clusters(dataset, settings)
    if output is not None:
        conditional_writes.write_result(output, file_content(drawn, form, shown=shown), overwrite=overwrite)
        questions = sum(len(cluster["questions"]) for cluster in drawn)
        result = {"output": output, "clusters": len(drawn), "questions": questions}
        emit(result, as_json=as_json, table=lambda: two_columns("Sample", result))
    elif as_json or (form == "table" and drawn):
        listed = [with_text_ids(cluster) for cluster in drawn]
        result = {"dataset": dataset, "seed": settings.seed, "split": settings.split, "clusters": listed}
        emit(result, as_json=as_json, table=lambda: terminal_table(drawn, shown=shown))
    elif form != "table":
        sys.stdout.write(file_content(drawn, form, shown=shown).decode())
