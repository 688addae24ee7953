"""Pair precision and recall of the linkage in logs of few facts, by the model for facts and by that for other logs.

Run: python -m benchmarks.labels.small_facts 1000 2500 4500

A number is that of the rows, all those of random answers that the model for facts has learned from; without a number
there are five sizes. The last log has the scored answers alone. Pairs of answers with 2 to 10 questions count.
"""

from __future__ import annotations

import collections
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.known_scores import clusters_of, score
from benchmarks.logs.gold_logs import gold_of_known, linked_alone
from benchmarks.logs.known_logs import KnownLog, MissingDataError, facts
from pipelines.linkage.chance import is_about_facts
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.intents import intents
from pipelines.linkage.scoring.shipped_weights import load_facts_model, load_model
from pipelines.linkage.split_answers import link
from pipelines.linkage.witnesses import find_witnesses
from schemas.ragged import pairs_in_runs
from schemas.text import fold

SIZES = (300, 1_000, 2_000, 3_000, 4_500)
MOST_QUESTIONS = 10


def compare(report: Report, name: str, log: KnownLog) -> None:
    """Print the scores of both models, and which of them a run takes."""
    members, _, weights, evidence = linked_alone(gold_of_known(log)[0])
    witnesses = find_witnesses(members, weights, evidence)
    questions, found = Questions(members, weights, witnesses=witnesses), intents(members, weights, witnesses, "auto")
    models = {"facts": load_facts_model(None), "others": load_model("boosted", None).for_log(weights.questions)}
    cells: dict[str, float] = {}
    for of, model in models.items():
        scored = score(log, clusters_of(members, link(questions, model, found).group), of, None)
        cells |= {f"precision_{of}": scored.precision, f"recall_{of}": scored.recall}
    sizes = np.array([*collections.Counter((row.answer, row.group) for row in log.judged).values()])
    about_facts = is_about_facts(weights, evidence.log)
    paraphrases = int(pairs_in_runs(sizes).sum())
    report.row(log=name, questions=weights.questions, paraphrases=paraphrases, about_facts=about_facts, **cells)


def main(
    sizes: Annotated[list[int] | None, typer.Argument(help="Numbers of rows.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the scores of each log."""
    report = Report(as_json=as_json, seed=seed)
    try:
        learned, scored = facts("learning_facts"), facts()
    except MissingDataError as error:
        raise SystemExit(f"skipped: {error}") from error
    generator = np.random.default_rng(seed)
    for size in sizes or SIZES:
        compare(report, "learned from", part_of(learned, size, generator))
    compare(report, "scored", part_of(scored, len(scored.rows), generator))


def part_of(log: KnownLog, size: int, generator: np.random.Generator) -> KnownLog:
    """Return the log of random judged answers with at least this number of rows together, or of all of them.

    Those with more than `MOST_QUESTIONS` are in it, and are not judged.
    """
    rows: dict[str, list[tuple[str, str]]] = {row.answer: [] for row in log.judged}
    for question, answer in log.rows:
        if (name := fold(answer)) in rows:
            rows[name].append((question, answer))
    names = sorted(rows)
    chosen: list[tuple[str, str]] = []
    for place in generator.permutation(len(names)):
        if len(chosen) < size:
            chosen += rows[names[place]]
    taken = {fold(answer) for _, answer in chosen}
    questions = collections.Counter(row.answer for row in log.judged)
    judged = [row for row in log.judged if row.answer in taken and questions[row.answer] <= MOST_QUESTIONS]
    return KnownLog(log.name, chosen, judged)


if __name__ == "__main__":
    run(main)
