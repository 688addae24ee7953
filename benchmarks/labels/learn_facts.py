"""Learning of the shipped trees for logs of facts, from answers all paraphrases of which were marked by reading.

Run: python -m benchmarks.labels.learn_facts --refine-with static --output DIR

In `learning_facts` of `benchmarks.logs.known_logs` the same answer seldom means the same question. The first table
ranks its judged pairs by the similarity of the texts, by the agreement of neighbours, by the trees of other logs, by
those learned here and by these with the weights of words by which questions differ: average precision, mean negative
log-likelihood, precision at some recalls. What is learned here is "over parts": each fifth of the answers is judged by
what was learned from the other four, mean of several divisions; a line fits the log odds of both together to the share
of paraphrases. Two more pairs of rows judge one kind of questions by what was learned from another kind. The second
table has the groups at each threshold; the error is the mean distance of the probability of a cluster and its precision
in ten bins, weighted by pairs. The threshold is the highest that keeps `RECALL` of the paraphrases over parts. Figures
are of answers of at most `MOST` questions; larger ones are learned from too. `--share` reads a part of the answers that
are not judged, which saves time with a slow encoder.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer
from sklearn.metrics import average_precision_score

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.learning.fact_scorers import PARTS, JudgedPairs, fit_scorer, line_of, on_line, over_parts
from benchmarks.labels.stated_probabilities import Truth
from benchmarks.logs.gold_logs import gold_of_known, linked_alone
from benchmarks.logs.known_logs import KnownLog, facts
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.comparison.compare import Questions, compare_all
from pipelines.linkage.comparison.tokenization import wording
from pipelines.linkage.comparison.word_differences import differences_of
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.pair_model import mean_within
from pipelines.linkage.scoring.shipped_weights import DIFFERENCES, load_model, tree_features
from pipelines.linkage.settings import EncoderKind
from pipelines.linkage.witnesses import find_witnesses
from pipelines.neighbours.embeddings import Encode
from schemas.text import fold

DIVISIONS = 3
OTHER_KIND = 0.25
"""Maximum share of the questions of an answer of one kind that are of the other kind."""

WHOLE = "trees and words, over parts"
MOST = 10
"""Number of questions of the largest answers in the figures, as of those that are scored."""

THRESHOLDS = np.arange(0.3, 0.651, 0.01).round(3).tolist()
RECALL: dict[EncoderKind | None, float] = {None: 0.7, "static": 0.75, "st": 0.72, "model": 0.7}
"""Minimum share of the paraphrases that the groups at a chosen threshold keep, by the kind of the encoder."""

ALIGNING: frozenset[EncoderKind] = frozenset({"static", "model"})
"""Kinds of encoders by whose vectors single words are compared, too. With a model of sentence-transformers trees of
facts gained .003 of average precision over parts, and each word takes as long to encode as a question."""

OF_LOG = ("log_", "size_", "small_log")
"""Beginnings of the names of features of the log and of its answers of one size; all pairs are of one log."""


def judged_pairs(log: KnownLog, encode: Encode | None, kind: EncoderKind | None) -> JudgedPairs:
    """Return the pairs of a log's judged answers as the linkage compares them."""
    gold, judged = gold_of_known(log)
    model = load_model("boosted", kind)
    by_vectors = encode is not None
    members, cluster, weights, evidence = linked_alone(gold, encode, words_too=by_vectors)
    read = np.flatnonzero([fold(answer) in judged for answer in members["answer"].to_pylist()])
    witnesses = find_witnesses(members, weights, evidence).take(read)
    questions = members.take(pa.array(read))
    vectors = evidence.vectors_of(questions)
    aligns = kind in ALIGNING
    aligned_by = encode if aligns else None
    left, right, answer, features = compare_all(Questions(questions, weights, vectors, witnesses, aligned_by))
    numbers = np.unique(questions["answer_id"], return_inverse=True)[1]
    capital = pc.match_substring_regex(questions["text"], r"^\W*\p{Lu}").to_numpy().astype(float)
    computed = tree_features(cosine=by_vectors, words_too=by_vectors, alignment=aligns)
    names = tuple(name for name in computed if not name.removeprefix("words_").startswith(OF_LOG))
    general = tree_features(cosine=model.cosine, words_too=model.words_too, alignment=model.alignment)
    same = cluster[read][left] == cluster[read][right]
    return JudgedPairs(
        left,
        right,
        len(read),
        np.unique(answer, return_inverse=True)[1],
        features[:, [computed.index(name) for name in names]],
        differences_of(wording(questions["text"], numbers, weights), left, right),
        (np.bincount(numbers, capital) / np.bincount(numbers))[numbers][left],
        names,
        model.pairs.probability(np.asfortranarray(features[:, [computed.index(name) for name in general]]), answer),
        same,
    )


def groups(pairs: JudgedPairs, probability: np.ndarray, threshold: float) -> np.ndarray:
    """Return the (R,) group of each row at a threshold."""
    return agglomerate(pairs.left, pairs.right, probability, rows=pairs.rows, threshold=threshold)


def figures(pairs: JudgedPairs, probability: np.ndarray, threshold: float) -> dict[str, float]:
    """Return precision, recall, mean stated probability and calibration error of the groups at a threshold."""
    left, right, group = pairs.left, pairs.right, groups(pairs, probability, threshold)
    kept = group[left] == group[right]
    stated = mean_within(group, left, right, probability)
    name = group[left[kept]]
    count, good = (np.bincount(name, values, pairs.rows) for values in (np.ones(len(name)), pairs.same[kept]))
    some = np.flatnonzero(count)
    clusters = Truth(stated[some], count[some], good[some])
    return {
        "kept": float(kept.sum()),
        "precision": clusters.precision(0.0),
        "recall": float(good.sum() / max(pairs.same.sum(), 1)),
        "stated": float(stated[left[kept]].mean()) if kept.any() else 0.0,
        "error": clusters.calibration_error(clusters.probability) if kept.any() else 0.0,
    }


def mean_figures(pairs: JudgedPairs, probabilities: list[np.ndarray], threshold: float) -> dict[str, float]:
    """Return the means of `figures` over some divisions."""
    every = [figures(pairs, probability, threshold) for probability in probabilities]
    return {name: float(np.mean([of_division[name] for of_division in every])) for name in every[0]}


def ranks(pairs: JudgedPairs, values: np.ndarray) -> dict[str, float]:
    """Return average precision and mean negative log-likelihood of probabilities, and the precision at some recalls."""
    order = np.argsort(-values, kind="stable")
    right = np.cumsum(pairs.same[order])
    at = {
        f"at_{r:g}": float(np.max((right / np.arange(1, len(order) + 1))[right >= r * right[-1]]))
        for r in (0.5, 0.7, 0.9)
    }
    right_probability = np.clip(np.where(pairs.same, values, 1 - values), 1e-6, 1)
    loss = -float(np.log(right_probability).mean())
    return {"average_precision": float(average_precision_score(pairs.same, values)), "loss": loss, **at}


def other_kinds(pairs: JudgedPairs) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names of kinds of questions, and (P,) bool pairs to learn from and pairs of the other kind to judge."""
    quiz, typed = pairs.quiz > 1 - OTHER_KIND, pairs.quiz < OTHER_KIND
    yield "typed questions, judging quizzes", typed, quiz
    yield "quizzes, judging typed questions", quiz, typed


def part_of(log: KnownLog, share: float) -> KnownLog:
    """Return a log with its judged answers and a share of the others."""
    judged = {judged.answer for judged in log.judged}
    rows = [
        (question, answer)
        for question, answer in log.rows
        if fold(answer) in judged or zlib.crc32(fold(answer).encode()) % 100 < 100 * share
    ]
    return KnownLog(log.name, rows, log.judged)


def main(
    refine_with: Annotated[str | None, typer.Option(help="Encoder whose vectors are compared.")] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for the trees.")] = None,
    share: Annotated[float, typer.Option(help="Share of the answers without verdicts that is read.")] = 1.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Rank the judged pairs, group them, and write trees that learned from all of them."""
    encode, kind = refining_encoder(refine_with) if refine_with else (None, None)
    every = judged_pairs(part_of(facts("learning_facts"), share), encode, kind)
    few = every.of_few(MOST)
    pairs = every.take(few)
    report = Report(as_json=as_json, refine_with=refine_with, share=share, parts=PARTS, divisions=DIVISIONS, seed=seed)
    for name, of in (("2 to 10 questions", pairs), ("all", every)):
        report.row(answers=name, pairs=len(of.same), paraphrases=int(of.same.sum()))
    columns = ("similarity", "agreement_mean")
    peers = {name: pairs.features[:, pairs.names.index(name)].astype(float) for name in columns}
    peers["trees of other logs"] = pairs.general
    for name, values in peers.items():
        report.row(ranked_by=name, **ranks(pairs, values))
    divisions = [over_parts(every, seed=seed + division) for division in range(DIVISIONS)]
    by_trees, uncalibrated = ([division[place][few] for division in divisions] for place in (0, 1))
    line = line_of(np.tile(pairs.same, DIVISIONS), np.concatenate(uncalibrated))
    learned = [on_line(probability, line) for probability in uncalibrated]
    for name, probabilities in (("trees, over parts", by_trees), (WHOLE, learned)):
        rows = [ranks(pairs, values) for values in probabilities]
        report.row(ranked_by=name, **{n: float(np.mean([row[n] for row in rows])) for n in rows[0]})
    for name, learned_from, judged in other_kinds(every):
        by_both = fit_scorer(every, learned_from, seed=seed).probabilities(every, judged & few)
        for what, values in zip(("trees", "trees and words"), by_both, strict=True):
            report.row(ranked_by=f"{what} of {name}", **ranks(every.take(judged & few), values))
    for name, values in peers.items():
        for threshold in THRESHOLDS:
            report.row(grouped_by=name, threshold=threshold, **figures(pairs, values, threshold))
    chosen = THRESHOLDS[0]
    for threshold in THRESHOLDS:
        means = mean_figures(pairs, learned, threshold)
        report.row(grouped_by=WHOLE, threshold=threshold, **means)
        chosen = threshold if means["recall"] >= RECALL[kind] else chosen
    report.row(chosen=chosen)
    if output is not None:
        name = f"facts-{kind}" if kind else "facts"
        scorer = fit_scorer(every, np.ones(len(every.same), bool), seed=seed)
        weight = scorer.differences.weight * np.float32(line[0])
        output.mkdir(parents=True, exist_ok=True)
        (output / f"{name}.txt").write_text(scorer.trees.model_to_string(), "utf-8")
        pq.write_table(pa.table([scorer.differences.key, weight], schema=DIFFERENCES), output / f"{name}.parquet")
        described = {"kind": "lightgbm", "file": f"{name}.txt", "threshold": chosen, "least_of_two": chosen}
        bias = line[0] * scorer.differences.bias + line[1]
        described["differences"] = {"file": f"{name}.parquet", "bias": bias, "scale": line[0]}
        address = {"static": " --refine-with static", "st": " --refine-with st:all-MiniLM-L6-v2"}
        given = f"{address.get(kind, ' --refine-with MODEL')}" if kind else ""
        origin = {
            "learned_from": f"{len(every.same):,} pairs of questions with one answer in a log of open-domain facts, "
            f"{every.same.sum():,} of them paraphrases; fitted figures only, no text of the data is in here.",
            "command": f"python -m benchmarks.labels.learn_facts{given} --output DIR --seed {seed}",
        }
        (output / f"{name}.json").write_text(json.dumps(described | {"provenance": origin}) + "\n", "utf-8")


if __name__ == "__main__":
    run(main)
