"""Learning of the shipped trees for logs of facts, from answers all paraphrases of which were marked by reading.

Run: python -m benchmarks.labels.learn_facts --refine-with static --output DIR

In `learning_facts` of `benchmarks.labels.known_logs` the same answer seldom means the same question. The first table
ranks its judged pairs by the similarity of the texts, by the agreement of neighbours, by the trees of other logs and by
those learned here: average precision, mean negative log-likelihood, precision at some recalls. The latter are "over
parts": each fifth of the answers is judged by trees that learned from the other four, mean of several divisions. The
second table has the groups at each threshold; the error is the mean distance of the probability of a cluster and its
precision in ten bins, weighted by pairs. The threshold is the highest that keeps `RECALL` of the paraphrases over
parts. `--share` reads a part of the answers that are not judged, which saves time with a slow encoder.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import typer
from sklearn.metrics import average_precision_score

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.gold_logs import gold_of_known, linked_alone
from benchmarks.labels.known_logs import KnownLog, facts
from benchmarks.labels.learn_trees import monotone
from benchmarks.labels.verdicts import Truth
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.comparison.compare import Questions, compare_all
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.pair_model import mean_within
from pipelines.linkage.scoring.shipped_weights import load_model, tree_features
from pipelines.linkage.settings import EncoderKind
from pipelines.linkage.witnesses import find_witnesses
from pipelines.neighbours.embeddings import Encode
from schemas.text import fold

PARTS = 5
DIVISIONS = 5
THRESHOLDS = np.arange(0.2, 0.701, 0.025).round(3).tolist()
RECALL: dict[EncoderKind | None, float] = {None: 0.7, "static": 0.75, "st": 0.72, "model": 0.7}
"""Minimum share of the paraphrases that the groups at a chosen threshold keep, by the kind of the encoder."""

TREES = 500
RATE = 0.02
LEAVES = 8
FEATURES_A_TREE = 0.3
PAIRS_A_TREE = 0.7
"""Small trees of random features and pairs, since not many paraphrases are known."""

OF_LOG = ("log_", "size_", "small_log")
"""Beginnings of the names of features of the log and of its answers of one size; all pairs are of one log."""


class JudgedPairs(NamedTuple):
    """Pairs of questions of the answers that were read.

    Attributes:
        left: (P,) row of one question.
        right: (P,) row of the other.
        rows: number of rows.
        answer: (P,) number of the answer, from 0.
        features: (P, F) those of `names`.
        names: names of the features.
        general: (P,) probability by the trees that learned from other logs.
        same: (P,) bool, whether the pair is a paraphrase.
    """

    left: np.ndarray
    right: np.ndarray
    rows: int
    answer: np.ndarray
    features: np.ndarray
    names: tuple[str, ...]
    general: np.ndarray
    same: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """(P,) inverse roots of the numbers of pairs of the answer: 12 pairs of one answer are no 12 findings."""
        found: np.ndarray = 1 / np.sqrt(np.sqrt(np.bincount(self.answer)[self.answer]))
        return found


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
    left, right, answer, features = compare_all(Questions(questions, weights, vectors, witnesses))
    computed = tree_features(cosine=by_vectors, words_too=by_vectors)
    names = tuple(name for name in computed if not name.removeprefix("words_").startswith(OF_LOG))
    general = tree_features(cosine=model.cosine, words_too=model.words_too)
    same = cluster[read][left] == cluster[read][right]
    return JudgedPairs(
        left,
        right,
        len(read),
        np.unique(answer, return_inverse=True)[1],
        features[:, [computed.index(name) for name in names]],
        names,
        model.pairs.probability(np.asfortranarray(features[:, [computed.index(name) for name in general]]), answer),
        same,
    )


def fit(pairs: JudgedPairs, rows: np.ndarray, *, seed: int) -> Any:
    """Return a LightGBM model of some pairs, (P,) bool."""
    import lightgbm

    options = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "feature_fraction": FEATURES_A_TREE,
        "bagging_fraction": PAIRS_A_TREE,
        "bagging_freq": 1,
        "min_data_in_leaf": 40,
        "lambda_l2": 1.0,
        "monotone_constraints": monotone(pairs.names),
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbose": -1,
    }
    weight = pairs.weight[rows]
    data = lightgbm.Dataset(
        pairs.features[rows], label=pairs.same[rows], weight=weight / weight.mean(), feature_name=list(pairs.names)
    )
    return lightgbm.train(options, data, TREES)


def over_parts(pairs: JudgedPairs, *, seed: int) -> np.ndarray:
    """Return (P,) probabilities of each pair by trees that have not seen its answer."""
    part = np.random.default_rng(seed).permutation(pairs.answer.max() + 1)[pairs.answer] % PARTS
    probability = np.zeros(len(part))
    for number in range(PARTS):
        inside = part == number
        probability[inside] = fit(pairs, ~inside, seed=seed).predict(pairs.features[inside])
    return probability


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
    return {name: float(np.mean([found[name] for found in every])) for name in every[0]}


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
    pairs = judged_pairs(part_of(facts("learning_facts"), share), encode, kind)
    report = Report(as_json=as_json, refine_with=refine_with, share=share, parts=PARTS, divisions=DIVISIONS, seed=seed)
    report.row(pairs=len(pairs.same), paraphrases=int(pairs.same.sum()))
    columns = ("similarity", "agreement_mean")
    peers = {name: pairs.features[:, pairs.names.index(name)].astype(float) for name in columns}
    peers["trees of other logs"] = pairs.general
    for name, values in peers.items():
        report.row(ranked_by=name, **ranks(pairs, values))
    learned = [over_parts(pairs, seed=seed + division) for division in range(DIVISIONS)]
    every = [ranks(pairs, values) for values in learned]
    report.row(ranked_by="trees, over parts", **{n: float(np.mean([row[n] for row in every])) for n in every[0]})
    for name, values in peers.items():
        for threshold in THRESHOLDS:
            report.row(grouped_by=name, threshold=threshold, **figures(pairs, values, threshold))
    chosen = THRESHOLDS[0]
    for threshold in THRESHOLDS:
        found = mean_figures(pairs, learned, threshold)
        report.row(grouped_by="trees, over parts", threshold=threshold, **found)
        chosen = threshold if found["recall"] >= RECALL[kind] else chosen
    report.row(chosen=chosen)
    if output is not None:
        name = f"facts-{kind}" if kind else "facts"
        text = fit(pairs, np.ones(len(pairs.same), bool), seed=seed).model_to_string()
        output.mkdir(parents=True, exist_ok=True)
        (output / f"{name}.txt").write_text(text, "utf-8")
        described = {"kind": "lightgbm", "file": f"{name}.txt", "threshold": chosen, "least_of_two": chosen}
        address = {"static": " --refine-with static", "st": " --refine-with st:all-MiniLM-L6-v2"}
        given = f"{address.get(kind, ' --refine-with MODEL')}" if kind else ""
        origin = {
            "learned_from": f"{len(pairs.same):,} pairs of questions with one answer in a log of open-domain facts, "
            f"{pairs.same.sum():,} of them paraphrases; fitted figures only, no text of the data is in here.",
            "command": f"python -m benchmarks.labels.learn_facts{given} --output DIR --seed {seed}",
        }
        (output / f"{name}.json").write_text(json.dumps(described | {"provenance": origin}) + "\n", "utf-8")


if __name__ == "__main__":
    run(main)
