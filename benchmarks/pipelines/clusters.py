"""Cost of `qpr clusters`, of other programs for the same work, and of options beyond the paper.

Run: python -m benchmarks.pipelines.clusters --events 200000 --events 1000000 --without row_beam

Every program reads the same simulated Parquet log and writes the dataset of `--coherence paper`; all four tables are
compared. Each runs in its own process; start-up is included.
"""

from __future__ import annotations

import enum
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import Cost, measure, measure_qpr, simulate
from pipelines.writing.parquet import ORDER
from schemas.artifacts.content_digest import rows_digest
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.tables import TABLES

PAPER = ("--coherence", "paper")
PEERS = {"polars_frames": 10_000_000, "dict_loop": 4_000_000, "row_beam": 1_000_000}
"""Modules of `benchmarks.pipelines.peers`, each with the maximum number of events it is measured on."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "near duplicates too": (*PAPER, "--near-duplicate", "0.9"),
    "ambiguity too": (*PAPER, "--min-answer-share", "0.5"),
    "linkage (logistic) too": (*PAPER, "--linkage", "logistic"),
    "linkage (boosted) too": (*PAPER, "--linkage", "boosted"),
    "default options": (),
}
"""Options of `qpr clusters` beyond the paper's, one at a time and together."""

Omitted = enum.StrEnum("Omitted", ["polars_frames", "dict_loop", "row_beam", "single_options", "options"])


def difference(dataset: Dataset, folder: Path) -> str:
    """Return the names of the tables that differ between a dataset and a peer's files, or an empty string."""
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
    columns = list(dict.fromkeys([*ORDER[name], *scores]))
    by = [(column, "ascending") for column in ORDER[name]]
    ours, theirs = (
        pa.concat_tables(table.select(columns) for table in tables).sort_by(by)
        for tables in (dataset.parts(name), _parts(name, files))
    )
    pairs = ((ours[score].to_numpy(), theirs[score].to_numpy()) for score in scores)
    return not all(np.allclose(*pair, rtol=1e-9, atol=1e-12, equal_nan=True) for pair in pairs)


def _parts(name: str, files: list[Path]) -> Iterator[pa.Table]:
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches():
            yield pa.table(batch).select(TABLES[name].names).cast(TABLES[name])


def run_all(events: int, log: str, folder: str, *, without: list[str]) -> Iterator[tuple[str, Cost, str]]:
    """Yield name, cost and result of `qpr clusters`, of each peer that takes that many events, of other options."""
    cost = measure_qpr("clusters", log, "--output", f"{folder}/ours", *PAPER)
    dataset = open_dataset(f"{folder}/ours")
    yield "qpr clusters --coherence paper", cost, f"{sum(file.rows for file in dataset.manifest.files):,} rows"
    for name, limit in PEERS.items():
        if name not in without and events <= limit:
            cost = measure([sys.executable, "-m", f"benchmarks.pipelines.peers.{name}", log, f"{folder}/{name}"])
            differing = difference(dataset, Path(folder, name))
            yield name, cost, f"DIFFERS in {differing}" if differing else "equal"
    for name, flags in OPTIONS.items() if "options" not in without else ():
        if flags and "single_options" in without:
            continue
        cost = measure_qpr("clusters", log, "--output", f"{folder}/other", "--overwrite", *flags)
        yield name, cost, f"{open_dataset(f'{folder}/other').manifest.counters['clusters_train']:,} train clusters"


def main(
    events: Annotated[list[int], typer.Option(help="Rows of the log; repeatable.")] = [1_000_000],
    without: Annotated[
        list[Omitted], typer.Option(help="Peer to omit, or the options beyond the paper's, all or singly; repeatable.")
    ] = [],
    logs: Annotated[str | None, typer.Option(help="Folder that keeps simulated logs for the next run.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure each program on each size."""
    report = Report(as_json=as_json, seed=seed)
    for count in events:
        with tempfile.TemporaryDirectory() as folder:
            log = simulate(logs or folder, events=count, seed=seed)
            first = None
            for name, cost, result in run_all(count, log, folder, without=[*without]):
                first = first or cost.cpu_s
                ratios = {"ratio": cost.cpu_s / first, "us_a_row": cost.cpu_s / count * 1e6}
                report.row(events=count, program=name, **cost.cells(), **ratios, result=result)


if __name__ == "__main__":
    run(main)
