"""CPU seconds and memory of `qpr train`, each preset on the same dataset.

Run: python -m benchmarks.train --dataset D [--preset default] [--threads 1]

D is what `qpr quora` wrote. A training is a process of its own, start, reading and writing included.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from schemas.artifacts.manifest import read_manifest


def main() -> None:
    """Train each preset and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--preset", choices=("default", "paper"), action="append")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    print(f"{describe_machine()}; {options.threads} thread(s), seed 0")
    print(f"{'preset':8} {'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'epochs':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for preset in options.preset or ("default", "paper"):
            model = f"{folder}/{preset}"
            given = ["--dataset", options.dataset, "--output", model, "--preset", preset]
            cost = measure([sys.executable, "-m", "jobs", "train", *given])
            epochs = read_manifest(model, "model").counters["epochs"]
            print(f"{preset:8} {cost.cpu_s:7.1f} {cost.wall_s:7.1f} {cost.memory_mb:8.0f} {epochs:7}", flush=True)


if __name__ == "__main__":
    main()
