"""Ways to search an index: quality on a split, and milliseconds of one query at a time.

Run: python -m benchmarks.retrieval.modes --index index --dataset quora --split validation

A question never finds itself, so that the question with an equal key, which is the first hit of every mode, never
counts. Times include encoding, texts of the hits and their reasons.
"""

from __future__ import annotations

import time
from typing import Annotated, Literal

import numpy as np
import typer

from benchmarks.cli import AsJson, Pairs, Report, run
from benchmarks.retrieval.figures import half_width
from model.choices import Mode
from model.evaluation.evaluator import metrics_of, ranked_ids
from model.evaluation.relevance import judgements
from model.search.searcher import Searcher, open_searcher
from schemas.artifacts.dataset import open_dataset

MODES = ["dense", "bm25", "fusion", "probability"]


def milliseconds(searcher: Searcher, texts: list[str], *, k: int) -> list[float]:
    """Return the time of a search for each text after one that is not counted."""
    searcher.search(texts[0], k)
    clock = [time.perf_counter()]
    for text in texts:
        searcher.search(text, k)
        clock.append(time.perf_counter())
    return [float(gap) for gap in 1_000 * np.diff(clock)]


def main(
    dataset: Pairs,
    index: Annotated[str, typer.Option(help="Index of that dataset.")],
    mode: Annotated[list[str], typer.Option(help="Mode to measure; repeatable.")] = MODES,
    reranker: Annotated[str | None, typer.Option(help="Reranker of the index, measured too.")] = None,
    split: Annotated[Literal["validation", "test"], typer.Option(help="Split with the queries.")] = "validation",
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of queries; all by default.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Search all lists.")] = False,
    timed: Annotated[int, typer.Option(min=1, help="Number of queries that are timed.")] = 500,
    k: Annotated[int, typer.Option(min=1, help="Hits of a timed query.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Measure each mode."""
    judged = judgements(open_dataset(dataset).cluster_texts(split), limit=limit)
    report = Report(as_json=as_json, seed=0, split=split, queries=len(judged), k=k, all_lists=exact)
    ways: list[tuple[str, str | None]] = [(name, None) for name in mode]
    for name, url in [*ways, *([("rerank", reranker)] if reranker else [])]:
        chosen: Mode = name  # type: ignore[assignment]  # the opening refuses another one
        searcher = open_searcher(index, mode=chosen, rerank=url, exact=exact)
        ranked = ranked_ids(searcher, judged, depth=100)
        metrics = metrics_of(ranked, judged)
        times = milliseconds(searcher, judged.texts.slice(0, timed).to_pylist(), k=k)
        median, p95 = np.percentile(times, [50, 95])
        widths = [round(width, 4) for width in half_width(ranked, judged)]
        quality = {name: round(value, 4) for name, value in vars(metrics).items()}
        report.row(mode=name, **quality, half_widths=str(widths), median_ms=float(median), p95_ms=float(p95))


if __name__ == "__main__":
    run(main)
