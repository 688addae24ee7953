"""Pair precision and recall of every way to split an answer, against clusters that are known.

Run: python -m benchmarks.silver --dataset D [--logs SIMULATED] [--learn-logs ANOTHER] [--learn FOLDER]

D is what `qpr quora` wrote. Weights and thresholds come from one half of its clusters; 20,000 clusters of the other
half are scored; see `benchmarks.silver_logs` for how they come to share answers.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.silver_logs import TWO_IN_ONE, UNRELATED, SilverLog, Source, halves, merged_log, simulated_log
from pipelines.coherence import coherence
from pipelines.grouping import starts_of_runs
from pipelines.linkage import fellegi_sunter
from pipelines.linkage.agglomeration import agglomerate
from pipelines.linkage.learn import learn
from pipelines.linkage.link import Compared, LinkModel, Probability, compare
from pipelines.linkage.weights import Kind, load_model, model_of
from schemas.dataset import open_dataset

CLUSTERS = 20_000
SAME_WORD = {"b": False, "c": True}
"""Whether what shares an answer in a log shares a word too."""

KINDS: tuple[Kind, ...] = ("logistic", "boosted")
WANTED = {"b": 0.995, "c": 0.96}
"""Pair precision that the threshold must reach on answers kept back from learning."""


class Figures(NamedTuple):
    """Pair precision and recall; the share of unrelated answers of which a pair is kept, of two-in-one kept whole."""

    precision: float
    recall: float
    unrelated: float
    whole: float


def score(log: SilverLog, group: np.ndarray, part: np.ndarray | None = None) -> Figures:
    """Compare a grouping with the gold one; unrelated answers count for nothing but their own figure.

    Args:
        log: with the gold clusters.
        group: (R,) of each row.
        part: (R,) bool, the rows of the answers to look at.
    """
    every = np.ones(len(group), bool) if part is None else part
    answer = log.members["cluster_id"].to_numpy()
    answer = np.unique(answer, return_inverse=True)[1]
    counted = every & (log.kind != UNRELATED)
    gold = pair_up(answer[counted], log.gold[counted])
    both = _pairs(pair_up(gold, group[counted]))
    together = np.bincount(group, minlength=group.max() + 1)[group] > 1
    unrelated, two = every & (log.kind == UNRELATED), every & (log.kind == TWO_IN_ONE)
    kept = len(np.unique(answer[unrelated & together])) / max(len(np.unique(answer[unrelated])), 1)
    groups_of_answer = np.bincount(answer[two][np.unique(pair_up(answer[two], group[two]), return_index=True)[1]])
    whole = (groups_of_answer == 1).sum() / max((groups_of_answer > 0).sum(), 1)
    return Figures(both / max(_pairs(group[counted]), 1), both / _pairs(gold), kept, float(whole))


def pair_up(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return a number for each combination."""
    combined: np.ndarray = np.unique(one, return_inverse=True)[1] * (two.max(initial=0) + 1) + two
    return combined


def _pairs(group: np.ndarray) -> int:
    sizes = np.unique(group, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def gather(log: SilverLog) -> Compared:
    """Return all candidate pairs of a log at once."""
    parts = zip(*compare(log.members, log.weights), strict=True)
    return Compared(*(np.concatenate(column) for column in parts))


def by_coherence(log: SilverLog, name: str) -> np.ndarray:
    """Return the grouping that keeps each answer that scores at least 0.1 whole, and no other."""
    ids = log.members["cluster_id"].to_numpy()
    starts = starts_of_runs(ids)
    kept = coherence(log.members["token_ids"], starts, log.weights).named(name) >= 0.1
    sizes = np.diff(np.append(starts, len(ids)))
    return np.where(np.repeat(kept, sizes), np.repeat(starts, sizes), np.arange(len(ids)))


def grouping(log: SilverLog, pairs: Compared, probability: np.ndarray, threshold: float) -> np.ndarray:
    """Return the grouping at a threshold."""
    return agglomerate(pairs.left, pairs.right, probability, rows=len(log.gold), threshold=threshold)


def choose_threshold(logs: dict[str, SilverLog], pairs: dict[str, Compared], kind: Kind) -> float:
    """Return the lowest threshold that reaches `WANTED` on a quarter of the answers, learned from the others."""
    kept_back = {n: log.members["cluster_id"].to_numpy() % 4 == 0 for n, log in logs.items()}
    learned = model_of(_learn(logs, pairs, kind, {n: ~k for n, k in kept_back.items()}), source="silver")
    probability = {n: learned.pairs.probability(p.features, p.answers) for n, p in pairs.items()}
    for threshold in np.arange(0.3, 0.95, 0.025).round(3).tolist():
        figures = {
            n: score(logs[n], grouping(logs[n], pairs[n], probability[n], threshold), kept_back[n]) for n in logs
        }
        if all(figures[n].precision >= wanted for n, wanted in WANTED.items()):
            return float(threshold)
    return 0.95


def _learn(
    logs: dict[str, SilverLog], pairs: dict[str, Compared], kind: Kind, rows: dict[str, np.ndarray] | None = None
) -> dict[str, Any]:
    chosen = {n: np.ones(len(p.left), bool) if rows is None else rows[n][p.left] for n, p in pairs.items()}
    same = np.concatenate([(logs[n].gold[p.left] == logs[n].gold[p.right])[chosen[n]] for n, p in pairs.items()])
    return learn(np.concatenate([p.features[chosen[n]] for n, p in pairs.items()]), same, kind=kind)


def main() -> None:
    """Score the shipped weights, or learn others first, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--logs", help="a simulated Parquet log with gold clusters")
    parser.add_argument("--learn-logs", help="another one, of another seed, to learn from besides")
    parser.add_argument("--learn", type=pathlib.Path, metavar="FOLDER", help="learn weights and write them there")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    learning, scored = halves(open_dataset(options.dataset), seed=options.seed)
    scored = dataclasses.replace(scored, clusters=scored.clusters[:CLUSTERS])
    if options.learn:
        models = learn_all(learning, options.learn_logs, options.learn)
    else:
        models = {kind: load_model(kind) for kind in KINDS}
    for name, same_word in SAME_WORD.items():
        report(name, merged_log(scored, seed=2, same_word=same_word), models)
    if options.logs:
        report("a", simulated_log(options.logs), models)


def learn_all(source: Source, logs: str | None, folder: pathlib.Path) -> dict[Kind, LinkModel]:
    """Learn every kind of model from clusters under shared answers, and from a simulated log."""
    train = {n: merged_log(source, seed=1, same_word=same, unrelated=0.3) for n, same in SAME_WORD.items()}
    if logs:
        train["a"] = simulated_log(logs)
    pairs = {n: gather(log) for n, log in train.items()}
    folder.mkdir(parents=True, exist_ok=True)
    return {kind: _trained(train, pairs, kind, folder) for kind in KINDS}


def _trained(logs: dict[str, SilverLog], pairs: dict[str, Compared], kind: Kind, folder: pathlib.Path) -> LinkModel:
    saved = _learn(logs, pairs, kind)
    saved["threshold"] = choose_threshold(logs, pairs, kind)
    saved["provenance"] = (
        "Learned by benchmarks/silver.py from one half of the clusters of Quora Question Pairs (first release), merged "
        "under answers as its logs (b) and (c) are, and from a simulated log where one is given, whose answers may "
        "hold one large cluster. Fitted figures only; no text of the data is in here."
    )
    (folder / f"{kind}.json").write_text(json.dumps(saved, separators=(",", ":")) + "\n", "utf-8")
    return model_of(saved, source=kind)


def report(name: str, log: SilverLog, models: Mapping[Kind, LinkModel]) -> None:
    """Print the figures of every method on one log."""
    rows = len(log.gold)
    print(f"({name}) {rows:,} questions\n{'':22} precision  recall  unrelated kept  two-in-one whole")
    whole = np.unique(log.members["cluster_id"].to_numpy(), return_inverse=True)[1]
    _print("no filter", score(log, whole))
    for coherence_name in ("paper", "idf"):
        _print(f"{coherence_name} coherence >= .1", score(log, by_coherence(log, coherence_name)))
    started = time.process_time()
    pairs = gather(log)
    print(f"{len(pairs.left):,} pairs compared in {time.process_time() - started:.1f} CPU s")
    unsupervised: Probability = fellegi_sunter.fit(pairs.features, pairs.answers)
    every: dict[str, LinkModel] = {"fellegi-sunter": LinkModel(unsupervised, fellegi_sunter.THRESHOLD)} | {
        str(kind): model for kind, model in models.items()
    }
    for title, model in every.items():
        probability = model.pairs.probability(pairs.features, pairs.answers)
        _print(f"{title} at {model.threshold}", score(log, grouping(log, pairs, probability, model.threshold)))


def _print(title: str, figures: Figures) -> None:
    print(f"{title:22} {figures.precision:9.4f} {figures.recall:7.4f} {figures.unrelated:15.2%} {figures.whole:17.1%}")


if __name__ == "__main__":
    main()
