"""Cost of `qpr train` for each preset and each interval of checkpoints, and its estimate by `--dry-run`.

Run: python -m benchmarks.training.commands --dataset quora --epochs 1 --checkpoint-every 0 --checkpoint-every 0.2

A training runs in its own process; start-up, reading and writing are included. All models of a preset must be equal.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Annotated

import typer

from benchmarks.cli import AsJson, Pairs, Report, Seed, run
from benchmarks.measure import measure_qpr
from schemas.artifacts.manifest import read_manifest


def main(
    dataset: Pairs,
    preset: Annotated[list[str], typer.Option(help="Preset; repeatable.")] = ["default", "paper"],
    epochs: Annotated[int | None, typer.Option(help="Epochs; by default those of the preset.")] = None,
    checkpoint_every: Annotated[list[float], typer.Option(help="Minutes, 0 for never; repeatable.")] = [0.0],
    threads: Annotated[int, typer.Option(help="Threads of a training.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train each model and print its cost beside the estimate."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    report = Report(as_json=as_json, threads=threads, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in preset:
            given = ["train", "--dataset", dataset, "--preset", name, "--seed", seed]
            given += [] if epochs is None else ["--epochs", epochs]
            plan = json.loads(measure_qpr(*given, "--output", f"{folder}/m", "--dry-run", "--json").output)
            digests = set()
            for minutes in checkpoint_every:
                url = f"{folder}/{name}-{minutes}"
                cost = measure_qpr(*given, "--output", url, "--checkpoint-every", minutes)
                manifest = read_manifest(url, "model")
                digests.add(manifest.digest)
                estimate = {"estimated_s": plan["seconds"], "estimated_mb": plan["memory_bytes"] / 1e6}
                trained = {"epochs": manifest.counters["epochs"], "training_s": _training_seconds(url)}
                report.row(preset=name, checkpoint_minutes=minutes, **cost.cells(), **trained, **estimate)
            if len(digests) > 1:
                raise SystemExit(f"checkpoints changed the model of preset {name}")


def _training_seconds(model: str) -> float:
    """Return the seconds that all steps of a model's training took."""
    [path] = [file.path for file in read_manifest(model, "model").files if file.path.endswith("metrics.jsonl")]
    with open(f"{model}/{path}", encoding="utf-8") as lines:
        return float(json.loads(lines.readlines()[-1])["total"]["seconds"])


if __name__ == "__main__":
    run(main)
