"""`qpr distil`: let a small encoder learn the vectors of a large one, over questions of a dataset, without pairs.

dataset, teacher, settings -> distil_model -> model artefact, for `qpr train --init-from`
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.encoder_training import DistillationTraining
from jobs.options.output import AsJson, OutputFolder, Overwrite
from jobs.options.training_run import DeviceTerms

QUESTIONS = 20_000
"""A transformer of six layers encodes some hundred questions a second on a core: a minute or two."""


def distil(
    dataset: Annotated[
        str, typer.Option(metavar="FOLDER", help="Dataset with the questions; of its train pairs only words are used.")
    ],
    teacher: Annotated[str, typer.Option(metavar="MODEL", help="st:FOLDER of sentence-transformers, or a model.")],
    output: OutputFolder,
    settings: DistillationTraining,
    terms: DeviceTerms,
    questions: Annotated[
        int, typer.Option(min=0, metavar="N", help="Maximum questions, a fixed sample of train; 0: all.")
    ] = QUESTIONS,
    vectors: Annotated[
        str | None, typer.Option(metavar="FILE", help="File of the teacher's vectors: read if it exists, else written.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Train a small encoder on a large one's vectors, without pairs.

    Continue with pairs by `qpr train --init-from`.

    Examples:
      qpr distil --dataset dataset --teacher st:minilm --output taught
      qpr train --dataset dataset --output encoder --init-from taught
    """
    from jobs.workflows.training.distillation import distil_model

    distil_model(
        dataset,
        output,
        settings,
        terms,
        teacher=teacher,
        questions=questions,
        vectors=vectors,
        overwrite=overwrite,
        as_json=as_json,
    )
