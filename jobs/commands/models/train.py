"""`qpr train`: learn a question encoder from a dataset's pairs.

dataset, settings -> train_model -> model artefact
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.encoder_training import EncoderTraining
from jobs.options.output import OutputFolder
from jobs.options.training_run import TrainTerms

OUTPUT = "Output"
"""Panel of the help."""


def train(
    dataset: Annotated[str, typer.Option(metavar="FOLDER", help="Dataset to learn from.")],
    output: OutputFolder,
    settings: EncoderTraining,
    terms: TrainTerms,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print parameters, memory and time after some steps; write nothing.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing output.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Train a question encoder on a dataset's pairs.

    Examples:
      qpr train --dataset dataset --output encoder
      qpr train --dataset dataset --output encoder --preset static
      torchrun --nproc-per-node 2 -m jobs train --dataset dataset --output encoder
    """
    from jobs.workflows.training.encoder_training import train_model
    from jobs.workflows.training.training_dry_run import show_plan

    run = show_plan if dry_run else train_model
    run(dataset, output, settings, terms, overwrite=overwrite, as_json=as_json)
