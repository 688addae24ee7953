"""Cost of changing an index, beside building it again: additions, deletions, compaction.

Run: python -m benchmarks.retrieval.changes --dataset dataset --model encoder --questions 1000

Some questions of the dataset, drawn by the seed, are added to an index of all others, replaced there and deleted again,
each by a command. The rebuild is `qpr index` of all questions; the compacted index must equal it byte for byte. Queries
are timed before the changes, after them and after compaction. CPU times include the start of Python and Beam.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import Cost, measure_call, measure_qpr
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

QUERIES = 500
ROUNDS = 3


def main(
    dataset: Annotated[str, typer.Option(help="Dataset with the questions.")],
    model: Annotated[str, typer.Option(help="Model that encodes them.")],
    questions: Annotated[int, typer.Option(min=1, help="Number of questions to add, replace and delete.")] = 1_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the cost of each change, of a rebuild, and of queries between them."""
    rows = open_dataset(dataset).table("questions", columns=["text", "answer", "events"])
    drawn = np.zeros(len(rows), bool)
    drawn[np.random.default_rng(seed).choice(len(rows), size=questions, replace=False)] = True
    report = Report(as_json=as_json, seed=seed, indexed=len(rows) - questions, changed=questions)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        index, rebuilt = f"{folder}/index", f"{folder}/rebuilt"
        new, texts = rows.filter(pa.array(drawn)), f"{folder}/texts.json"
        replacing = new.set_column(1, "answer", pa.array(["another answer"] * len(new)))
        tables = {"others": rows.filter(pa.array(~drawn)), "new": new, "replacing": replacing, "all": rows}
        files = {name: f"{folder}/{name}.parquet" for name in tables}
        for name, table in tables.items():
            pq.write_table(table, files[name])
        Path(texts).write_text(json.dumps(rows["text"].slice(0, QUERIES).to_pylist()))
        build = ("index", "--model", model, "--questions")
        show(report, "build", measure_qpr(*build, files["others"], "--output", index))
        show_queries(report, "as built", index, texts)
        show(report, "add", measure_qpr("index", "--output", index, "--add", files["new"]))
        show(report, "replace", measure_qpr("index", "--output", index, "--add", files["replacing"]))
        show(report, "delete", measure_qpr("index", "--output", index, "--delete", files["new"]))
        show(report, "add again", measure_qpr("index", "--output", index, "--add", files["new"]))
        show_queries(report, "after four changes", index, texts)
        show(report, "compact", measure_qpr("index", "--output", index, "--compact"))
        show(report, "rebuild", measure_qpr(*build, files["all"], "--output", rebuilt))
        equal = read_manifest(index).digest == read_manifest(rebuilt).digest
        report.row(compacted_equals_rebuilt=equal)
        show_queries(report, "rebuilt", rebuilt, texts)


def show(report: Report, name: str, cost: Cost) -> None:
    """Print the cost of a command."""
    report.row(change=name, **cost.cells())


def show_queries(report: Report, name: str, url: str, texts: str) -> None:
    """Print milliseconds of CPU a query, alone and in a batch."""
    time.sleep(3)  # files that have just changed are not remembered
    report.row(index=name, **json.loads(measure_call(search, url, texts).output))


def search(url: str, path: str) -> None:
    """Print the figures of an index as JSON."""
    started = time.process_time()
    open_searcher(url)
    first, started = time.process_time() - started, time.process_time()
    searcher = open_searcher(url)
    figures = {"first_opening_cpu_s": first, "opening_cpu_s": time.process_time() - started}
    texts, alone, together = json.loads(Path(path).read_text()), [], []
    for _ in range(ROUNDS + 1):
        started = time.process_time()
        for text in texts:
            searcher.search(text, 10)
        alone.append(time.process_time() - started)
        started = time.process_time()
        searcher.search_many(texts, 10)
        together.append(time.process_time() - started)
    milliseconds = {"single_cpu_ms": min(alone[1:]), "batch_cpu_ms": min(together[1:])}
    print(json.dumps(figures | {name: 1_000 * value / len(texts) for name, value in milliseconds.items()}))


if __name__ == "__main__":
    run(main)
