"""The cost of checkpoints in a training, and the accuracy of `qpr train --dry-run`.

Run: python -m benchmarks.checkpoints --dataset D [--epochs 1] [--every 0.2] [--threads 1]

D is what `qpr quora` wrote. The same training of the default preset runs without checkpoints and with one every so many
minutes; each is a process of its own, start, reading and writing included. Both models must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from schemas.artifacts.manifest import read_manifest


def main() -> None:
    """Print what the plan says, and a line for each training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--every", type=float, default=0.2)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    print(f"{describe_machine()}; {options.threads} thread(s), {options.epochs} epoch(s), seed 0", flush=True)
    command = [sys.executable, "-m", "jobs", "train", "--dataset", options.dataset, "--epochs", str(options.epochs)]
    with tempfile.TemporaryDirectory() as folder:
        told = subprocess.run(
            [*command, "--output", f"{folder}/m", "--dry-run", "--json"], capture_output=True, check=True
        )
        plan = json.loads(told.stdout)
        memory, seconds = plan["memory_bytes"] / 1e6, plan["seconds"]
        print(f"plan: {memory:.0f} MB, {seconds:.1f} s to learn, {plan['checkpoint_bytes'] / 1e6:.0f} MB a checkpoint")
        print(f"{'minutes':>8} {'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'learning s':>11}")
        digests = set()
        for every in (0.0, options.every):
            model = f"{folder}/every-{every:g}"
            cost = measure([*command, "--output", model, "--checkpoint-every", str(every)])
            manifest = read_manifest(model, "model")
            digests.add(manifest.digest)
            learned = _learning_seconds(model)
            figures = f"{cost.cpu_s:7.1f} {cost.wall_s:7.1f} {cost.memory_mb:8.0f} {learned:11.1f}"
            print(f"{every:8g} {figures}", flush=True)
    if len(digests) != 1:
        raise SystemExit("checkpoints changed the model")


def _learning_seconds(model: str) -> float:
    """Return how long all steps of a model's training took."""
    [path] = [file.path for file in read_manifest(model, "model").files if file.path.endswith("metrics.jsonl")]
    with open(f"{model}/{path}", encoding="utf-8") as lines:
        return float(json.loads(lines.readlines()[-1])["total"]["seconds"])


if __name__ == "__main__":
    main()
