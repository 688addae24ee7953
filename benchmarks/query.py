"""Time to open an index and to answer a query, encoding included, one query at a time on one machine.

index, dataset -> open_index, Index.search -> milliseconds
Run: python benchmarks/query.py --index index --dataset dataset
"""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jobs.display.console import emit, two_columns
from model.index.index import Index
from model.search.opening import open_index
from schemas.artifacts.dataset import open_dataset


def query(
    index: Annotated[str, typer.Option(help="Index to search.")],
    dataset: Annotated[str, typer.Option(help="Dataset whose questions are the queries.")],
    queries: Annotated[int, typer.Option(min=1, help="How many.")] = 1_000,
    k: Annotated[int, typer.Option(min=1, help="Hits a query.")] = 20,
    probes: Annotated[int | None, typer.Option(min=1, help="Lists searched; the index's own by default.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample of queries.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Print mean and 95th percentile of a query, and how long opening took."""
    texts = open_dataset(dataset).table("questions", columns=["text"])["text"]
    chosen = np.random.default_rng(seed).choice(len(texts), size=min(queries, len(texts)), replace=False)
    started = time.perf_counter()
    opened = open_index(index, probes=probes)
    opening = time.perf_counter() - started
    started = time.perf_counter()
    opened.questions([0])
    lookup = time.perf_counter() - started
    times = milliseconds(opened, texts.take(chosen).to_pylist(), k=k)
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "questions": len(opened),
        "shards": len(opened.shards),
        "factory": opened.settings.factory,
        "probes": opened.probes,
        "queries": len(times),
        "seed": seed,
        "k": k,
        "opening_ms": round(1_000 * opening, 1),
        "first_lookup_ms": round(1_000 * lookup, 1),
        "mean_ms": round(float(np.mean(times)), 3),
        "p95_ms": round(float(np.percentile(times, 95)), 3),
        "max_ms": round(float(np.max(times)), 3),
    }
    emit(
        result,
        as_json=as_json,
        table=lambda: two_columns("Query time, encoding and texts of the hits included", result),
    )


def milliseconds(opened: Index, texts: list[str], *, k: int) -> list[float]:
    """Return how long each text took to be encoded, searched and its hits looked up, after one to warm up."""
    times = []
    for text in [texts[0], *texts]:
        started = time.perf_counter()
        opened.search(text, k)
        times.append(1_000 * (time.perf_counter() - started))
    return times[1:]


if __name__ == "__main__":
    typer.run(query)
