"""`qpr train`: learn a question encoder from a dataset's pairs.

dataset -> pairs -> training -> model artefact
"""

from __future__ import annotations

import dataclasses
import math
import os
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.console import emit, progress_bar, say, two_columns
from schemas.dataset import Dataset, open_dataset
from schemas.errors import UsageError
from schemas.manifest import Source
from schemas.output import Output

if TYPE_CHECKING:
    from model.pairs import Pairs
    from model.settings import EncoderSettings, TrainingSettings
    from model.training import Trained


def train(
    dataset: Annotated[str, typer.Option(help="Dataset to learn from.")],
    output: Annotated[str, typer.Option(help="Folder of the model, any fsspec URL.")],
    epochs: Annotated[int, typer.Option(help="Most passes over the train pairs.")] = 10,
    batch_size: Annotated[
        int, typer.Option(help="Pairs a step; a question is told from all others of its batch.")
    ] = 512,
    learning_rate: Annotated[float, typer.Option(help="Adam's learning rate.")] = 1e-3,
    smoothing: Annotated[
        float, typer.Option(help="The paper's epsilon: share of the target spread over the batch, in [0, 1).")
    ] = 0.3,
    distance: Annotated[str, typer.Option(help="squared_euclidean or euclidean.")] = "squared_euclidean",
    dimension: Annotated[int, typer.Option(help="Length of a question's vector.")] = 300,
    windows: Annotated[str, typer.Option(help="Widths of the convolution in words, such as 5 or 3,5.")] = "5",
    vocabulary_size: Annotated[int, typer.Option(help="Most words with an embedding of their own.")] = 50_000,
    hash_bins: Annotated[int, typer.Option(help="Embeddings shared by all other words.")] = 5_000,
    patience: Annotated[int, typer.Option(help="Epochs without a better ROC AUC on validation before it stops.")] = 2,
    seed: Annotated[int, typer.Option(help="Of weights, order and sampled non-pairs.")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 …; CUDA by itself where there is one.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train a question encoder on a dataset's pairs and stop when validation no longer gets better.

    Example: qpr train --dataset data/quora --output models/quora
    """
    shape, settings = settings_of(
        shape={"dimension": dimension, "windows": widths(windows)},
        training={
            "epochs": epochs,
            "batch_size": batch_size,
            "learning_rate": learning_rate,
            "smoothing": smoothing,
            "distance": distance,
            "patience": patience,
            "vocabulary_size": vocabulary_size,
            "hash_bins": hash_bins,
            "seed": seed,
        },
    )
    source = open_dataset(dataset)
    claimed = Output(output, "model", overwrite=overwrite)
    result = run(source, claimed, shape=shape, settings=settings, device=device)
    emit(result, as_json=as_json, table=lambda: two_columns(f"model {output}", result))
    say(f"Next: qpr index --questions {shlex.quote(dataset)} --model {shlex.quote(output)} --output INDEX")


def widths(given: str) -> tuple[int, ...]:
    """Return the numbers of a list such as ``3,5``.

    Raises:
        UsageError: it is none.
    """
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError as error:
        raise UsageError(f"--windows {given}: give one width, such as 5, or several, such as 3,5") from error


def settings_of(*, shape: dict[str, Any], training: dict[str, Any]) -> tuple[EncoderSettings, TrainingSettings]:
    """Return the checked settings.

    Raises:
        UsageError: a value makes no sense; the message names its option.
    """
    import pydantic

    from model.settings import EncoderSettings, TrainingSettings

    try:
        return EncoderSettings(**shape), TrainingSettings(**training)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        option = f"--{str(first['loc'][0]).replace('_', '-')} {first['input']}: " if first["loc"] else ""
        raise UsageError(f"{option}{first['msg'].removeprefix('Value error, ')}") from error


def run(
    source: Dataset, output: Output, *, shape: EncoderSettings, settings: TrainingSettings, device: str | None
) -> dict[str, Any]:
    """Train on ``source``, publish at ``output`` and return what came of it.

    Raises:
        QprError: the dataset holds nothing to learn from, or training failed.
    """
    from model.pairs import read_pairs

    # Torch's threads read this when they load. Spinning ones took 10 times as long a step on two busy cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    pairs = read_pairs(source)
    trained = _train_with_bar(pairs, shape=shape, settings=settings, device=device)
    counters = {
        "train_pairs": len(pairs["train"]),
        "train_questions": len(pairs["train"].keys),
        "train_clusters": pairs["train"].cluster_count,
        "validation_pairs": len(pairs["validation"]),
        "epochs": len(trained.epochs),
        "best_epoch": trained.best.epoch,
    }
    seconds = math.fsum(epoch.seconds for epoch in trained.epochs)
    totals = {
        "auc": None if trained.best.auc is None else round(trained.best.auc, 5),
        "loss": round(trained.best.loss, 5),
        "seconds": round(seconds, 2),
        "pairs_per_s": round(len(pairs["train"]) * len(trained.epochs) / seconds),
    }
    _publish(source, output, trained, shape=shape, settings=settings, counters=counters, totals=totals)
    return {"model": output.url, **counters, **totals}


def _train_with_bar(
    pairs: dict[str, Pairs], *, shape: EncoderSettings, settings: TrainingSettings, device: str | None
) -> Trained:
    from model.training import Epoch, Step
    from model.training import train as train_encoder

    with progress_bar("loss", "pairs/s") as bar:
        fields: dict[str, Any] = {"loss": "", "pairs/s": ""}
        task = bar.add_task("training", total=None, **fields)

        def on_step(step: Step) -> None:
            done = (step.epoch - 1) * step.steps + step.step
            shown: dict[str, Any] = {"loss": f"{step.loss:.4f}", "pairs/s": f"{step.pairs_per_s:,.0f}"}
            name = f"epoch {step.epoch}/{settings.epochs}"
            bar.update(task, description=name, completed=done, total=settings.epochs * step.steps, **shown)

        def on_epoch(epoch: Epoch) -> None:
            auc = "" if epoch.auc is None else f", ROC AUC {epoch.auc:.4f}"
            speed = f"{epoch.seconds:.1f} s, {epoch.pairs_per_s:,.0f} pairs/s"
            say(f"epoch {epoch.epoch}: loss {epoch.loss:.4f}{auc}, {speed}")

        return train_encoder(
            pairs["train"],
            pairs["validation"],
            shape=shape,
            settings=settings,
            device=device,
            on_step=on_step,
            on_epoch=on_epoch,
            say=say,
        )


def _publish(
    source: Dataset,
    output: Output,
    trained: Trained,
    *,
    shape: EncoderSettings,
    settings: TrainingSettings,
    counters: dict[str, int],
    totals: dict[str, Any],
) -> None:
    from model.card import card
    from model.curve import curve
    from model.saved import CARD, CURVE, save_model
    from model.settings import ModelConfig

    words = trained.vocabulary.words
    config = ModelConfig(
        shape=shape,
        words=len(words),
        hash_bins=trained.vocabulary.hash_bins,
        training=settings,
        dataset_digest=source.manifest.digest,
    )
    page = card(config, dataset_url=source.url, data=counters, metrics=totals)
    save_model(
        output,
        parts=(config, trained.vocabulary, trained.weights),
        metrics=[*map(dataclasses.asdict, trained.epochs), {"total": counters | totals}],
        pages={CURVE: curve(trained.epochs), CARD: page.encode()},
        inputs=[Source(url=source.url, digest=source.manifest.digest)],
        counters=counters,
    )
