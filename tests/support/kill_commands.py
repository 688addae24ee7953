"""The commands that write, each with small inputs for an old and a new version of its output.

folder -> prepare -> inputs -> COMMANDS -> Command
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from schemas.artifacts.manifest import Kind


class Command(NamedTuple):
    """Arguments that write one version of ``output`` and then another; ``kind`` is None where it is a plain file.

    ``again`` are those that follow a kill, where they differ from ``new``.
    """

    name: str
    kind: Kind | None
    output: Path
    old: list[str]
    new: list[str]
    again: list[str] | None = None


def prepare(folder: Path, run: Callable[[list[str]], int]) -> Path:
    """Write two logs, two files of pairs, a dataset and two models, and return their folder.

    Raises:
        SystemExit: a command failed.
    """
    inputs = folder / "inputs"
    inputs.mkdir()
    train = ["train", "--dataset", f"{inputs}/dataset", *_TINY]
    made = [
        ["simulate", "--output", f"{inputs}/logs1.parquet", "--events", "1500", "--seed", "1"],
        ["simulate", "--output", f"{inputs}/logs2.parquet", "--events", "1500", "--seed", "2"],
        ["clusters", f"{inputs}/logs1.parquet", "--output", f"{inputs}/dataset", "--shards", "2"],
        [*train, "--output", f"{inputs}/model1", "--seed", "1"],
        [*train, "--output", f"{inputs}/model2", "--seed", "2"],
    ]
    for arguments in made:
        if run(arguments) != 0:
            raise SystemExit(f"qpr {' '.join(arguments)} failed: {(folder / 'log').read_text()}")
    for seed in (1, 2):
        write_pairs(inputs / f"pairs{seed}.tsv", seed=seed)
    return inputs


_TINY = [
    *("--epochs", "1", "--batch-size", "64", "--dimension", "16"),
    *("--vocabulary-size", "500", "--hash-bins", "50", "--ngram-bins", "500"),
]


def write_pairs(path: Path, *, seed: int, count: int = 600) -> None:
    """Write labelled pairs of made-up questions: chains of duplicates, equal keys, a few broken labels."""
    draw = random.Random(seed)
    words = [*"abcdefghijkl", "où", "don’t", "C#", "naïve", "東京"]
    questions = [" ".join(draw.choices(words, k=draw.randint(2, 7))) + draw.choice("?!. ") for _ in range(count)]
    with path.open("w", encoding="utf-8", newline="") as sink:
        writer = csv.writer(sink, delimiter="\t")
        writer.writerow(["id", "qid1", "qid2", "question1", "question2", "is_duplicate"])
        for number in range(count):
            one, two = draw.choices(range(count), k=2)
            label = draw.choices("01x", weights=[60, 38, 2])[0]
            writer.writerow([number, one, two, questions[one], questions[two], label])


def _simulate(_: Path, folder: Path) -> Command:
    output = folder / "logs.jsonl.gz"
    given = ["simulate", "--output", str(output), "--events", "1500", "--overwrite", "--seed"]
    return Command("simulate", None, output, [*given, "1"], [*given, "2"])


def _clusters(inputs: Path, folder: Path) -> Command:
    output = folder / "dataset"
    given = ["clusters", "--output", str(output), "--shards", "2", "--overwrite"]
    return Command("clusters", "dataset", output, *([*given, f"{inputs}/logs{n}.parquet"] for n in (1, 2)))


def _quora(inputs: Path, folder: Path) -> Command:
    output = folder / "dataset"
    given = ["quora", "--output", str(output), "--shards", "2", "--held-out-pairs", "30", "--overwrite"]
    return Command("quora", "dataset", output, *([*given, f"{inputs}/pairs{n}.tsv"] for n in (1, 2)))


def _train(inputs: Path, folder: Path) -> Command:
    output = folder / "model"
    given = ["train", "--dataset", f"{inputs}/dataset", "--output", str(output), "--overwrite", *_TINY, "--seed"]
    return Command("train", "model", output, [*given, "1"], [*given, "2"])


def _train_and_resume(inputs: Path, folder: Path) -> Command:
    command = _train(inputs, folder)
    new = [*command.new, "--checkpoint-every", "0.000001"]
    return command._replace(name="resume", new=new, again=[*new, "--resume"])


def _index(inputs: Path, folder: Path) -> Command:
    output = folder / "index"
    given = ["index", "--questions", f"{inputs}/dataset", "--output", str(output), "--shards", "2", "--overwrite"]
    return Command("index", "index", output, *([*given, "--model", f"{inputs}/model{n}"] for n in (1, 2)))


COMMANDS: dict[str, Callable[[Path, Path], Command]] = {
    "simulate": _simulate,
    "clusters": _clusters,
    "quora": _quora,
    "train": _train,
    "resume": _train_and_resume,
    "index": _index,
}
"""Inputs and a folder -> what to run there."""
