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
from jobs.encoder_options import EncoderChoice, LossChoice, PresetChoice, numbers, settings_of
from schemas.dataset import Dataset, open_dataset
from schemas.manifest import Source
from schemas.output import Output

if TYPE_CHECKING:
    from model.pairs import Pairs
    from model.settings import Shape, TrainingSettings
    from model.training import Trained


def train(
    dataset: Annotated[str, typer.Option(help="Dataset to learn from.")],
    output: Annotated[str, typer.Option(help="Folder of the model, any fsspec URL.")],
    preset: Annotated[
        PresetChoice | None,
        typer.Option(
            help="What every other option is by default: default retrieves better, paper is Bonadiman et al. 2019. "
            "Without it the one of --encoder."
        ),
    ] = None,
    encoder: Annotated[
        EncoderChoice | None,
        typer.Option(help="subword: a bag of words and character n-grams. cnn: the paper's convolution."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Most passes over the train pairs.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pairs a step; a question is told from all others of its batch.")
    ] = None,
    pairs_per_cluster: Annotated[
        int | None, typer.Option(help="Most pairs of a cluster, drawn afresh each epoch; 0: all pairs of the table.")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Adam's learning rate.")] = None,
    linear_decay: Annotated[
        bool | None,
        typer.Option(
            "--linear-decay/--early-stopping",
            help="Let the rate fall to 0 and keep the last epoch, or hold it and keep the one with the best ROC AUC.",
        ),
    ] = None,
    loss: Annotated[
        LossChoice | None, typer.Option(help="sdml: the paper's. multiple_negatives: by cosine, from both sides.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="What the loss multiple_negatives multiplies the cosine by.")
    ] = None,
    smoothing: Annotated[
        float | None, typer.Option(help="The paper's epsilon: share of the target spread over the batch, in [0, 1).")
    ] = None,
    distance: Annotated[str | None, typer.Option(help="Of sdml: squared_euclidean or euclidean.")] = None,
    dropout: Annotated[
        float | None, typer.Option(help="Share of n-grams that a step leaves out; half as many words. Of subword.")
    ] = None,
    dimension: Annotated[int | None, typer.Option(help="Length of a question's vector.")] = None,
    windows: Annotated[str | None, typer.Option(help="Widths of cnn in words, such as 5 or 3,5.")] = None,
    ngrams: Annotated[str | None, typer.Option(help="Lengths of subword's n-grams in characters, such as 3,4.")] = None,
    ngram_bins: Annotated[int | None, typer.Option(help="Embeddings shared by all n-grams of subword.")] = None,
    vocabulary_size: Annotated[int | None, typer.Option(help="Most words with an embedding of their own.")] = None,
    hash_bins: Annotated[int | None, typer.Option(help="Embeddings shared by all other words.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without a better ROC AUC on validation before it stops.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of weights, order and sampled non-pairs.")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 …; CUDA by itself where there is one.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train a question encoder on a dataset's pairs.

    Example: qpr train --dataset data/quora --output models/quora

    Example: qpr train --dataset data/quora --output models/paper --preset paper
    """
    shape, settings = settings_of(
        preset,
        encoder,
        shape={
            "dimension": dimension,
            "windows": numbers("--windows", windows),
            "ngrams": numbers("--ngrams", ngrams),
            "ngram_bins": ngram_bins,
        },
        training={
            "epochs": epochs,
            "batch_size": batch_size,
            "pairs_per_cluster": pairs_per_cluster,
            "learning_rate": learning_rate,
            "linear_decay": linear_decay,
            "loss": loss,
            "scale": scale,
            "smoothing": smoothing,
            "distance": distance,
            "dropout": dropout,
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


def run(
    source: Dataset, output: Output, *, shape: Shape, settings: TrainingSettings, device: str | None
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
        "pairs_per_s": round(math.fsum(epoch.seconds * epoch.pairs_per_s for epoch in trained.epochs) / seconds),
    }
    _publish(source, output, trained, shape=shape, settings=settings, counters=counters, totals=totals)
    return {"model": output.url, **counters, **totals}


def _train_with_bar(
    pairs: dict[str, Pairs], *, shape: Shape, settings: TrainingSettings, device: str | None
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
    shape: Shape,
    settings: TrainingSettings,
    counters: dict[str, int],
    totals: dict[str, Any],
) -> None:
    from model.card import card
    from model.curve import curve
    from model.saved import CARD, CURVE, save_model
    from model.settings import ModelConfig, encoder_name

    words = trained.vocabulary.words
    config = ModelConfig(
        encoder=encoder_name(shape),
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
