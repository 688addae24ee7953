"""CPU seconds and memory of `qpr clusters` against a plain Python loop and a row-at-a-time Beam pipeline.

Run: python -m benchmarks.pipeline [--events 1000000] [--seed 0] [--without row_beam]

Every program reads the same simulated Parquet log and writes the same dataset; the contents are compared. A program
is a process of its own, start included, and its CPU time is what the operating system charged it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from pipelines.writing import ORDER
from schemas.dataset import open_dataset

RIVALS = {"dict_loop": "plain Python dict loop", "row_beam": "Beam, one dict a row"}


def difference(dataset: str, folder: Path) -> str:
    """Return which tables differ between a dataset and a rival's files, or an empty string."""
    ours = open_dataset(dataset)
    differing = []
    for name, order in ORDER.items():
        by = [(column, "ascending") for column in order]
        theirs = pa.concat_tables(pq.read_table(file) for file in sorted(folder.glob(f"{name}*.parquet")))
        one = ours.table(name).sort_by(by).combine_chunks()
        two = theirs.select(one.column_names).sort_by(by).combine_chunks()
        if len(one) != len(two) or not all(_same(one[c], two[c]) for c in one.column_names):
            differing.append(name)
    return ", ".join(differing)


def _same(one: pa.ChunkedArray, two: pa.ChunkedArray) -> bool:
    if pa.types.is_floating(one.type):
        return np.allclose(one.to_numpy(), two.to_numpy(), rtol=1e-9, atol=1e-12, equal_nan=True)
    return bool(one.equals(two.cast(one.type)))


def main() -> None:
    """Measure each program and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", choices=RIVALS, action="append", default=[])
    options = parser.parse_args()
    qpr = [sys.executable, "-m", "jobs"]
    print(describe_machine(), f"{options.events:,} events, seed {options.seed}", sep="; ")
    with tempfile.TemporaryDirectory() as folder:
        logs, dataset = f"{folder}/logs.parquet", f"{folder}/dataset"
        measure([*qpr, "simulate", "--output", logs, "--events", str(options.events), "--seed", str(options.seed)])
        seconds, _, memory, _ = measure([*qpr, "clusters", "--logs", logs, "--output", dataset, "--coherence", "paper"])
        print(f"{'program':28} {'CPU s':>7} {'ratio':>6} {'peak MB':>8}  result")
        rows = sum(file.rows for file in open_dataset(dataset).manifest.files)
        print(f"{'qpr clusters':28} {seconds:7.1f} {1:6.2f} {memory:8.0f}  {rows:,} rows")
        for name in (name for name in RIVALS if name not in options.without):
            rival = Path(folder) / name
            spent, _, peak, _ = measure([sys.executable, "-m", f"benchmarks.rivals.{name}", logs, str(rival)])
            differing = difference(dataset, rival)
            verdict = f"DIFFERS in {differing}" if differing else "equal"
            print(f"{RIVALS[name]:28} {spent:7.1f} {spent / seconds:6.2f} {peak:8.0f}  {verdict}")


if __name__ == "__main__":
    main()
