"""Distillation from a dataset and a teacher to a published model.

dataset, teacher -> teacher's vectors, kept -> distillation -> model artefact, for `qpr train --init-from`
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from jobs.display.console import counting, emit, say, two_columns
from jobs.options.encoder_training import EncoderTraining
from jobs.options.training_run import DeviceTerms
from jobs.workflows.training.encoder_training import LATE_LIBRARIES, supervised
from jobs.workflows.training.model_publication import publish_model
from jobs.workflows.training.outcome import ENDINGS
from model.encoders.registry import kind_of_address
from pipelines.reading import sources
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError, UsageError, check_installed

if TYPE_CHECKING:
    from model.training.training_pairs import Pairs


def distil_model(
    dataset: str,
    output: str,
    chosen: EncoderTraining,
    terms: DeviceTerms,
    *,
    teacher: str,
    questions: int,
    vectors: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Train an encoder on a teacher's vectors, publish it at ``output`` and print counts and measurements.

    Args:
        dataset: with the questions.
        output: folder of the model.
        chosen: settings of encoder and training.
        terms: of the run.
        teacher: model, or ``st:`` and a folder of sentence-transformers.
        questions: maximum number, 0 for all.
        vectors: file of the teacher's vectors; None for none.
        overwrite: replace an existing model.
        as_json: print JSON.

    Raises:
        UsageError: the model would replace its teacher.
        QprError: dataset or teacher cannot be read, the output cannot be claimed, or the training failed.
    """
    if kind_of_address(teacher) is None and sources.identity_of(teacher) == sources.identity_of(output):
        raise UsageError(f"--output {output}: is the teacher, which the new model would replace. Choose another folder")
    source = open_dataset(dataset)
    with Output(output, "model", overwrite=overwrite) as claimed:
        result = _run(source, claimed, chosen, terms, teacher=teacher, questions=questions, vectors=vectors)
    emit(result, as_json=as_json, table=lambda: two_columns(f"model {output}", result))
    preset = f"--preset {chosen.preset} " if chosen.preset else ""
    say(f"Next: qpr train --dataset {shlex.quote(dataset)} {preset}--init-from {shlex.quote(output)} --output MODEL")


def _run(
    source: Dataset,
    output: Output,
    chosen: EncoderTraining,
    terms: DeviceTerms,
    *,
    teacher: str,
    questions: int,
    vectors: str | None,
) -> dict[str, Any]:
    from model.encoders.loading import load_encoder
    from model.training.checkpoints.checkpoints import identity_of
    from model.training.distillation.distillation import DistillationObjective
    from model.training.distillation.teacher_embeddings import lesson_of, teacher_vectors
    from model.training.encoder_training import train_encoder
    from model.training.progress import Deadline

    check_installed(*LATE_LIBRARIES)
    shape, settings = chosen.shape, chosen.training
    deadline = Deadline(terms.max_minutes)
    pairs = _train_pairs(source)
    encoder, lesson = load_encoder(teacher), lesson_of(source, most=questions)
    with counting("vectors of the teacher, questions", total=len(lesson)) as show:
        taught = teacher_vectors(lesson, encoder, kept=vectors, on_part=show)
    identity = identity_of(shape, settings, [source.manifest.digest])
    identity |= {"the digest of --teacher": encoder.digest, "the digest of its questions": lesson.digest}
    with supervised(output, identity, terms=terms, deadline=deadline, unit="questions") as supervision:
        trained = train_encoder(
            lambda network: DistillationObjective(network, lesson.texts, taught, settings),
            pairs,  # their words, so that a training with them finds its vocabulary
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


def _train_pairs(source: Dataset) -> Pairs:
    """Return the train pairs, whose words are the vocabulary; read before the teacher encodes for minutes.

    Raises:
        QprError: a training could not follow, since there is nothing to learn from.
    """
    from model.training.training_pairs import read_pairs

    try:
        return read_pairs(source)["train"]
    except QprError as error:
        raise QprError(f"{error}: the vocabulary of the model is that of the train pairs") from error
