"""Right questions that are lost and wrong ones that stay among the intents of a help desk, by its size and its faults.

Run: python -m benchmarks.labels.intents.strays 1000 4000 --half 1 --refine-with static

A number is that of random requests to a bank whose intents are of one half, by their hash; without one there are four
sizes and all rows. A share of the rows gets another answer of the log. Every answer is taken to be an intent; "lost" is
the share of the right questions that neighbours contradict, "kept" that of the wrong ones that they do not. Half 0 is
the half that limits are chosen on.
"""

from __future__ import annotations

import zlib
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.logs.gold_logs import gold_of_known, linked_alone
from benchmarks.logs.known_logs import KnownLog, MissingDataError, of_intents, read_log
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.intents import Intents, intents
from pipelines.linkage.witnesses import find_witnesses
from pipelines.neighbours.embeddings import Encode
from schemas.text import fold

WRONG = (0.0, 0.02, 0.05, 0.1)
SIZES = (500, 1_000, 2_000, 4_000)

Row = tuple[str, str]


def rows_of_half(half: int) -> list[Row]:
    """Return the questions and answers of every second intent of the help desk's log, or of the others."""
    rows = ((row["question"], row["answer"]) for row in read_log("faq_logs.jsonl.gz"))
    return [(question, answer) for question, answer in rows if zlib.crc32(answer.encode()) % 2 == half]


def drawn_log(rows: list[Row], size: int, *, wrong: float, seed: int) -> KnownLog:
    """Return ``size`` random rows as a log with a share of wrong answers."""
    generator = np.random.default_rng(seed)
    drawn = [rows[place] for place in generator.permutation(len(rows))[:size]]
    return of_intents("strays", drawn, wrong, generator)


def strays_of(log: KnownLog, encode: Encode | None) -> tuple[Intents, np.ndarray]:
    """Return the questions that belong to their intents, and (R,) bool, which of them have a wrong answer."""
    gold, _ = gold_of_known(log)
    members, _, weights, evidence = linked_alone(gold, encode, words_too=encode is not None)
    planted = {(judged.answer, judged.question) for judged in log.judged if judged.planted}
    places = zip(members["answer"].to_pylist(), members["question_id"].to_pylist(), strict=True)
    wrong = np.array([(fold(answer), question) in planted for answer, question in places])
    return intents(members, weights, find_witnesses(members, weights, evidence), "intent"), wrong


def compare(report: Report, rows: list[Row], size: int, *, seeds: range, encode: Encode | None) -> None:
    """Print a row for each share of wrong answers, the mean over ``seeds``."""
    for share in WRONG:
        shares = []
        for seed in seeds:
            strays, wrong = strays_of(drawn_log(rows, size, wrong=share, seed=seed), encode)
            kept = strays.belongs[wrong].mean() if wrong.any() else 0.0
            shares.append((1 - strays.belongs[~wrong].mean(), kept))
        lost, stayed = np.mean(shares, axis=0)
        report.row(questions=size, wrong=share, lost=float(lost), kept=float(stayed))


def main(
    sizes: Annotated[list[int] | None, typer.Argument(help="Numbers of rows.")] = None,
    half: Annotated[int, typer.Option(help="Half of the intents, 0 or 1.", min=0, max=1)] = 0,
    draws: Annotated[int, typer.Option(help="Number of logs for each row of the table.", min=1)] = 3,
    refine_with: Annotated[str | None, typer.Option(help="Encoder, as in `qpr clusters --refine-with`.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Count lost and kept questions."""
    report = Report(as_json=as_json, seed=seed)
    try:
        rows = rows_of_half(half)
    except MissingDataError as error:
        report.row(half=half, result=f"skipped: {error}")
        return
    encode = None if refine_with is None else refining_encoder(refine_with)[0]
    for size in sizes or (*SIZES, len(rows)):
        compare(report, rows, min(size, len(rows)), seeds=range(seed, seed + draws), encode=encode)


if __name__ == "__main__":
    run(main)
