"""`qpr distil`: let a small encoder learn the vectors of a large one, over questions of a dataset, without pairs.

dataset, teacher -> teacher's vectors, kept -> distillation -> model artefact, for `qpr train --init-from`
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.display.console import counting, emit, say, two_columns
from jobs.options import learning as options
from jobs.options import training_run as run_options
from jobs.options.encoder import settings_of
from jobs.options.output import lasting
from jobs.options.training_run import Terms
from jobs.workflows.model_publication import publish_model
from jobs.workflows.training import ENDINGS, supervised
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.settings import TrainingSettings

QUESTIONS = 20_000
"""A transformer of six layers encodes some hundred questions a second on a core: a minute or two."""


def distil(
    dataset: Annotated[str, typer.Option(metavar="FOLDER", help="Dataset with the questions; no pair is used.")],
    teacher: Annotated[str, typer.Option(metavar="MODEL", help="st:FOLDER of sentence-transformers, or a model.")],
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FOLDER", help="Folder of the model, any fsspec URL.")
    ],
    preset: options.Preset = None,
    encoder: options.Encoder = None,
    static_from: options.StaticFrom = None,
    transformer_from: options.TransformerFrom = None,
    questions: Annotated[
        int, typer.Option(min=0, metavar="N", help="Maximum questions, a fixed sample of train; 0: all.")
    ] = QUESTIONS,
    vectors: Annotated[
        str | None, typer.Option(metavar="FILE", help="File of the teacher's vectors: read if it exists, else written.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(metavar="N", help="Passes over the questions.")] = None,
    batch_size: Annotated[int | None, typer.Option(metavar="N", help="Questions a step.")] = None,
    learning_rate: options.LearningRate = None,
    dropout: options.Dropout = None,
    dimension: options.Dimension = None,
    bigram_bins: options.BigramBins = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of weights and order.")] = 0,
    checkpoint_every: run_options.CheckpointEvery = run_options.CHECKPOINT_EVERY,
    resume: run_options.Resume = False,
    max_minutes: run_options.MaxMinutes = None,
    device: options.Device = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train a small encoder on a large one's vectors, without pairs.

    Continue with pairs by `qpr train --init-from`.

    Examples:
      qpr distil --dataset dataset --teacher st:minilm --output taught
      qpr train --dataset dataset --output model --init-from taught
    """
    from model.encoders.kinds import kind_of

    training = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate, "dropout": dropout}
    shape, settings = settings_of(
        preset,
        encoder,
        shape={
            "dimension": dimension,
            "bigram_bins": bigram_bins,
            "static_from": static_from,
            "transformer_from": transformer_from,
        },
        training={**training, "seed": seed},
    )
    taught = kind_of(shape).taught
    settings = settings.model_copy(update={name: taught[name] for name in taught if training[name] is None})
    terms = run_options.Terms(device=device, checkpoint_every=checkpoint_every, resume=resume, max_minutes=max_minutes)
    source = open_dataset(dataset)
    with Output(output, "model", overwrite=overwrite) as claimed:
        result = _run(
            source,
            claimed,
            shape=shape,
            settings=settings,
            teacher=teacher,
            questions=questions,
            vectors=vectors,
            terms=terms,
        )
    emit(result, as_json=as_json, table=lambda: two_columns(f"model {output}", result))
    options = f"--preset {preset.value} " if preset else ""
    say(f"Next: qpr train --dataset {shlex.quote(dataset)} {options}--init-from {shlex.quote(output)} --output MODEL")


def _run(
    source: Dataset,
    output: Output,
    *,
    shape: Shape,
    settings: TrainingSettings,
    teacher: str,
    questions: int,
    vectors: str | None,
    terms: Terms,
) -> dict[str, Any]:
    from model.encoders.registry import load_encoder
    from model.training.checkpoints.checkpoints import identity_of
    from model.training.distillation.distillation import DistillationObjective
    from model.training.distillation.teacher_embeddings import lesson_of, taught_vectors
    from model.training.encoder_training import train_encoder
    from model.training.progress import Deadline
    from model.training.training_pairs import read_pairs

    deadline = Deadline(terms.max_minutes)
    encoder, lesson = load_encoder(teacher), lesson_of(source, most=questions)
    with counting("encoding with the teacher, questions", total=len(lesson)) as show:
        taught = taught_vectors(lesson, encoder, kept=vectors, on_part=show)
    identity = identity_of(shape, settings, [source.manifest.digest])
    identity |= {"the digest of --teacher": encoder.digest, "the digest of its questions": lesson.digest}
    with supervised(output, identity, terms=terms, deadline=deadline, unit="questions") as supervision:
        trained = train_encoder(
            lambda network: DistillationObjective(network, lesson.texts, taught, settings),
            read_pairs(source)["train"],  # their words, so that a training with them finds its vocabulary
            shape=shape,
            settings=settings,
            device=terms.device,
            **supervision,
        )
    counters = {"questions_taught": len(lesson), "epochs": len(trained.epochs)}
    totals = {"loss": round(trained.best.loss, 5), "seconds": round(sum(e.seconds for e in trained.epochs), 2)}
    publish_model(
        [Source(url=source.url, digest=source.manifest.digest)],
        output,
        trained,
        shape=shape,
        settings=settings,
        counters=counters,
        totals=totals,
        taught_by=Source(url=teacher, digest=encoder.digest),
    )
    return {"model": output.url, **counters, "ending": ENDINGS[trained.ending], **totals}
