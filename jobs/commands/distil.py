"""`qpr distil`: let a small encoder learn the vectors of a large one, over questions of a dataset, without pairs.

dataset, teacher -> teacher's vectors, kept -> distillation -> model artefact, for `qpr train --init-from`
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.display.console import counting, emit, progress_bar, say, two_columns
from jobs.options import learning as options
from jobs.options.encoder import settings_of
from jobs.options.output import lasting
from jobs.workflows.model_publication import publish_model
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.distillation.teacher_embeddings import Lesson
    from model.training.settings import TrainingSettings
    from model.training.trainer import Trained

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
            device=device,
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
    device: str | None,
) -> dict[str, Any]:
    from model.encoders.registry import load_encoder
    from model.training.distillation.teacher_embeddings import lesson_of, taught_vectors

    encoder, lesson = load_encoder(teacher), lesson_of(source, most=questions)
    with counting("encoding with the teacher, questions", total=len(lesson)) as show:
        taught = taught_vectors(lesson, encoder, kept=vectors, on_part=show)
    trained = _learn(source, lesson, taught, shape=shape, settings=settings, device=device)
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
    return {"model": output.url, **counters, **totals}


def _learn(
    source: Dataset, lesson: Lesson, taught: Any, *, shape: Shape, settings: TrainingSettings, device: str | None
) -> Trained:
    from model.encoders.network import weights_of
    from model.training.distillation.distillation import distil as teach
    from model.training.initialization import begun
    from model.training.trainer import Trained
    from model.training.training_pairs import read_pairs

    pairs = read_pairs(source)["train"]  # their words, so that a training with them finds its vocabulary
    vocabulary, network = begun(pairs, shape=shape, settings=settings, device=device, older=None, say=say)
    with progress_bar("loss") as bar:
        fields: dict[str, Any] = {"loss": ""}
        task = bar.add_task("learning", total=None, **fields)
        epochs = teach(
            network,
            network.read(lesson.texts),
            taught,
            settings=settings,
            on_step=lambda done, steps, loss: bar.update(task, completed=done, total=steps, loss=f"{loss:.4f}"),
            on_epoch=lambda epoch: say(f"epoch {epoch.epoch}: loss {epoch.loss:.4f}, {epoch.seconds:.1f} s"),
        )
    return Trained(vocabulary, weights_of(network.body), epochs, epochs[-1], "epochs")
