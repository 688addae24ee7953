"""CPU seconds and memory of `qpr clusters`, of the same job done by other means, and of its default options.

Run: python -m benchmarks.pipeline [--events 200000 --events 1000000] [--seed 0] [--without row_beam] [--logs FOLDER]

Every program reads the same simulated Parquet log and writes the same dataset as `--coherence paper`; all four tables
are compared. A program is a process of its own, start included, and its CPU time is what the operating system charged
it. Simulated logs stay in FOLDER, where there is one, for the next run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.cost import Cost, measure
from benchmarks.machine import describe_machine
from pipelines.writing.parquet import ORDER
from schemas.artifacts.content_digest import rows_digest
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.tables import TABLES

QPR = [sys.executable, "-m", "jobs"]
PAPER = ["--coherence", "paper"]


class Rival(NamedTuple):
    """Another way to do the job: its name in the table, and the most events it is asked to take."""

    title: str
    events: int


RIVALS = {
    "polars_frames": Rival("polars", 10_000_000),
    "duckdb_sql": Rival("duckdb", 10_000_000),
    "dict_loop": Rival("plain Python dict loop", 4_000_000),
    "row_beam": Rival("Beam, one dict a row", 1_000_000),
}
OPTIONS = {
    "near duplicates too": [*PAPER, "--near-duplicate", "0.9"],
    "ambiguity too": [*PAPER, "--min-answer-share", "0.5"],
    "linking (logistic) too": [*PAPER, "--linkage", "logistic"],
    "linking (boosted) too": [*PAPER, "--linkage", "boosted"],
    "the default options": [],
}
"""What `qpr clusters` does beyond the paper, one thing at a time and together."""


def difference(dataset: Dataset, folder: Path) -> str:
    """Return which tables differ between a dataset and a rival's files, or an empty string."""
    return ", ".join(name for name in TABLES if _differs(dataset, name, sorted(folder.glob(f"{name}*.parquet"))))


def _differs(dataset: Dataset, name: str, files: list[Path]) -> bool:
    """Compare all but scores by digest, which needs no memory, then the scores of rows in order."""
    scores = [field.name for field in TABLES[name] if pa.types.is_floating(field.type)]

    def rest(tables: Iterator[pa.Table]) -> str:
        return rows_digest(table.drop_columns(scores) for table in tables)

    if rest(dataset.parts(name)) != rest(_parts(name, files)):
        return True
    if not scores:
        return False
    columns = [*ORDER[name], *scores]
    by = [(column, "ascending") for column in ORDER[name]]
    ours, theirs = (
        pa.concat_tables(table.select(columns) for table in tables).sort_by(by)
        for tables in (dataset.parts(name), _parts(name, files))
    )
    return not all(_close(ours[score], theirs[score]) for score in scores)


def _parts(name: str, files: list[Path]) -> Iterator[pa.Table]:
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches():
            yield pa.table(batch).select(TABLES[name].names).cast(TABLES[name])


def _close(one: pa.ChunkedArray, two: pa.ChunkedArray) -> bool:
    return np.allclose(one.to_numpy(), two.to_numpy(), rtol=1e-9, atol=1e-12, equal_nan=True)


def run_all(events: int, log: str, folder: str, *, without: list[str]) -> Iterator[tuple[str, Cost, str]]:
    """Yield name, cost and result of `qpr clusters`, of each rival that takes so many events, of our other options."""
    ours = [*QPR, "clusters", log, "--output"]
    cost = measure([*ours, f"{folder}/ours", *PAPER])
    dataset = open_dataset(f"{folder}/ours")
    yield "qpr clusters --coherence paper", cost, f"{sum(file.rows for file in dataset.manifest.files):,} rows"
    for name, rival in RIVALS.items():
        if name not in without and events <= rival.events:
            cost = measure([sys.executable, "-m", f"benchmarks.rivals.{name}", log, f"{folder}/{name}"])
            differing = difference(dataset, Path(folder, name))
            yield rival.title, cost, f"DIFFERS in {differing}" if differing else "equal"
    if "options" not in without:
        for name, flags in OPTIONS.items():
            cost = measure([*ours, f"{folder}/other", "--overwrite", *flags])
            counters = open_dataset(f"{folder}/other").manifest.counters
            clusters = sum(counters.get(f"clusters_{split}", 0) for split in ("train", "validation", "test"))
            yield name, cost, f"{clusters:,} clusters"


def main() -> None:
    """Measure each program on each size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", choices=[*RIVALS, "options"], action="append", default=[])
    parser.add_argument("--logs")
    options = parser.parse_args()
    print(describe_machine(), f"seed {options.seed}", sep="; ")
    print(f"{'events':>12} {'program':31} {'CPU s':>7} {'ratio':>6} {'us/row':>7} {'wall s':>7} {'peak MB':>8}  result")
    for events in options.events or [1_000_000]:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(options.logs or folder, f"simulated-{events}-{options.seed}.parquet")
            if not log.exists():
                simulated = ["--events", str(events), "--seed", str(options.seed)]
                measure([*QPR, "simulate", "--output", str(log), *simulated])
            first = None
            for name, cost, result in run_all(events, str(log), folder, without=options.without):
                first = first or cost.cpu_s
                spent = f"{cost.cpu_s:7.1f} {cost.cpu_s / first:6.2f} {cost.cpu_s / events * 1e6:7.1f}"
                print(f"{events:12,} {name:31} {spent} {cost.wall_s:7.1f} {cost.memory_mb:8.0f}  {result}", flush=True)


if __name__ == "__main__":
    main()
