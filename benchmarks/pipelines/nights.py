"""CPU time of `qpr nightly` from night to night, and that of its steps alone.

Run: python -m benchmarks.pipelines.nights --nights 5 --events 20000

A simulated log is divided by day. Each night adds a day: "ingest" counts it alone; "rest" makes the dataset of the days
so far, builds the index and compares it with the one before. The encoder is kept after the first night (``--retrain
never``). An ingestion is to cost what its day costs; the rest grows with the distinct questions of the window.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_qpr, simulate


def divide(log: str, warehouse: Path) -> list[str]:
    """Write the rows of each day as a drop and return the days."""
    rows = pq.read_table(log)
    of_row = pc.strftime(rows["timestamp"], "%Y-%m-%d")
    days: list[str] = sorted(pc.unique(of_row).to_pylist())
    for day in days:
        folder = warehouse / "events" / f"date={day}"
        folder.mkdir(parents=True)
        pq.write_table(rows.filter(pc.equal(of_row, pa.scalar(day))), folder / "log.parquet")
    return days


def main(
    nights: Annotated[int, typer.Option(help="Number of nights.", min=2)] = 5,
    events: Annotated[int, typer.Option(help="Rows of a day.")] = 20_000,
    epochs: Annotated[int, typer.Option(help="Epochs of the first night's training.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure each night."""
    report = Report(as_json=as_json, nights=nights, events=events, epochs=epochs, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        log = simulate(folder, events=nights * events, seed=seed, options=("--days", nights))
        warehouse = Path(folder) / "warehouse"
        options = ("--retrain", "never", "--epochs", epochs, "--max-regression", 1, "--max-kept-fall", 1)
        second = None
        for number, day in enumerate(divide(log, warehouse)):
            ingested = measure_qpr("ingest", "--warehouse", warehouse, "--date", day)
            whole = measure_qpr("nightly", "--warehouse", warehouse, "--date", day, *options)
            second = whole if number == 1 else second
            record = json.loads((warehouse / "versions" / f"{number + 1:08d}.json").read_text())
            run_folder = json.loads((warehouse / record["dataset"]["path"] / "manifest.json").read_text())
            report.row(
                night=number + 1,
                ingest_cpu_s=ingested.cpu_s,
                rest_cpu_s=whole.cpu_s,
                memory_mb=whole.memory_mb,
                of_night_2=whole.cpu_s / second.cpu_s if second else 0.0,
                questions=run_folder["counters"]["questions"],
                clusters_kept=record["changes"]["kept"],
                mrr=record["metrics"].get("mrr", 0.0),
            )


if __name__ == "__main__":
    run(main)
