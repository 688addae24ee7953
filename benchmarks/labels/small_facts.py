"""Figures by which a small log is found to be one of facts, and its labels by the model for facts and by the other one.

Run: python -m benchmarks.labels.small_facts 100 300 1000 2500 --dataset quora

A number is that of the rows, all those of random answers: facts that the model has learned from, scored ones, which it
has not, and values in templates; of a bank they are random requests. With a dataset there are Quora's clusters too, one
in three of them under an answer of several. Pairs of answers with at most 10 questions count.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.intents.growing_help_desks import bank
from benchmarks.labels.known_scores import clusters_of, score
from benchmarks.logs.cluster_sources import halves
from benchmarks.logs.gold_logs import gold_of_known, linked_alone
from benchmarks.logs.known_logs import KnownLog, MissingDataError, facts, known_log, of_clusters
from benchmarks.logs.silver_logs import merged_log
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.chance import is_about_facts
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.intents import intents
from pipelines.linkage.scoring.shipped_weights import load_facts_model, load_model
from pipelines.linkage.split_answers import link
from pipelines.linkage.standings import contradicted_share
from pipelines.linkage.witnesses import find_witnesses
from schemas.artifacts.dataset import open_dataset
from schemas.ragged import pairs_in_runs
from schemas.text import fold

SIZES = (100, 300, 900, 2_000, 4_500)
MOST_QUESTIONS = 10
QUESTIONS_A_CLUSTER = 3
"""About as many has a cluster of Quora's with its share of the questions that are in none."""


def learned_from(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return facts that the model for facts has learned from."""
    return part_of(facts("learning_facts"), rows, generator)


def scored(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return facts that nothing was learned from."""
    return part_of(facts(), rows, generator)


def values(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return templates that differ in a value, whose answer is that value."""
    return part_of(known_log("value-templates"), rows, generator)


LOGS: dict[str, Callable[[int, np.random.Generator], KnownLog]] = {
    "learned from": learned_from,
    "scored": scored,
    "bank": bank,
    "values": values,
}


def quora(dataset: str, rows: int, seed: int) -> KnownLog:
    """Return some of a dataset's clusters, one in three of which shares its answer with others."""
    source = halves(open_dataset(dataset), seed=seed)[0]
    source = dataclasses.replace(source, clusters=source.clusters[: rows // QUESTIONS_A_CLUSTER])
    log = merged_log(source, seed=seed, alike="nothing")
    columns = log.members["answer"].to_pylist(), log.gold.tolist(), log.members["text"].to_pylist()
    return of_clusters("quora", ((answer, cluster, [text]) for answer, cluster, text in zip(*columns, strict=True)))


def compare(report: Report, name: str, log: KnownLog, *, refine_with: str | None) -> None:
    """Print the figures of a log, the scores of both models, and which of them a run takes."""
    encode, kind = refining_encoder(refine_with) if refine_with else (None, None)
    usual = load_model("boosted", kind)
    members, _, weights, evidence = linked_alone(gold_of_known(log)[0], encode, words_too=usual.words_too)
    witnesses = find_witnesses(members, weights, evidence)
    vectors = None if encode is None else evidence.vectors_of(members)
    questions = Questions(members, weights, vectors, witnesses, encode)
    of_intents = intents(members, weights, witnesses, "auto")
    cells = {"rare_words": weights.rare_words, "agreement": evidence.log.share}
    cells |= {"contradicted": contradicted_share(evidence.log.supports)}
    for of, model in {"facts": load_facts_model(kind), "others": usual.for_log(weights.questions)}.items():
        labels = score(log, clusters_of(members, link(questions, model, of_intents).group), of, None)
        cells |= {f"precision_{of}": labels.precision, f"recall_{of}": labels.recall}
    sizes = np.array([*collections.Counter((row.answer, row.group) for row in log.judged).values()])
    about_facts = is_about_facts(weights, evidence.log)
    paraphrases = int(pairs_in_runs(sizes).sum())
    report.row(log=name, questions=weights.questions, paraphrases=paraphrases, about_facts=about_facts, **cells)


def main(
    sizes: Annotated[list[int] | None, typer.Argument(help="Numbers of rows.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Dataset of Quora's clusters.")] = None,
    refine_with: Annotated[str | None, typer.Option(help="Encoder whose vectors are compared.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the figures of each log at each size."""
    report = Report(as_json=as_json, seed=seed)
    for size in sizes or SIZES:
        for name, make in LOGS.items():
            try:
                compare(report, name, make(size, np.random.default_rng(seed)), refine_with=refine_with)
            except MissingDataError as error:
                report.row(log=name, result=f"skipped: {error}")
        if dataset is not None:
            compare(report, "quora", quora(dataset, size, seed), refine_with=refine_with)


def part_of(log: KnownLog, rows: int, generator: np.random.Generator) -> KnownLog:
    """Return the log of random judged answers with at least this number of rows together, or of all of them.

    Those with more than `MOST_QUESTIONS` are in it, and are not judged.
    """
    of_answer: dict[str, list[tuple[str, str]]] = {row.answer: [] for row in log.judged}
    for question, answer in log.rows:
        if (name := fold(answer)) in of_answer:
            of_answer[name].append((question, answer))
    names = sorted(of_answer)
    chosen: list[tuple[str, str]] = []
    for place in generator.permutation(len(names)):
        if len(chosen) < rows:
            chosen += of_answer[names[place]]
    taken = {fold(answer) for _, answer in chosen}
    questions = collections.Counter(row.answer for row in log.judged)
    judged = [row for row in log.judged if row.answer in taken and questions[row.answer] <= MOST_QUESTIONS]
    return KnownLog(log.name, chosen, judged)


if __name__ == "__main__":
    run(main)
