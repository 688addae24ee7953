"""Share of new requests whose nearest logged question has the right answer, by the labels of the encoder.

Run: python -m benchmarks.training.answer_at_one --preset default --preset static

The log is the train part of the help desk's requests (`faq_logs.jsonl.gz` beside the checkout), and the requests of its
test part are asked. Dataset, model and index are made by commands, with the default labels and with every answer as one
cluster, for several divisions into splits, since it matters which 15 of the 77 intents are left out of training. Peers:
the cosine of weighted words, and with `--minilm` a published encoder without training.
"""

from __future__ import annotations

import collections
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.cli import AsJson, Report, run
from benchmarks.logs.known_logs import MissingDataError, read_log
from benchmarks.measure import measure_qpr
from model.search.searcher import open_searcher
from schemas.text import fold

EVERY_LABEL = ("--linkage", "none", "--min-coherence", "0", "--near-duplicate", "0")
LABELS = {"default": (), "every answer": EVERY_LABEL}
PARTS = ("train", "test")


class Asked(NamedTuple):
    """A request and the answer that is right."""

    question: str
    answer: str


def parts() -> tuple[list[Asked], list[Asked]]:
    """Return the log and the requests that are asked.

    Raises:
        MissingDataError: the file is not beside the checkout.
    """
    rows = list(read_log("faq_logs.jsonl.gz"))
    train, test = ([Asked(row["question"], row["answer"]) for row in rows if row["part"] == p] for p in PARTS)
    return train, test


def answered(index_url: str, requests: Sequence[Asked]) -> tuple[float, float]:
    """Return the share of requests whose nearest question has the right answer, and the share with an answer at all."""
    results = open_searcher(index_url).search_many([request.question for request in requests], k=1)
    hits = [first[0] if first else None for first in results]
    answers = [hit.answer if hit is not None else None for hit in hits]
    right = sum(
        answer is not None and fold(answer) == fold(r.answer) for answer, r in zip(answers, requests, strict=True)
    )
    return right / len(requests), sum(answer is not None for answer in answers) / len(requests)


def word_cosine(log: Sequence[Asked], requests: Sequence[Asked]) -> float:
    """Return the share of requests whose nearest logged question by weighted words has the right answer."""
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    vectors = vectorizer.fit_transform([row.question for row in log])
    nearest = (vectorizer.transform([r.question for r in requests]) @ vectors.T).argmax(axis=1)
    answers = [log[place].answer for place in np.asarray(nearest).ravel().tolist()]
    right = sum(answer == r.answer for answer, r in zip(answers, requests, strict=True))
    return float(right / len(requests))


def learned(dataset: Path, requests: Sequence[Asked], preset: str) -> tuple[float, float, float]:
    """Return the figures of `answered` by a model of a dataset, and the CPU seconds of its training."""
    model, index = (dataset.with_name(f"{kind}-{dataset.name}-{preset}") for kind in ("model", "index"))
    cost = measure_qpr("train", "--dataset", dataset, "--output", model, "--preset", preset, "--overwrite")
    measure_qpr("index", "--questions", dataset, "--model", model, "--output", index, "--overwrite")
    return *answered(str(index), requests), cost.cpu_s


def answer_at_one(
    preset: Annotated[list[str] | None, typer.Option(help="Preset of qpr train, repeatable.")] = None,
    minilm: Annotated[Path | None, typer.Option(help="Folder of a sentence-transformers model.")] = None,
    divisions: Annotated[int, typer.Option(help="Number of divisions into splits.", min=1)] = 3,
    every_answer: Annotated[bool, typer.Option(help="Also with every answer as one cluster.")] = True,
    folder: Annotated[Path | None, typer.Option(help="Where to keep what is made.", show_default="not kept")] = None,
    as_json: AsJson = False,
) -> None:
    """Make datasets, models and indexes of each kind of labels and print a row for each preset."""
    try:
        log, requests = parts()
    except MissingDataError as error:
        raise typer.BadParameter(str(error)) from None
    report = Report(as_json=as_json, logged=len(log), asked=len(requests))
    with tempfile.TemporaryDirectory() as temporary:
        where = folder or Path(temporary)
        where.mkdir(parents=True, exist_ok=True)
        path = where / "log.jsonl"
        path.write_text("".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in log), "utf-8")
        report.row(labels="none", encoder="weighted words", right=word_cosine(log, requests))
        for name in LABELS if every_answer else ["default"]:
            dataset, runs = where / name.replace(" ", "-"), collections.defaultdict(list)
            for salt in range(divisions):
                split = ["--split-salt", str(salt), "--max-reject-ratio", "1", "--overwrite", *LABELS[name]]
                measure_qpr("clusters", path, "--output", dataset, *split)
                for chosen in preset or ["default"]:
                    runs[chosen].append(learned(dataset, requests, chosen))
            for chosen, of_preset in runs.items():
                right, some, cpu_s = np.mean(of_preset, axis=0)
                spread = float(np.std([run[0] for run in of_preset], ddof=1)) if divisions > 1 else None
                figures = {"divisions": divisions, "right": right, "deviation": spread, "answered": some}
                report.row(labels=name, encoder=chosen, **figures, cpu_s=cpu_s)
        if minilm is not None:
            index = where / "index-minilm"
            cost = measure_qpr(
                "index", "--questions", path, "--model", f"st:{minilm}", "--output", index, "--overwrite"
            )
            right, some = answered(str(index), requests)
            report.row(labels="none", encoder=minilm.name, right=right, answered=some, cpu_s=cost.cpu_s)


if __name__ == "__main__":
    run(answer_at_one)
