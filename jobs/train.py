"""`qpr train`: learn a question encoder from a dataset's pairs.

options -> settings -> run_training -> model artefact
"""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from jobs import run_options
from jobs import training_options as options
from jobs.console import be_silent, emit, say, two_columns
from jobs.encoder_options import EncoderChoice, PresetChoice, numbers, settings_of
from jobs.processes import is_first_process
from jobs.training_plan import plan_run, show_plan
from jobs.training_run import run_training
from schemas.dataset import open_dataset
from schemas.output import Output


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
        typer.Option(
            help="subword: a bag of words and character n-grams. static: that and tokens that others embedded. "
            "cnn: the paper's convolution. transformer: a model of sentence-transformers, fine-tuned."
        ),
    ] = None,
    static_from: Annotated[
        str | None,
        typer.Option(help="Where static's tokens come from: an installed package, wordllama by default, or a folder."),
    ] = None,
    transformer_from: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Folder of the sentence-transformers model that transformer begins with."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Most passes over the train pairs.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pairs a step; a question is told from all others of its batch.")
    ] = None,
    pairs_per_cluster: Annotated[
        int | None, typer.Option(help="Most pairs of a cluster, drawn afresh each epoch; 0: all pairs of the table.")
    ] = None,
    chunk_size: options.ChunkSize = None,
    precision: options.Precision = None,
    unique_clusters: options.UniqueClusters = None,
    learning_rate: Annotated[float | None, typer.Option(help="Adam's learning rate.")] = None,
    linear_decay: Annotated[
        bool | None,
        typer.Option(
            "--linear-decay/--early-stopping",
            help="Let the rate fall to 0 and keep the last epoch, or hold it and keep the one with the best ROC AUC.",
        ),
    ] = None,
    loss: options.Loss = None,
    scale: options.Scale = None,
    smoothing: options.Smoothing = None,
    smoothing_over: options.SmoothingOver = None,
    mates: options.Mates = None,
    symmetric: options.Symmetric = None,
    distance: options.Distance = None,
    margin: options.Margin = None,
    negatives: options.Negatives = None,
    dropout: Annotated[
        float | None, typer.Option(help="Share of n-grams that a step leaves out; half as many words. Of subword.")
    ] = None,
    dimension: Annotated[int | None, typer.Option(help="Length of a question's vector.")] = None,
    windows: Annotated[str | None, typer.Option(help="Widths of cnn in words, such as 5 or 3,5.")] = None,
    ngrams: Annotated[str | None, typer.Option(help="Lengths of subword's n-grams in characters, such as 3,4.")] = None,
    ngram_bins: Annotated[int | None, typer.Option(help="Embeddings shared by all n-grams of subword.")] = None,
    bigram_bins: options.BigramBins = None,
    vocabulary_size: Annotated[int | None, typer.Option(help="Most words with an embedding of their own.")] = None,
    hash_bins: Annotated[int | None, typer.Option(help="Embeddings shared by all other words.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without a better ROC AUC on validation before it stops.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of weights, order and sampled non-pairs.")] = 0,
    checkpoint_every: run_options.CheckpointEvery = run_options.CHECKPOINT_EVERY,
    resume: run_options.Resume = False,
    max_minutes: run_options.MaxMinutes = None,
    init_from: run_options.InitFrom = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 …; CUDA by itself where there is one.")] = None,
    plan: run_options.Plan = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train a question encoder on a dataset's pairs.

    Example: qpr train --dataset data/quora --output models/quora

    Example: qpr train --dataset data/quora --output models/paper --preset paper

    Example: torchrun --nproc-per-node 2 -m jobs train --dataset data/quora --output models/quora --batch-size 4096
    """
    shape, settings = settings_of(
        preset,
        encoder,
        shape={
            "dimension": dimension,
            "windows": numbers("--windows", windows),
            "ngrams": numbers("--ngrams", ngrams),
            "ngram_bins": ngram_bins,
            "bigram_bins": bigram_bins,
            "static_from": static_from,
            "transformer_from": transformer_from,
        },
        training={
            "epochs": epochs,
            "batch_size": batch_size,
            "chunk_size": chunk_size,
            "precision": precision,
            "pairs_per_cluster": pairs_per_cluster,
            "unique_clusters": unique_clusters,
            "learning_rate": learning_rate,
            "linear_decay": linear_decay,
            "loss": loss,
            "scale": scale,
            "smoothing": smoothing,
            "smoothing_over": smoothing_over,
            "mates": mates,
            "symmetric": symmetric,
            "distance": distance,
            "margin": margin,
            "negatives": negatives,
            "dropout": dropout,
            "patience": patience,
            "vocabulary_size": vocabulary_size,
            "hash_bins": hash_bins,
            "seed": seed,
        },
    )
    terms = run_options.Terms(
        device=device,
        checkpoint_every=checkpoint_every,
        resume=resume,
        max_minutes=max_minutes,
        init_from=init_from,
    )
    source = open_dataset(dataset)
    if plan:
        if is_first_process():
            found = plan_run(source, output, overwrite=overwrite, shape=shape, settings=settings, terms=terms)
            show_plan(found, as_json=as_json)
        return
    if not is_first_process():
        be_silent()
        run_training(source, None, shape=shape, settings=settings, terms=terms)
        return
    with Output(output, "model", overwrite=overwrite) as claimed:
        result = run_training(source, claimed, shape=shape, settings=settings, terms=terms)
    emit(result, as_json=as_json, table=lambda: two_columns(f"model {output}", result))
    say(f"Next: qpr index --questions {shlex.quote(dataset)} --model {shlex.quote(output)} --output INDEX")
