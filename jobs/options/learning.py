"""Options of `qpr train` for encoder, loss and training; without a value each is as in the preset.

command line -> Annotated types -> jobs.commands.train
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.encoder import EncoderChoice, LossChoice, PresetChoice

LOSS, ENCODER, RUN, OUTPUT = "Loss", "Encoder", "Run", "Output"
"""Panels of the help."""

Preset = Annotated[
    PresetChoice | None,
    typer.Option(metavar="NAME", help="default, static, transformer or paper; sets every option without a default."),
]
Encoder = Annotated[
    EncoderChoice | None,
    typer.Option(
        metavar="NAME",
        help="subword, static, transformer or cnn. [default: the preset's]",
        rich_help_panel=ENCODER,
    ),
]
StaticFrom = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="Package or folder of static's token embeddings.",
        show_default="wordllama",
        rich_help_panel=ENCODER,
    ),
]
TransformerFrom = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="sentence-transformers model that transformer starts from.", rich_help_panel=ENCODER
    ),
]
Dimension = Annotated[
    int | None, typer.Option(metavar="N", help="Length of a question's vector.", rich_help_panel=ENCODER)
]
Windows = Annotated[
    str | None, typer.Option(metavar="N,N", help="Widths of cnn in words, such as 3,5.", rich_help_panel=ENCODER)
]
Ngrams = Annotated[
    str | None,
    typer.Option(metavar="N,N", help="Lengths of character n-grams (subword, static).", rich_help_panel=ENCODER),
]
NgramBins = Annotated[
    int | None,
    typer.Option(metavar="N", help="Rows shared by all n-grams (subword, static).", rich_help_panel=ENCODER),
]
BigramBins = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Rows shared by pairs of neighbouring words (subword, static); 0: none.",
        rich_help_panel=ENCODER,
    ),
]
VocabularySize = Annotated[
    int | None, typer.Option(metavar="N", help="Maximum words with a row of their own.", rich_help_panel=ENCODER)
]
HashBins = Annotated[
    int | None, typer.Option(metavar="N", help="Rows shared by all other words.", rich_help_panel=ENCODER)
]
Dropout = Annotated[
    float | None,
    typer.Option(metavar="X", help="Share of n-grams a step omits (subword, static).", rich_help_panel=ENCODER),
]

Epochs = Annotated[int | None, typer.Option(metavar="N", help="Maximum passes over the train pairs.")]
BatchSize = Annotated[int | None, typer.Option(metavar="N", help="Pairs a step; each is a negative of the others.")]
LearningRate = Annotated[float | None, typer.Option(metavar="X", help="Adam's learning rate.")]
PairsPerCluster = Annotated[
    int | None,
    typer.Option(metavar="N", help="Maximum pairs of a cluster an epoch; 0: all.", rich_help_panel=RUN),
]
LinearDecay = Annotated[
    bool | None,
    typer.Option(
        "--linear-decay/--early-stopping",
        help="Reduce the rate to 0 and keep the last epoch, or keep the epoch with the best ROC AUC.",
        rich_help_panel=RUN,
    ),
]
Patience = Annotated[
    int | None,
    typer.Option(metavar="N", help="Epochs without a better ROC AUC before --early-stopping.", rich_help_panel=RUN),
]
UniqueClusters = Annotated[
    bool | None,
    typer.Option(
        "--unique-clusters",
        help="One pair of a cluster a batch, as --pairs-per-cluster does.",
        rich_help_panel=RUN,
    ),
]
ChunkSize = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Pairs encoded at a time, for batches beyond memory; 0: all.",
        rich_help_panel=RUN,
    ),
]
Precision = Annotated[
    str | None, typer.Option(metavar="NAME", help="float32, or bfloat16 for graphics cards.", rich_help_panel=RUN)
]
Seed = Annotated[
    int, typer.Option(metavar="N", help="Seed of weights, order and sampled non-pairs.", rich_help_panel=RUN)
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="cpu, cuda or cuda:1.", show_default="CUDA where there is one", rich_help_panel=RUN
    ),
]

Loss = Annotated[
    LossChoice | None,
    typer.Option(
        metavar="NAME",
        help="sdml, multiple_negatives, triplet or online_contrastive.",
        rich_help_panel=LOSS,
    ),
]
Scale = Annotated[
    float | None, typer.Option(metavar="X", help="Factor of the cosine (multiple_negatives).", rich_help_panel=LOSS)
]
Smoothing = Annotated[
    float | None,
    typer.Option(metavar="X", help="Share of the target spread over the batch, in [0, 1).", rich_help_panel=LOSS),
]
SmoothingOver = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Spread it over batch, or over the others.", rich_help_panel=LOSS),
]
Mates = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Cluster mates in a batch: masked, or positives.",
        rich_help_panel=LOSS,
    ),
]
Symmetric = Annotated[
    bool | None,
    typer.Option(
        "--symmetric/--one-sided", help="Both questions of a pair are anchors, or the first.", rich_help_panel=LOSS
    ),
]
Distance = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="squared_euclidean, euclidean or symmetric_kl (sdml, triplet).",
        rich_help_panel=LOSS,
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(metavar="X", help="Margin above 0 (triplet, online_contrastive).", rich_help_panel=LOSS),
]
Negatives = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="random, or hard: the nearest (triplet).", rich_help_panel=LOSS),
]
