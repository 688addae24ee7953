"""Time to open an index and to answer one query at a time, encoding and texts of the hits included.

Run: python -m benchmarks.retrieval.query --index index --dataset dataset --queries 1000
"""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset


def main(
    index: Annotated[str, typer.Option(help="Index to search.")],
    dataset: Annotated[str, typer.Option(help="Dataset whose questions are the queries.")],
    queries: Annotated[int, typer.Option(min=1, help="Number of queries.")] = 1_000,
    k: Annotated[int, typer.Option(min=1, help="Hits of a query.")] = 20,
    probes: Annotated[int | None, typer.Option(min=1, help="Lists searched; those of the index by default.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the times in milliseconds."""
    texts = open_dataset(dataset).table("questions", columns=["text"])["text"]
    chosen = np.random.default_rng(seed).choice(len(texts), size=min(queries, len(texts)), replace=False)
    clock = [time.perf_counter()]
    opened = open_searcher(index, probes=probes)
    clock.append(time.perf_counter())
    opened.index.questions([0])
    clock.append(time.perf_counter())
    sample = texts.take(chosen).to_pylist()
    for text in [sample[0], *sample]:  # the first one warms up
        opened.search(text, k)
        clock.append(time.perf_counter())
    times = 1_000 * np.diff(clock)
    about = {"questions": len(opened), "factory": opened.index.settings.factory, "probes": opened.index.probes}
    report = Report(as_json=as_json, seed=seed, queries=len(sample), k=k, shards=len(opened.index.shards), **about)
    answers = {"mean_ms": times[3:].mean(), "p95_ms": np.percentile(times[3:], 95), "max_ms": times[3:].max()}
    figures = {"opening_ms": times[0], "first_lookup_ms": times[1], **answers}
    report.row(**{name: float(value) for name, value in figures.items()})


if __name__ == "__main__":
    run(main)
