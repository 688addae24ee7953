"""Tables of a help desk's questions and answers, later requests, and encoders trained on such questions."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import measure_qpr
from benchmarks.training.answer_at_one import EVERY_LABEL, parts
from schemas.text import key


class Tables(NamedTuple):
    """Questions with answers: of the table, of answers that it lacks, and later requests; None: it lacks the answer."""

    rows: list[tuple[str, str]]
    others: list[tuple[str, str]]
    requests: list[tuple[str, str | None]]


def tables(wordings: int, rng: random.Random) -> Tables:
    """Return a table of half of the help desk's answers with some of their logged questions.

    Raises:
        MissingDataError: the log is not beside the checkout.
    """
    log, later = parts()
    logged = {key(row.question): (row.question, row.answer) for row in log}
    answers = sorted({answer for _, answer in logged.values()})
    lacking = set(rng.sample(answers, len(answers) // 2))
    of_answers = {
        name: [pair for pair in logged.values() if pair[1] == name] for name in answers if name not in lacking
    }
    rows = [pair for pairs in of_answers.values() for pair in rng.sample(pairs, min(wordings, len(pairs)))]
    others = [pair for pair in logged.values() if pair[1] in lacking]
    asked = {key(row.question): (row.question, row.answer) for row in later if key(row.question) not in logged}
    return Tables(rows, others, [(q, None if a in lacking else a) for q, a in asked.values()])


def trained(folder: Path, rows: Sequence[tuple[str, str]]) -> str:
    """Return the model trained on questions with answers, each answer one cluster."""
    if not (folder / "model").exists():
        folder.mkdir(exist_ok=True)
        lines = [json.dumps({"question": question, "answer": answer}) + "\n" for question, answer in rows]
        (folder / "log.jsonl").write_text("".join(lines), "utf-8")
        options = ("--output", folder / "dataset", "--overwrite", "--max-reject-ratio", 1, *EVERY_LABEL)
        measure_qpr("clusters", folder / "log.jsonl", *options)
        measure_qpr("train", "--dataset", folder / "dataset", "--output", folder / "model")
    return str(folder / "model")
