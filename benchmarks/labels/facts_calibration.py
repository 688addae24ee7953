"""Calibration of the linkage in logs of facts: lines of trees and similarity, and the groups at each threshold.

Run: python -m benchmarks.labels.facts_calibration --refine-with static

Of 250 answers all paraphrases were marked by reading (log `facts` of `benchmarks.labels.known_logs`). The first table
ranks their pairs by the trees, by the similarity and by lines fitted with each knee: average precision, mean negative
log-likelihood, precision at some recalls. "Over parts" scores each fifth of the answers by a line and a threshold that
were chosen on the other four, mean of several divisions. A calibration has the knee of the lowest loss over parts, and
the highest threshold that keeps `RECALL` of the paraphrases. The second table shows the groups at each threshold; the
error is the mean distance of the probability of a cluster and its precision in ten bins, weighted by pairs. `--share`
reads a part of the answers that are not judged, which saves time with a slow encoder.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
import pyarrow as pa
import typer
from scipy.optimize import minimize
from sklearn.metrics import average_precision_score

from benchmarks.cli import AsJson, Report, run
from benchmarks.labels.gold_logs import gold_of_known, linked_alone
from benchmarks.labels.known_logs import KnownLog, known_log
from benchmarks.labels.verdicts import Truth
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.comparison.compare import Questions, compare_all
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.agreement_required import (
    OF_ENCODER,
    OF_WORDS,
    SIMILARITY,
    Calibration,
    agreed,
    calibrated,
)
from pipelines.linkage.scoring.pair_model import mean_within
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.settings import EncoderKind
from pipelines.linkage.witnesses import find_witnesses
from pipelines.neighbours.embeddings import Encode
from schemas.text import fold

PARTS = 5
DIVISIONS = 10
KNEES = (0.8, 0.9, 0.95, 0.98, 0.993)
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
RIDGE = 0.01
RECALL = 0.71
"""Minimum share of the paraphrases that the groups at a chosen threshold keep: .7, and a margin."""


class JudgedPairs(NamedTuple):
    """Pairs of questions of the answers that were read.

    Attributes:
        left: (P,) row of one question.
        right: (P,) row of the other.
        rows: number of rows.
        answer: (P,) number of the answer.
        trees: (P,) probability by the trees alone.
        stated: (P,) probability by the trees where neighbours agree, a part of it elsewhere.
        similarity: (P,) of the texts, the cosine with an encoder.
        same: (P,) bool, whether the pair is a paraphrase.
    """

    left: np.ndarray
    right: np.ndarray
    rows: int
    answer: np.ndarray
    trees: np.ndarray
    stated: np.ndarray
    similarity: np.ndarray
    same: np.ndarray


def judged_pairs(log: KnownLog, encode: Encode | None, kind: EncoderKind | None) -> JudgedPairs:
    """Return the pairs of a log's judged answers as the linkage compares them."""
    gold, judged = gold_of_known(log)
    model = load_model("boosted", kind)
    members, cluster, weights, evidence = linked_alone(gold, encode, words_too=model.words_too)
    read = np.flatnonzero([fold(answer) in judged for answer in members["answer"].to_pylist()])
    witnesses = find_witnesses(members, weights, evidence).take(read)
    questions = members.take(pa.array(read))
    vectors = evidence.vectors_of(questions) if model.cosine else None
    left, right, answer, features = compare_all(Questions(questions, weights, vectors, witnesses))
    trees = model.pairs.probability(features, answer)
    same = cluster[read][left] == cluster[read][right]
    return JudgedPairs(
        left, right, len(read), answer, trees, agreed(trees, features), features[:, SIMILARITY].astype(float), same
    )


def fit(pairs: JudgedPairs, rows: np.ndarray, *, knee: float, similarity: bool) -> Calibration:
    """Return the calibration with the greatest likelihood of some pairs; its slopes are not negative.

    Args:
        pairs: the judged ones.
        rows: (P,) bool, the pairs to fit to.
        knee: probability above which the slope is fixed.
        similarity: whether the similarity counts beside the trees.
    """
    same = pairs.same[rows]

    def line_of(found: np.ndarray) -> Calibration:
        intercept, slope, weight = map(float, found)
        return Calibration(intercept, slope, weight, knee=knee, threshold=0.5)

    def loss(line: np.ndarray) -> float:
        made = line_of(line)
        right = np.clip(calibrated(pairs.stated[rows], pairs.similarity[rows], made), 1e-9, 1 - 1e-9)
        return float(-np.log(np.where(same, right, 1 - right)).sum() + RIDGE * np.square(line[1:]).sum())

    bounds = [(None, None), (0, None), (0, None if similarity else 0)]
    found = minimize(loss, np.array([-1.0, 0.5, 0.0]), bounds=bounds, method="L-BFGS-B").x
    return line_of(found)


def over_parts(
    pairs: JudgedPairs, part: np.ndarray, fitted: Callable[[np.ndarray], Calibration]
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and groups of each part of the answers by a line and threshold of the other parts.

    Args:
        pairs: the judged ones.
        part: (P,) part of each pair's answer, 0 to `PARTS` - 1.
        fitted: function from the (P,) pairs to fit to, bool, to a line.

    Returns:
        The (P,) probabilities and the (R,) groups.
    """
    probability, group = np.zeros(len(part)), np.arange(pairs.rows)
    for number in range(PARTS):
        inside = part == number
        values = calibrated(pairs.stated, pairs.similarity, fitted(~inside))
        threshold = chosen_threshold(pairs, values, ~inside)
        rows = np.union1d(pairs.left[inside], pairs.right[inside])
        group[rows] = groups(pairs, values, threshold)[rows]
        probability[inside] = values[inside]
    return probability, group


def over_divisions(pairs: JudgedPairs, fitted: Callable[[np.ndarray], Calibration]) -> dict[str, float]:
    """Return the mean figures over parts of some random divisions."""
    every = []
    for seed in range(DIVISIONS):
        part = np.random.default_rng(seed).permutation(pairs.answer.max() + 1)[pairs.answer] % PARTS
        values, group = over_parts(pairs, part, fitted)
        every.append(ranks(pairs, values) | figures(pairs, values, group))
    names = ("average_precision", "loss", "precision", "recall", "stated", "error")
    return {f"over parts: {name}": float(np.mean([row[name] for row in every])) for name in names}


def groups(pairs: JudgedPairs, probability: np.ndarray, threshold: float) -> np.ndarray:
    """Return the (R,) group of each row at a threshold."""
    return agglomerate(
        pairs.left, pairs.right, probability, rows=pairs.rows, threshold=threshold, least_of_two=threshold
    )


def chosen_threshold(pairs: JudgedPairs, probability: np.ndarray, rows: np.ndarray) -> float:
    """Return the highest threshold at which the groups keep `RECALL` of the paraphrases among some pairs."""
    same = rows & pairs.same
    for threshold in reversed(THRESHOLDS):
        group = groups(pairs, probability, threshold)
        if (group[pairs.left] == group[pairs.right])[same].mean() >= RECALL:
            return threshold
    return THRESHOLDS[0]


def figures(pairs: JudgedPairs, probability: np.ndarray, group: np.ndarray) -> dict[str, float]:
    """Return precision, recall, mean stated probability and calibration error of groups."""
    left, right = pairs.left, pairs.right
    kept = group[left] == group[right]
    stated = mean_within(group, left, right, probability)
    name = group[left[kept]]
    count, good = (np.bincount(name, values, pairs.rows) for values in (np.ones(len(name)), pairs.same[kept]))
    some = np.flatnonzero(count)
    clusters = Truth(stated[some], count[some], good[some])
    return {
        "kept": int(kept.sum()),
        "precision": clusters.precision(0.0),
        "recall": float(good.sum() / max(pairs.same.sum(), 1)),
        "stated": float(stated[left[kept]].mean()) if kept.any() else 0.0,
        "error": clusters.calibration_error(clusters.probability) if kept.any() else 0.0,
    }


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
    share: Annotated[float, typer.Option(help="Share of the answers without verdicts that is read.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Rank the judged pairs and group them."""
    encode, kind = refining_encoder(refine_with) if refine_with else (None, None)
    pairs = judged_pairs(part_of(known_log("facts"), share), encode, kind)
    report = Report(as_json=as_json, refine_with=refine_with, share=share, parts=PARTS, divisions=DIVISIONS)
    report.row(pairs=len(pairs.same), paraphrases=int(pairs.same.sum()))
    every = np.ones(len(pairs.same), bool)
    ranked = {"trees": pairs.trees, "similarity": pairs.similarity}
    ranked["shipped"] = calibrated(pairs.stated, pairs.similarity, OF_ENCODER[kind] if kind else OF_WORDS)
    for name, values in ranked.items():
        report.row(line=name, **ranks(pairs, values))
    for similarity, knee in itertools.product((False, True), KNEES):
        fitted = functools.partial(fit, pairs, knee=knee, similarity=similarity)
        line = fitted(every)
        beside = f" + {line.similarity:.1f} similarity" if similarity else ""
        name = f"{line.intercept:.2f} + {line.slope:.2f} trees{beside}, knee {knee:g}"
        ranked[name] = calibrated(pairs.stated, pairs.similarity, line)
        report.row(line=name, **ranks(pairs, ranked[name]), **over_divisions(pairs, fitted))
    for name, values in ranked.items():
        threshold = chosen_threshold(pairs, values, every)
        report.row(line=name, chosen=threshold, **figures(pairs, values, groups(pairs, values, threshold)))
    for name, threshold in itertools.product(ranked, THRESHOLDS):
        group = groups(pairs, ranked[name], threshold)
        report.row(line=name, threshold=threshold, **figures(pairs, ranked[name], group))


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


if __name__ == "__main__":
    run(main)
