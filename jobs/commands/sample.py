"""`qpr sample`: clusters of a dataset for a person to read.

dataset -> draw, with_counts -> terminal, Markdown, CSV or Parquet
"""

from __future__ import annotations

import enum
import sys
from typing import Annotated, Any

import typer

from jobs.display.console import emit, say, two_columns, warn
from jobs.display.json_ids import with_text_ids
from jobs.options.output import lasting
from schemas.artifacts import conditional_writes
from schemas.errors import UsageError
from schemas.quantities import counted
from schemas.tables import SPLITS


class Format(enum.StrEnum):
    """Output format of a sample."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    PARQUET = "parquet"


def sample(
    dataset: Annotated[str, typer.Option(metavar="FOLDER", help="Dataset of `qpr clusters` or `qpr quora`.")],
    clusters: Annotated[int, typer.Option(min=1, metavar="N", help="Clusters to show.")] = 200,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the sample.")] = 0,
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only train, validation or test.", show_default="all")
    ] = None,
    shown: Annotated[
        int,
        typer.Option("--questions", min=1, metavar="N", help="Maximum questions of a cluster in a table or Markdown."),
    ] = 10,
    form: Annotated[
        Format, typer.Option("--format", metavar="NAME", help="table, markdown, csv or parquet.")
    ] = Format.TABLE,
    output: Annotated[
        str | None,
        typer.Option(callback=lasting, metavar="FILE", help="File to write; parquet needs one.", show_default="stdout"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the sample or, with --output, a summary.")
    ] = False,
) -> None:
    """Show a sample of clusters with answers, questions and scores.

    The same dataset and seed give the same sample on every machine.

    Example:
      qpr sample --dataset dataset --clusters 20 --split test
    """
    _check(split, form, output, overwrite=overwrite, as_json=as_json)
    drawn = _draw(dataset, count=clusters, seed=seed, split=split)
    if output is not None:
        conditional_writes.write_result(output, _rendered(drawn, form, shown=shown), overwrite=overwrite)
        questions = sum(len(cluster["questions"]) for cluster in drawn)
        result = {"output": output, "clusters": len(drawn), "questions": questions}
        emit(result, as_json=as_json, table=lambda: two_columns("Sample", result))
    elif as_json or form is Format.TABLE:
        from jobs.display.sample_formats import terminal_table

        listed = [with_text_ids(cluster) for cluster in drawn]
        result = {"dataset": dataset, "seed": seed, "split": split, "clusters": listed}
        if drawn or as_json:
            emit(result, as_json=as_json, table=lambda: terminal_table(drawn, shown=shown))
    else:
        sys.stdout.write(_rendered(drawn, form, shown=shown).decode())


def _check(split: str | None, form: Format, output: str | None, *, overwrite: bool, as_json: bool) -> None:
    if split is not None and split not in SPLITS:
        raise UsageError(f"--split {split}: there are {', '.join(SPLITS)}")
    if form is Format.PARQUET and output is None and not as_json:
        raise UsageError("--format parquet is no text. Add --output FILE")
    if form is Format.TABLE and output is not None:
        raise UsageError(f"--output {output}: say in which --format, one of markdown, csv, parquet")
    if output is not None:
        conditional_writes.refuse_existing(output, overwrite=overwrite)


def _draw(url: str, *, count: int, seed: int, split: str | None) -> list[dict[str, Any]]:
    from jobs.workflows.cluster_sample import draw, with_counts
    from schemas.artifacts.dataset import open_dataset

    dataset = open_dataset(url)
    chosen, available = draw(dataset.parts("clusters"), count=count, seed=seed, split=split)
    where = f"{url}" if split is None else f"{url}, split {split}"
    if available == 0:
        warn(f"{where}: holds no cluster, so there is nothing to sample. `rejected` in the dataset says why")
    elif available < count:
        say(f"{where}: holds {counted(available, 'cluster')}, fewer than the {count:,} asked for; here are all of them")
    return with_counts(chosen, dataset.parts("questions", columns=["question_id", "events"]))


def _rendered(drawn: list[dict[str, Any]], form: Format, *, shown: int) -> bytes:
    from jobs.display.sample_formats import csv_bytes, markdown, parquet_bytes

    if form is Format.MARKDOWN:
        return markdown(drawn, shown=shown).encode()
    return csv_bytes(drawn) if form is Format.CSV else parquet_bytes(drawn)
