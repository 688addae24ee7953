"""`qpr train`: learn a question encoder from a dataset's pairs.

options -> settings -> run_training -> model artefact
"""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from jobs.display.console import be_silent, emit, say, two_columns
from jobs.options import learning as options
from jobs.options import training_run as run_options
from jobs.options.encoder import numbers, settings_of
from jobs.options.output import lasting
from jobs.workflows.torchrun import is_first_process
from jobs.workflows.training import run_training
from jobs.workflows.training_dry_run import plan_run, show_plan
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output


def train(
    dataset: Annotated[str, typer.Option(metavar="FOLDER", help="Dataset to learn from.")],
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FOLDER", help="Folder of the model, any fsspec URL.")
    ],
    preset: options.Preset = None,
    encoder: options.Encoder = None,
    static_from: options.StaticFrom = None,
    transformer_from: options.TransformerFrom = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    pairs_per_cluster: options.PairsPerCluster = None,
    chunk_size: options.ChunkSize = None,
    precision: options.Precision = None,
    unique_clusters: options.UniqueClusters = None,
    learning_rate: options.LearningRate = None,
    linear_decay: options.LinearDecay = None,
    loss: options.Loss = None,
    scale: options.Scale = None,
    smoothing: options.Smoothing = None,
    smoothing_over: options.SmoothingOver = None,
    mates: options.Mates = None,
    symmetric: options.Symmetric = None,
    distance: options.Distance = None,
    margin: options.Margin = None,
    negatives: options.Negatives = None,
    dropout: options.Dropout = None,
    dimension: options.Dimension = None,
    windows: options.Windows = None,
    ngrams: options.Ngrams = None,
    ngram_bins: options.NgramBins = None,
    bigram_bins: options.BigramBins = None,
    vocabulary_size: options.VocabularySize = None,
    hash_bins: options.HashBins = None,
    patience: options.Patience = None,
    seed: options.Seed = 0,
    checkpoint_every: run_options.CheckpointEvery = run_options.CHECKPOINT_EVERY,
    resume: run_options.Resume = False,
    max_minutes: run_options.MaxMinutes = None,
    init_from: run_options.InitFrom = None,
    device: options.Device = None,
    dry_run: run_options.DryRun = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train a question encoder on a dataset's pairs.

    Examples:
      qpr train --dataset dataset --output model
      qpr train --dataset dataset --output model --preset static
      torchrun --nproc-per-node 2 -m jobs train --dataset dataset --output model
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
    if dry_run:
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
