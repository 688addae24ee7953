"""The options of `qpr train` that say how an encoder learns; without a value each is as in the preset.

command line -> Annotated types -> jobs.train
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.encoder_options import LossChoice

Loss = Annotated[
    LossChoice | None,
    typer.Option(
        help="sdml: the paper's. multiple_negatives: by cosine, from both sides. triplet: a negative a pair. "
        "online_contrastive: the hard pairs of a batch by cosine."
    ),
]
Scale = Annotated[float | None, typer.Option(help="What the loss multiple_negatives multiplies the cosine by.")]
Smoothing = Annotated[
    float | None, typer.Option(help="The paper's epsilon: share of the target spread over the batch, in [0, 1).")
]
SmoothingOver = Annotated[
    str | None,
    typer.Option(help="Where that share goes. batch: to all of it, as in the paper. others: not to the paraphrase."),
]
Mates = Annotated[
    str | None,
    typer.Option(
        help="What other questions of the same cluster are in a batch. masked: left out. positives: paraphrases."
    ),
]
Symmetric = Annotated[
    bool | None,
    typer.Option("--symmetric/--one-sided", help="Whether both questions of a pair look for the other, or the first."),
]
Distance = Annotated[
    str | None, typer.Option(help="Of sdml and triplet: squared_euclidean, euclidean or symmetric_kl.")
]
Margin = Annotated[float | None, typer.Option(help="Of triplet and online_contrastive, above 0.")]
Negatives = Annotated[
    str | None, typer.Option(help="Of triplet. random: any other question of the batch. hard: the nearest.")
]
UniqueClusters = Annotated[
    bool | None,
    typer.Option("--unique-clusters", help="No two pairs of a cluster in a batch; so with --pairs-per-cluster anyway."),
]
ChunkSize = Annotated[
    int | None,
    typer.Option(
        help="Pairs encoded at a time where a batch does not fit in memory, with its very gradients but every question "
        "encoded twice; 0: the whole batch."
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(help="float32, or bfloat16 to encode at half precision while training, which suits graphics cards."),
]
BigramBins = Annotated[
    int | None,
    typer.Option(help="Embeddings shared by all pairs of neighbouring words, of subword and static; 0: none."),
]
