"""A demonstration on generated logs: every step is a command that can be typed.

nothing -> simulate -> clusters -> train -> index -> evaluate -> search -> three answered questions

Run: python -m jobs.demo [--folder demo] [--events 50000]
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from rich.text import Text

from jobs.display.console import results, say
from pipelines.simulation.noise import add_noise
from pipelines.simulation.settings import Noise
from schemas.artifacts.dataset import open_dataset

HURRIED = Noise(
    lower_case=1.0, unpunctuated=1.0, filler=0.5, truncated=0, homophone=0.2, dropped=0.4, doubled=0.1, swapped=0.1
)
"""How the demonstration's questions are typed: none of them is in the index as it stands."""


def demo(
    folder: Annotated[str, typer.Option(help="Where everything goes; earlier runs there are replaced.")] = "demo",
    events: Annotated[int, typer.Option(min=1_000, help="How many log rows.")] = 50_000,
    epochs: Annotated[int, typer.Option(min=1, help="Passes of the training.")] = 3,
) -> None:
    """Run the whole chain on generated logs and answer three questions."""
    started = time.monotonic()
    logs, dataset, model, index = (f"{folder}/{name}" for name in ("logs.parquet", "dataset", "model", "index"))
    run(
        "Generate question-answering logs, with noise and generic answers",
        "simulate",
        "--output",
        logs,
        "--events",
        events,
    )
    run(
        "Group the questions by their answer and keep the coherent groups",
        "clusters",
        logs,
        "--output",
        dataset,
    )
    run("Look at two of the clusters", "sample", "--dataset", dataset, "--clusters", 2, overwrite=False)
    run("Train an encoder on them", "train", "--dataset", dataset, "--output", model, "--epochs", epochs)
    run("Encode every question into FAISS shards", "index", "--questions", dataset, "--model", model, "--output", index)
    run(
        "Measure retrieval on clusters that training never saw",
        *("evaluate", "--dataset", dataset, "--split", "test", "--index", index, "--limit", 1000),
        overwrite=False,
    )
    questions = hurried_questions(dataset, 3)
    run(
        "Ask three questions in words the index does not hold",
        "search",
        "--index",
        index,
        "--k",
        3,
        *questions,
        overwrite=False,
    )
    results.rule()
    results.print(
        f"Done in {time.monotonic() - started:.0f} s. Everything is in {folder}/: {logs}, {dataset}, {model}, {index}"
    )
    results.print("Try next:")
    results.print(f'  qpr search --index {shlex.quote(index)} "your own question"')
    results.print(f"  qpr sample --dataset {shlex.quote(dataset)}")
    results.print("  qpr clusters YOUR_LOGS.jsonl --output dataset   # columns: question, answer")


def run(title: str, command: str, *arguments: str | int, overwrite: bool = True) -> None:
    """Print a command, run it, and end the demonstration with its exit code if it fails."""
    words = ["qpr", command, *map(str, arguments)]
    results.rule(Text(title, style="bold"), align="left")
    results.print(f"$ {shlex.join(words)}", style="cyan")
    started = time.monotonic()
    replace = ["--overwrite"] if overwrite else []
    code = subprocess.run([sys.executable, "-m", "jobs", *words[1:], *replace], check=False).returncode  # noqa: S603
    if code:
        say(f"`{shlex.join(words)}` ended with exit code {code}")
        raise typer.Exit(code)
    say(f"({time.monotonic() - started:.1f} s)")


def hurried_questions(dataset: str, count: int) -> list[str]:
    """Return noisy wordings of the most asked questions of the test split, none of them a question of the dataset."""
    clusters = open_dataset(dataset).table("clusters", columns=["events", "texts"], split="test")
    most_asked = clusters.sort_by([("events", "descending")]).slice(0, 20 * count)  # some get no noise
    clean = pa.array([max(texts, key=len) for texts in most_asked["texts"].to_pylist()], pa.string())
    noisy, changed = add_noise(clean, HURRIED, np.random.default_rng(0))
    asked = {text.lower() for texts in most_asked["texts"].to_pylist() for text in texts}
    fresh = [text for text, differs in zip(noisy.to_pylist(), changed, strict=True) if differs and text not in asked]
    return fresh[:count]


if __name__ == "__main__":
    typer.run(demo)
