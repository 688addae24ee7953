"""Learn the weights that ship, from one half of a dataset's clusters.

Run: python -m benchmarks.silver_learning --dataset D --logs SIMULATED --stray-logs ANOTHER --output FOLDER

The same dataset, log and seed give the same bytes. `benchmarks.silver` scores what was learned on the other half. With
--models weights for the cosine are learned: three encoders, each for the third of the clusters that
`benchmarks.silver_encoder` kept from it, in that order.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from benchmarks.silver_logs import (
    Alike,
    SilverLog,
    Source,
    divide,
    halves,
    merged_log,
    of_several,
    simulated_log,
    thinned,
)
from benchmarks.silver_scores import Figures, answers, score
from model.encoders.registry import load_encoder
from pipelines.calibration.fit_scorer import learn
from pipelines.linkage.comparison.compare import Compared, compare_all
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import Kind, model_of
from schemas.artifacts.content_digest import rows_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

LOGS: dict[str, Alike] = {"b": "nothing", "c": "rarest", "d": "frequent"}
LEARNED_FROM = ("b", "c")
KINDS: tuple[Kind, ...] = ("boosted", "logistic")
PARTS = 3
"""One of so many equal parts of the clusters is kept back from learning, to choose the threshold on."""

UNRELATED_PER_CLUSTER = 1.0
LIMITS = {"b": Figures(0.997, 0.0, 0.001, 0.02), "d": Figures(0.985, 0.0, 0.001, 0.05)}
"""What thresholds must reach on logs of the clusters kept back: at least this precision, at most the other shares.

More is asked of precision than is wanted in the end: a log of fewer clusters puts less alike ones under one answer.
"""


Encode = Callable[[Any], np.ndarray] | None
"""Texts to their vectors, or None."""


class Part(NamedTuple):
    """Clusters to learn from, and the encoder whose cosine is a feature, None for none."""

    source: Source
    encode: Encode


class Pairs(NamedTuple):
    """A log and all its candidate pairs."""

    log: SilverLog
    compared: Compared


def gather(log: SilverLog, encode: Encode = None) -> Pairs:
    """Return the candidate pairs of a log."""
    vectors = encode(log.members["text"]) if encode else None
    return Pairs(log, compare_all(log.members, log.weights, vectors=vectors))


def grouping(pairs: Pairs, probability: np.ndarray, model: LinkModel) -> np.ndarray:
    """Return the grouping by a model's thresholds."""
    return model.groups(pairs.compared.left, pairs.compared.right, probability, rows=len(pairs.log.gold))


def learn_from(logs: list[Pairs], kind: Kind) -> dict[str, Any]:
    """Fit a model; a pair counts by the inverse root of its answer's size, so that a few answers do not outvote all."""
    features = np.concatenate([pairs.compared.features for pairs in logs])
    same = np.concatenate([log.gold[found.left] == log.gold[found.right] for log, found in logs])
    sizes = [np.bincount(answers(log))[answers(log)[found.left]] for log, found in logs]
    return learn(features, same, kind=kind, weight=1 / np.sqrt(np.concatenate(sizes)))


def choose_thresholds(saved: dict[str, Any], kept_back: dict[str, list[Pairs]]) -> dict[str, float]:
    """Return the lowest thresholds that reach `LIMITS` on clusters that nothing was learned from.

    First the one of all groups, which decides precision and what is left whole; then that of groups of two, which
    decides how many unrelated questions are kept. Figures are means over the logs of a name.
    """
    pairs = model_of(saved, source="silver").pairs
    probability = {
        name: [(log, pairs.probability(log.compared.features, log.compared.answers)) for log in logs]
        for name, logs in kept_back.items()
    }

    def figures(threshold: float, least_of_two: float) -> dict[str, Figures]:
        model = LinkModel(pairs, threshold, least_of_two=least_of_two)
        found = {n: [score(one.log, grouping(one, p, model)) for one, p in logs] for n, logs in probability.items()}
        return {name: Figures(*np.mean(scores, axis=0).tolist()) for name, scores in found.items()}

    def is_precise(threshold: float) -> bool:
        found = figures(threshold, 0.0)
        return all(f.precision >= LIMITS[n].precision and f.whole <= LIMITS[n].whole for n, f in found.items())

    def is_strict(threshold: float, least_of_two: float) -> bool:
        return all(f.unrelated <= LIMITS[n].unrelated for n, f in figures(threshold, least_of_two).items())

    thresholds = np.arange(0.3, 0.96, 0.025).round(3).tolist()
    threshold = next(filter(is_precise, thresholds), thresholds[-1])
    strict = (t for t in thresholds if t >= threshold and is_strict(threshold, t))
    return {"threshold": threshold, "least_of_two": next(strict, thresholds[-1])}


def learn_all(
    parts: Sequence[Part], simulated: Sequence[SilverLog], *, seed: int, kinds: Sequence[Kind] = KINDS
) -> dict[Kind, dict[str, Any]]:
    """Learn models from clusters under shared answers, and from simulated logs.

    The weights come from two thirds of each part's clusters, the thresholds from the last.
    """
    logs: list[Pairs] = []
    kept_back: dict[str, list[Pairs]] = {name: [] for name in LIMITS}
    for source, encode in parts:
        fitted, kept = divide(source, part=PARTS - 1, parts=PARTS)
        logs += _merged(fitted, LEARNED_FROM, seed=seed, encode=encode)
        for name, found in zip(LIMITS, _merged(kept, tuple(LIMITS), seed=seed, encode=encode), strict=True):
            kept_back[name].append(found)
    logs += [gather(log, parts[0].encode) for log in simulated]
    learned = {kind: learn_from(logs, kind) for kind in kinds}
    return {kind: saved | choose_thresholds(saved, kept_back) for kind, saved in learned.items()}


def _merged(source: Source, names: Sequence[str], *, seed: int, encode: Encode) -> list[Pairs]:
    """Return the logs of these names, the two kinds of one draw each."""
    return [
        gather(merged_log(source, seed=seed + 1, alike=LOGS[name], unrelated=UNRELATED_PER_CLUSTER), encode)
        for name in names
    ]


def parts_of(source: Source, models: Sequence[str]) -> list[Part]:
    """Return the clusters as one part, or those that each model has not seen with what encodes them."""
    if not models:
        return [Part(source, None)]
    unseen = (divide(source, part=part, parts=PARTS)[1] for part in range(PARTS))
    return [Part(part, load_encoder(url).encode) for part, url in zip(unseen, models, strict=True)]


def simulated_logs(logs: str | None, stray_logs: str | None) -> list[SilverLog]:
    """Return the logs to learn from besides.

    People ask of many things what has one answer ("what is the profession of …"), and seldom twice of the same thing;
    so facts of one answer are learned from with one question left of each, too.
    """
    found = []
    if logs:
        log = simulated_log(logs)
        found += [log, thinned(log, seed=1)]
    if stray_logs:
        strays = of_several(simulated_log(stray_logs))
        found += [thinned(strays, seed=2), thinned(strays, seed=3)]
    return found


def provenance(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the weights come from: the command, and the digests of the rows it read."""
    columns = ["question_id", "text", "cluster_id"]
    questions = open_dataset(options.dataset).table("questions", columns=columns)
    digests = {"questions of the dataset": rows_digest([questions])}
    if options.logs:
        digests["simulated log"] = rows_digest([pq.read_table(options.logs)])
    if options.stray_logs:
        digests["log of strays"] = rows_digest([pq.read_table(options.stray_logs)])
    for number, url in enumerate(options.models):
        digests[f"files of model {number}"] = read_manifest(url, "model").digest
    models = " --models MODEL0 MODEL1 MODEL2" if options.models else ""
    given = f"--dataset D --logs SIMULATED --stray-logs STRAYS{models} --seed {options.seed}"
    return {
        "learned_from": "One half of the clusters of Quora Question Pairs (first release), put under shared answers, "
        "`qpr simulate --events 150000 --seed 7` and, for strays, `--events 1000000 --seed 11`. Fitted figures only; "
        "no text of the data is in here.",
        "command": f"python -m benchmarks.silver_learning {given}",
        "sha256_of_rows": digests,
    }


def main() -> None:
    """Write one JSON a kind of model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--logs", help="a simulated Parquet log to learn from besides")
    parser.add_argument("--stray-logs", help="a larger one, of which strays of the same answer are learned from")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder for the weights")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs=PARTS, default=[], help="encoders: learn what to make of their cosine")
    options = parser.parse_args()
    started = time.process_time()
    source, _ = halves(open_dataset(options.dataset), seed=options.seed)
    simulated = simulated_logs(options.logs, options.stray_logs)
    parts = parts_of(source, options.models)
    learned = learn_all(parts, simulated, seed=options.seed, kinds=KINDS[:1] if options.models else KINDS)
    options.output.mkdir(parents=True, exist_ok=True)
    for kind, saved in learned.items():
        name = f"{kind}-cosine.json" if saved["cosine"] else f"{kind}.json"
        text = json.dumps(saved | {"provenance": provenance(options)}, separators=(",", ":"))
        (options.output / name).write_text(text + "\n", "utf-8")
        print(f"{name}: threshold {saved['threshold']}, of two {saved['least_of_two']}")
    print(f"{time.process_time() - started:.0f} CPU s")


if __name__ == "__main__":
    main()
