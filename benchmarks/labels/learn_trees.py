"""Learning of the shipped trees, which compare questions with their neighbours of other answers.

Run: python -m benchmarks.labels.learn_trees --dataset quora --pairs PAIRS.tsv.gz --logs S1 --stray-logs S2 --output DIR

They learn from two thirds of one half of Quora's clusters under shared answers, from its pairs that people marked as no
duplicates, from generated templates (`benchmarks.labels.learning_logs`) and simulated logs. Thresholds are chosen on
the last third of that half and on other draws of the templates. Nothing of the logs in `benchmarks.labels.known_logs`
is read. The same inputs give the same bytes.
"""

from __future__ import annotations

import csv
import dataclasses
import gzip
import itertools
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import Pairs as PairsUrl
from benchmarks.cli import Report, Seed, run
from benchmarks.labels.known_logs import KnownLog
from benchmarks.labels.learn_weights import LOGS, PARTS, simulated_logs
from benchmarks.labels.learning_logs import learning_log
from benchmarks.labels.silver_logs import (
    ALONE,
    MERGED,
    SilverLog,
    Source,
    divide,
    halves,
    log_of,
    merged_log,
)
from benchmarks.labels.silver_scores import answers, score
from benchmarks.labels.small_logs import small_logs
from pipelines.calibration.gold_labels import gold_of
from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.compare import Compared, compare_all
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import TreesFile, model_of_trees
from pipelines.linkage.witnesses import find_witnesses
from schemas.artifacts.dataset import open_dataset
from schemas.tables import QA_LOG
from schemas.text import fold, question_id

TEMPLATES = ("near-misses", "values", "values-strays", "skewed")
CLUSTERS = 5_000
"""Number of clusters of each log of Quora's."""

PAIRS_A_LOG = 60_000
SMALL_WEIGHT = 2.0
"""Weight of all small logs together, as a number of large ones."""

ROUNDS = 160
LEAVES = 15
UNRELATED = 0.3
THRESHOLDS = np.arange(0.3, 0.96, 0.05).round(2).tolist()

LIMITS = {"b": 0.995, "d": 0.97, "topic": 0.95, "values": 0.99}
"""Minimum pair precision on the logs kept back."""

PRECISION_OF_SMALL = 0.99
"""Minimum pair precision of all small logs kept back together."""

TOUCHED = 0.03
"""Maximum share of the answers of skewed templates of which a wrong pair is kept."""


class Examples(NamedTuple):
    """A sample of the pairs of a log: (P, F) features, whether they are paraphrases, and their weights."""

    features: np.ndarray
    same: np.ndarray
    weight: np.ndarray


class Pairs(NamedTuple):
    """A log, its candidate pairs, whether they are paraphrases, and the probability that they are."""

    log: SilverLog
    left: np.ndarray
    right: np.ndarray
    same: np.ndarray
    probability: np.ndarray


def compared(log: SilverLog) -> Compared:
    """Return the candidate pairs of a log with the features of their neighbours."""
    return compare_all(log.members, log.weights, witnesses=find_witnesses(log.members, log.weights))


def examples(log: SilverLog, *, seed: int) -> Examples:
    """Return a sample of a log's pairs; a pair weighs the inverse root of its answer's size."""
    found = compared(log)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(found.left))[:PAIRS_A_LOG])
    left, right = found.left[chosen], found.right[chosen]
    weight = 1 / np.sqrt(np.bincount(answers(log))[answers(log)[left]])
    return Examples(found.features[chosen], log.gold[left] == log.gold[right], weight / weight.sum())


def joined(logs: Iterable[SilverLog], *, seed: int) -> Examples:
    """Return the pairs of several small logs as those of one log."""
    features, same, weights = zip(*(examples(log, seed=seed) for log in logs), strict=True)
    weight = np.concatenate(weights)
    return Examples(np.concatenate(features), np.concatenate(same), SMALL_WEIGHT * weight / weight.sum())


def judged(log: SilverLog, model: LinkModel) -> Pairs:
    """Return the candidate pairs of a log with their probabilities."""
    left, right, answer, features = compared(log)
    return Pairs(log, left, right, log.gold[left] == log.gold[right], model.pairs.probability(features, answer))


def marked_log(source: Source, pairs: Path, *, clusters: int, seed: int) -> SilverLog:
    """Return a log in which two clusters or strays share an answer if a pair of theirs was marked as no duplicate."""
    row_of_id = {int(number): row for row, number in enumerate(source.ids)}
    unit_of_row = {row: np.array([row]) for row in source.strays.tolist()}
    unit_of_row |= {row: cluster for cluster in source.clusters for row in cluster.tolist()}
    marked = list(_marked_pairs(pairs))
    taken: set[int] = set()
    shared: list[tuple[int, list[np.ndarray]]] = []
    for place in np.random.default_rng(seed).permutation(len(marked)):
        rows = [row_of_id.get(question_id(text), -1) for text in marked[place]]
        units = [unit_of_row.get(row) for row in rows]
        if any(unit is None or int(unit[0]) in taken for unit in units):
            continue
        one, two = (unit for unit in units if unit is not None)
        if one[0] == two[0]:
            continue
        taken |= {int(one[0]), int(two[0])}
        shared.append((MERGED, [one, two]))
        if len(shared) == clusters // 2:
            break
    alone = [cluster for cluster in source.clusters[:clusters] if int(cluster[0]) not in taken]
    return log_of(source, [*shared, *((ALONE, [cluster]) for cluster in alone[: clusters // 2])])


def _marked_pairs(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["is_duplicate"] == "0" and row["question1"] and row["question2"]:
                yield row["question1"], row["question2"]


def quora_logs(source: Source, *, seed: int) -> Iterator[tuple[str, SilverLog]]:
    """Yield logs of Quora's clusters with their names, with at most `CLUSTERS` clusters each."""
    some = dataclasses.replace(source, clusters=source.clusters[:CLUSTERS])
    for name, alike in LOGS.items():
        yield name, merged_log(some, seed=seed, alike=alike, unrelated=UNRELATED)


def silver_of_known(log: KnownLog) -> SilverLog:
    """Return a log whose questions are all judged, as the pipeline reads it."""
    group_of = {(judged.answer, judged.question): judged.group for judged in log.judged}
    columns = {name: pa.nulls(len(log.rows), QA_LOG.field(name).type) for name in QA_LOG.names}
    columns |= {"question": pa.array([q for q, _ in log.rows]), "answer": pa.array([a for _, a in log.rows])}
    columns["gold"] = pa.array([str(group_of[fold(a), question_id(q)]) for q, a in log.rows])
    gold = gold_of([pa.table(columns)])
    return SilverLog(gold.members, gold.cluster, np.full(len(gold.members), MERGED), gold.weights)


def template_logs(seed: int) -> Iterator[tuple[str, SilverLog]]:
    """Yield the generated logs of templates with their names."""
    for name in TEMPLATES:
        yield name, silver_of_known(learning_log(name, seed=seed))


def fit(logs: list[Examples], *, seed: int) -> Any:
    """Return a LightGBM model; all logs have the same weight."""
    import lightgbm

    features, same, weights = (np.concatenate(parts) for parts in zip(*logs, strict=True))
    options = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": 0.1,
        "min_data_in_leaf": 200,
        "lambda_l2": 1.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbose": -1,
    }
    names = [*NAMES, *AGREEMENT]
    data = lightgbm.Dataset(features, label=same, weight=weights / weights.mean(), feature_name=names)
    return lightgbm.train(options, data, ROUNDS)


def choose_thresholds(kept_back: dict[str, Pairs], report: Report) -> tuple[float, float]:
    """Return the lowest threshold of all groups and of groups of two that keep to `LIMITS` and `TOUCHED`."""

    def grouped(name: str, threshold: float, least_of_two: float) -> np.ndarray:
        log, left, right, _, probability = kept_back[name]
        rows = len(log.gold)
        return agglomerate(left, right, probability, rows=rows, threshold=threshold, least_of_two=least_of_two)

    for threshold in THRESHOLDS:
        figures = {name: score(kept_back[name].log, grouped(name, threshold, 0.0)) for name in kept_back}
        shown = {name: f"{f.precision:.3f}/{f.recall:.3f} whole {f.whole:.3f}" for name, f in figures.items()}
        report.row(threshold=threshold, **shown, touched=touched(kept_back["skewed"], grouped("skewed", threshold, 0)))
    precise = (
        t
        for t in THRESHOLDS
        if all(score(kept_back[n].log, grouped(n, t, 0.0)).precision >= least for n, least in LIMITS.items())
    )
    threshold = next(precise, THRESHOLDS[-1])
    strict = (
        t
        for t in [*THRESHOLDS, 0.98]
        if t >= threshold and touched(kept_back["skewed"], grouped("skewed", threshold, t)) <= TOUCHED
    )
    return threshold, next(strict, 0.98)


def choose_threshold_of_small(logs: Iterable[Pairs]) -> float:
    """Return the lowest threshold with a pair precision of `PRECISION_OF_SMALL` over all small logs."""
    every = list(logs)
    for threshold in THRESHOLDS:
        kept = right = 0
        for log, left, right_row, same, probability in every:
            group = agglomerate(left, right_row, probability, rows=len(log.gold), threshold=threshold)
            together = group[left] == group[right_row]
            kept, right = kept + int(together.sum()), right + int((together & same).sum())
        if right >= PRECISION_OF_SMALL * kept:
            return float(threshold)
    return float(THRESHOLDS[-1])


def touched(pairs: Pairs, group: np.ndarray) -> float:
    """Return the share of the answers with several questions of which a wrong pair is kept."""
    answer = answers(pairs.log)
    wrong = (group[pairs.left] == group[pairs.right]) & ~pairs.same
    several = int(np.count_nonzero(np.bincount(answer) > 1))
    return len(np.unique(answer[pairs.left[wrong]])) / max(several, 1)


def learn(
    dataset: PairsUrl,
    pairs: Annotated[Path, typer.Option(help="Labelled pairs of Quora, as downloaded.")],
    logs: Annotated[str, typer.Option(help="Simulated Parquet log.")],
    stray_logs: Annotated[str, typer.Option(help="A larger one, for strays of the same answer.")],
    output: Annotated[Path, typer.Option(help="Folder for the trees.")],
    seed: Seed = 0,
) -> None:
    """Write the trees as text, and their thresholds beside them."""
    started = time.process_time()
    report = Report(as_json=False, seed=seed)
    learning, kept = divide(halves(open_dataset(dataset), seed=seed)[0], part=PARTS - 1, parts=PARTS)
    marked = marked_log(learning, pairs, clusters=CLUSTERS, seed=seed)
    logs_to_learn = itertools.chain(
        (log for _, log in (*quora_logs(learning, seed=seed + 1), ("marked", marked), *template_logs(seed))),
        simulated_logs(logs, stray_logs)[1::2],
    )
    learned = [examples(log, seed=seed) for log in logs_to_learn]
    learned.append(joined(map(silver_of_known, small_logs(learning, seed=seed)), seed=seed))
    text = fit(learned, seed=seed).model_to_string()
    model = model_of_trees(text, TreesFile(kind="lightgbm", file="boosted.txt", threshold=0.5))
    others = itertools.chain(quora_logs(kept, seed=seed + 1), template_logs(seed + 1))
    threshold, least_of_two = choose_thresholds({name: judged(log, model) for name, log in others}, report)
    small = choose_threshold_of_small(judged(silver_of_known(log), model) for log in small_logs(kept, seed=seed + 1))
    output.mkdir(parents=True, exist_ok=True)
    (output / "boosted.txt").write_text(text, "utf-8")
    command = "python -m benchmarks.labels.learn_trees --dataset D --pairs P --logs SIMULATED --stray-logs STRAYS"
    described = {"kind": "lightgbm", "file": "boosted.txt", "threshold": threshold, "least_of_two": least_of_two}
    described["threshold_of_small"] = small
    origin = {
        "learned_from": "Quora Question Pairs (first release), generated templates, and logs of qpr simulate; fitted "
        "figures only, no text of the data is in here.",
        "command": f"{command} --seed {seed}",
    }
    (output / "boosted.json").write_text(json.dumps(described | {"provenance": origin}) + "\n", "utf-8")
    report.row(threshold=threshold, least_of_two=least_of_two, cpu_s=time.process_time() - started)


if __name__ == "__main__":
    run(learn)
