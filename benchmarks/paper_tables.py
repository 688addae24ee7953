"""The tables of the paper (Bonadiman et al. 2019, section 5) on Quora: smoothing, batch size, loss.

Run: python -m benchmarks.paper_tables --dataset D --work FOLDER [--table losses] [--epochs N] [--write docs/results.md]

Each row is a training of `qpr train --preset paper` with the options named, seed 0, and exact search of all questions
of D by the questions of validation and of test. FOLDER keeps models and figures: a run that was stopped goes on. Rows
with equal options are trained once. `--write` puts the tables into a Markdown file.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from benchmarks.marks import write
from benchmarks.retrieval import exact, figures
from model.encoders.registry import load_encoder
from model.evaluation.relevance import judgements
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import read_manifest

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

FIGURES = ("hits_at_1", "hits_at_10", "mrr")


def trained(dataset: str, work: Path, options: list[str]) -> dict[str, Any]:
    """Train and measure, unless the folder has it from before, and return the figures."""
    name = name_of(options)
    result = work / f"{name}.json"
    if result.exists():
        return dict(json.loads(result.read_text("utf-8")))
    model = str(work / name)
    given = ["--dataset", dataset, "--output", model, "--preset", "paper", *options, "--overwrite", "--resume"]
    cost = measure([sys.executable, "-m", "jobs", "train", *given])
    counters = read_manifest(model, "model").counters
    found = {
        "epochs": counters["epochs"],
        "best_epoch": counters["best_epoch"],
        "cpu_minutes": cost.cpu_s / 60,
        **measured(open_dataset(dataset), model),
    }
    result.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return found


def name_of(options: list[str]) -> str:
    """Return the name of the model that these options make, in the folder of models and figures."""
    return "-".join(option.lstrip("-") for option in options) or "paper"


def measured(dataset: Dataset, model: str) -> dict[str, Any]:
    """Return the figures of both splits with exact search."""
    encoder = load_encoder(model)
    questions = dataset.table("questions", columns=["question_id", "text"])
    found = {}
    for split in SPLITS:
        judged = judgements(dataset.table("clusters", columns=["question_ids", "texts"], split=split))
        ranked = exact(encoder, questions, judged, depth=DEPTH)
        found[split] = figures(ranked, judged)
    return found


def line(name: str, found: dict[str, Any]) -> str:
    """Return a row of a table: H@1/H@10/MRR per question of both splits, per pair of test; epochs and minutes."""
    cells = [
        " / ".join(f"{found[split][kind][figure]:.4f}".removeprefix("0") for figure in FIGURES)
        for split, kind in (("validation", "per_question"), ("test", "per_question"), ("test", "per_pair"))
    ]
    return f"| {name} | {' | '.join(cells)} | {found['best_epoch']} of {found['epochs']} | {found['cpu_minutes']:.1f} |"


def report(dataset: str, work: Path, tables: list[str], options: list[str]) -> str:
    """Return the tables, training what is missing."""
    lines = [f"{describe_machine()}; seed 0; added to every row: {' '.join(options) or 'nothing'}.", ""]
    for table in tables:
        head = "H@1 / H@10 / MRR, validation | test | test, per pair | best epoch | CPU minutes"
        lines += [f"### {TITLES[table]}", "", f"| | {head} |", "|---|---|---|---|---|---|"]
        print("\n".join(lines[-4:]), flush=True)
        for name, added in TABLES[table].items():
            lines.append(line(name, trained(dataset, work, [*added, *options])))
            print(lines[-1], flush=True)
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Train, measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--work", type=Path, required=True, help="folder of models and figures")
    parser.add_argument("--table", choices=TABLES, action="append", help="all by default")
    parser.add_argument("--epochs", type=int, help="instead of the preset's")
    parser.add_argument("--write", type=Path, help="file with the marks <!-- paper_tables --> and <!-- end -->")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    options = [] if given.epochs is None else ["--epochs", str(given.epochs)]
    text = report(given.dataset, given.work, given.table or list(TABLES), options)
    if given.write:
        write(given.write, text, mark="paper_tables")


if __name__ == "__main__":
    main()
