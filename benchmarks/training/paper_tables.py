"""The tables of the paper (Bonadiman et al. 2019, section 5) on Quora: smoothing, batch size, loss.

Run: python -m benchmarks.training.paper_tables --dataset quora --work FOLDER --table losses --epochs 1

Each row is a training of `qpr train --preset paper` with the options named, seed 0, and exact search of all questions
by the questions of validation and of test. FOLDER keeps models and figures, so that a stopped run continues. Rows with
equal options are trained once.
"""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.cli import AsJson, Page, Pairs, Report, run
from benchmarks.measure import measure_qpr
from benchmarks.retrieval.exact_search import exact
from benchmarks.retrieval.figures import METRICS, figures, spelled
from model.encoders.loading import load_encoder
from model.evaluation.relevance import judgements
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError

SPLITS = ("validation", "test")
DEPTH = 100

TABLES: dict[str, dict[str, list[str]]] = {
    "smoothing": {
        f"SDML, epsilon {smoothing}": [] if smoothing == "0.3" else ["--smoothing", smoothing]
        for smoothing in ("0", "0.1", "0.2", "0.3", "0.4")
    },
    "batch": {
        f"SDML, N = {size}": [] if size == 512 else ["--batch-size", str(size)]
        for size in (32, 64, 128, 256, 512, 1024)
    },
    "losses": {
        **{
            f"triplet, {distance}, {negatives} negatives": [
                *("--loss", "triplet", "--distance", distance.replace(" ", "_")),
                *("--negatives", negatives),
            ]
            for distance in ("euclidean", "squared euclidean")
            for negatives in ("random", "hard")
        },
        "SDML, euclidean": ["--distance", "euclidean"],
        "SDML, squared euclidean": [],
    },
}
"""For each table its rows and what they add to the paper's preset: epsilon 0.3, N = 512, squared Euclidean distance."""

TITLES = {
    "smoothing": "Smoothing (the paper's Table 1)",
    "batch": "Batch size (Table 2)",
    "losses": "Losses (Tables 3 and 4)",
}

Table = enum.StrEnum("Table", ["smoothing", "batch", "losses"])
Work = Annotated[Path, typer.Option(help="Folder of models and figures.")]


def trained(dataset: str, work: Path, options: list[str]) -> dict[str, Any]:
    """Train and measure, unless the folder has it from before, and return the figures.

    Raises:
        QprError: the folder has figures of another dataset.
    """
    name = name_of(options)
    result = work / f"{name}.json"
    opened = open_dataset(dataset)
    if result.exists():
        before = dict(json.loads(result.read_text("utf-8")))
        if before.get("dataset_digest") != opened.manifest.digest:
            raise QprError(f"{result}: has figures of another dataset than {dataset}. Give another --work")
        return before
    model = str(work / name)
    given = ["--dataset", dataset, "--output", model, "--preset", "paper", *options, "--overwrite", "--resume"]
    cost = measure_qpr("train", *given)
    counters = read_manifest(model, "model").counters
    figures_of_run = {
        "epochs": counters["epochs"],
        "best_epoch": counters["kept_epoch"],
        "cpu_minutes": cost.cpu_s / 60,
        "dataset_digest": opened.manifest.digest,
        **measured(opened, model),
    }
    result.write_text(json.dumps(figures_of_run, indent=1) + "\n", "utf-8")
    return figures_of_run


def name_of(options: list[str]) -> str:
    """Return the name of the model that these options make, in the folder of models and figures."""
    return "-".join(option.lstrip("-") for option in options) or "paper"


def measured(dataset: Dataset, model: str) -> dict[str, Any]:
    """Return the figures of both splits with exact search."""
    encoder = load_encoder(model)
    questions = dataset.table("questions", columns=["question_id", "text"])
    of_split = {}
    for split in SPLITS:
        judged = judgements(dataset.cluster_texts(split))
        ranked = exact(encoder, questions, judged, depth=DEPTH)
        of_split[split] = figures(ranked, judged)
    return of_split


def cells(name: str, figures_of: dict[str, Any]) -> dict[str, object]:
    """Return a row: H@1/H@10/MRR per question of both splits, per pair of test; epochs and minutes."""
    columns = {"validation": ("validation", "per_question"), "test": ("test", "per_question")}
    columns |= {"test, per pair": ("test", "per_pair")}
    shown = {
        title: " / ".join(spelled(figures_of[split][kind][metric]) for metric in METRICS)
        for title, (split, kind) in columns.items()
    }
    epochs = f"{figures_of['best_epoch']} of {figures_of['epochs']}"
    return {"H@1 / H@10 / MRR": name, **shown, "best_epoch": epochs, "cpu_minutes": f"{figures_of['cpu_minutes']:.1f}"}


def main(
    dataset: Pairs,
    work: Work,
    table: Annotated[list[Table], typer.Option(help="Table; repeatable.")] = [*Table],
    epochs: Annotated[int | None, typer.Option(help="Epochs; by default those of the preset.")] = None,
    write: Page = None,
    as_json: AsJson = False,
) -> None:
    """Train and measure each row."""
    work.mkdir(parents=True, exist_ok=True)
    options = [] if epochs is None else ["--epochs", str(epochs)]
    report = Report(as_json=as_json, seed=0, options_of_every_row=" ".join(options))
    for name in table:
        report.heading(TITLES[name])
        for row, added in TABLES[name].items():
            report.row(**cells(row, trained(dataset, work, [*added, *options])))
    report.write(write, mark="paper_tables")


if __name__ == "__main__":
    run(main)
