"""`qpr train-reranker`: learn from a validation split to order the hits of an index by the words of both questions.

dataset, index, further encoders -> fit_reranker -> reranker artefact, for --rerank
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson, OutputFolder, Overwrite
from jobs.options.training_run import RunTerms
from schemas.errors import UsageError
from schemas.option import PROBES


def train_reranker(
    dataset: Annotated[str, typer.Option(metavar="FOLDER", help="Dataset whose validation split to learn from.")],
    index: Annotated[str, typer.Option(metavar="FOLDER", help="Index whose hits to order.")],
    output: OutputFolder,
    terms: RunTerms,
    # 50 hits cost a search some milliseconds (decision 26)
    depth: Annotated[int, typer.Option(min=2, max=1_000, metavar="N", help="Hits to order for a query.")] = 50,
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="MODEL",
            help="Model that scores them too, or st:FOLDER. Repeatable.",
        ),
    ] = None,
    probes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=PROBES, show_default="the index's"),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare all vectors.")] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of weights, order and folds.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Train a reranker of an index's hits on a validation split.

    It compares the words of both questions, and their vectors by further encoders. The printed scores are
    cross-validated: a query is ordered by weights learned without its cluster.

    Examples:
      qpr train-reranker --dataset dataset --index index --output reranker
      qpr search --index index --rerank reranker "how do I pay my bill"
    """
    from jobs.workflows.training.reranking import RerankerRun, fit_reranker

    if exact and probes is not None:
        raise UsageError("--probes has no use with --exact, which compares all vectors. Leave one out")
    run = RerankerRun(depth, tuple(encoders or ()), probes, exact, seed)
    fit_reranker(dataset, index, output, run, terms, overwrite=overwrite, as_json=as_json)
