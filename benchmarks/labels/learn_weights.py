"""Learning of the shipped linkage weights without neighbours, from one half of the clusters of a dataset.

Run: python -m benchmarks.labels.learn_weights learn --dataset quora --logs SIMULATED --stray-logs ANOTHER --output DIR

The same dataset, logs and seed give the same bytes. `benchmarks.labels.answer_splits` scores the weights on the other
half. Trees that compare neighbours are learned by `benchmarks.labels.learn_trees`; where they also compare the vectors
of a model of ours, that model is trained on the dataset that `encoder-dataset` writes, the half not learned from:
an encoder recognises what it has seen. `--half learning` is for one of the scored half.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from benchmarks.cli import Pairs as PairsUrl
from benchmarks.cli import Seed, run
from benchmarks.labels.learning.candidate_pairs import Pairs, gather, grouping
from benchmarks.labels.learning.learning_sets import PARTS, simulated_logs
from benchmarks.labels.silver_scores import Figures, answers, score
from benchmarks.logs.cluster_sources import Source, divide, halves
from benchmarks.logs.silver_logs import LOGS, SilverLog, merged_log
from pipelines.calibration.fit_scorer import learn as learn_scorer
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import model_of
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.content_digest import rows_digest
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.writer import Output

LEARNED_FROM = ("b", "c")
KIND: Final = "logistic"
"""The kind of model learned here; `learn_trees` learns the others."""

UNRELATED_PER_CLUSTER = 1.0
VALIDATION = 40
"""One cluster in 40 is for the validation of an encoder."""

LIMITS = {"b": Figures(0.997, 0.0, 0.001, 0.02), "d": Figures(0.985, 0.0, 0.001, 0.05)}
"""Limits of thresholds on logs of the clusters kept back: minimum precision, maximum of the other shares.

The precision is above the one aimed at: a log of fewer clusters has less similar ones under one answer.
"""


Half = Literal["learning", "scored"]


def learn_from(logs: list[Pairs]) -> dict[str, Any]:
    """Fit a model; the weight of a pair is the inverse root of its answer's size."""
    features = np.concatenate([pairs.compared.features for pairs in logs])
    same = np.concatenate([log.gold[pairs.left] == log.gold[pairs.right] for log, pairs in logs])
    sizes = [np.bincount(answers(log))[answers(log)[pairs.left]] for log, pairs in logs]
    return learn_scorer(features, same, kind=KIND, weight=1 / np.sqrt(np.concatenate(sizes)))


def choose_thresholds(saved: dict[str, Any], kept_back: dict[str, Pairs]) -> dict[str, float]:
    """Return the lowest thresholds that reach `LIMITS` on the clusters kept back.

    First the one of all groups, for precision and two-in-one answers; then that of groups of two, for unrelated
    questions.
    """
    pairs = model_of(saved, source="silver").pairs
    probability = {
        name: pairs.probability(of_log.compared.features, of_log.compared.answers) for name, of_log in kept_back.items()
    }

    def figures(threshold: float, least_of_two: float) -> dict[str, Figures]:
        model = LinkModel(pairs, threshold, least_of_two=least_of_two)
        return {n: score(of_log.log, grouping(of_log, probability[n], model)) for n, of_log in kept_back.items()}

    def is_precise(threshold: float) -> bool:
        reached = figures(threshold, 0.0)
        return all(f.precision >= LIMITS[n].precision and f.whole <= LIMITS[n].whole for n, f in reached.items())

    def is_strict(threshold: float, least_of_two: float) -> bool:
        return all(f.unrelated <= LIMITS[n].unrelated for n, f in figures(threshold, least_of_two).items())

    thresholds = np.arange(0.3, 0.96, 0.025).round(3).tolist()
    threshold = next(filter(is_precise, thresholds), thresholds[-1])
    strict = (t for t in thresholds if t >= threshold and is_strict(threshold, t))
    return {"threshold": threshold, "least_of_two": next(strict, thresholds[-1])}


def learn_model(source: Source, simulated: Sequence[SilverLog], *, seed: int) -> dict[str, Any]:
    """Learn a model from clusters under shared answers, and from simulated logs.

    The weights come from two thirds of the clusters, the thresholds from the last.
    """
    fitted, kept = divide(source, part=PARTS - 1, parts=PARTS)
    logs = [*_merged(fitted, LEARNED_FROM, seed=seed), *map(gather, simulated)]
    kept_back = dict(zip(LIMITS, _merged(kept, tuple(LIMITS), seed=seed), strict=True))
    saved = learn_from(logs)
    return saved | choose_thresholds(saved, kept_back)


def _merged(source: Source, names: Sequence[str], *, seed: int) -> list[Pairs]:
    """Return the logs of these names, the two kinds of one draw each."""
    return [
        gather(merged_log(source, seed=seed + 1, alike=LOGS[name], unrelated=UNRELATED_PER_CLUSTER)) for name in names
    ]


def provenance(dataset: str, logs: str | None, stray_logs: str | None, seed: int) -> dict[str, Any]:
    """Return the source of the weights: the command, and the digests of the rows it read."""
    columns = ["question_id", "text", "cluster_id"]
    questions = open_dataset(dataset).table("questions", columns=columns)
    digests = {"questions of the dataset": rows_digest([questions])}
    if logs:
        digests["simulated log"] = rows_digest([pq.read_table(logs)])
    if stray_logs:
        digests["log of strays"] = rows_digest([pq.read_table(stray_logs)])
    given = f"--dataset D --logs SIMULATED --stray-logs STRAYS --seed {seed}"
    return {
        "learned_from": "One half of the clusters of Quora Question Pairs (first release), put under shared answers, "
        "`qpr simulate --events 150000 --seed 7` and, for strays, `--events 1000000 --seed 11`. Fitted figures only; "
        "no text of the data is in here.",
        "command": f"python -m benchmarks.labels.learn_weights learn {given}",
        "sha256_of_rows": digests,
    }


def clusters_of_half(dataset: Dataset, half: Half, *, seed: int) -> pa.Array:
    """Return the ids of the clusters of a half."""
    seen = halves(dataset, seed=seed)[half == "scored"]
    questions = dataset.table("questions", columns=["question_id", "cluster_id"]).sort_by("question_id")
    first = pa.array(np.array([rows[0] for rows in seen.clusters]))
    return questions["cluster_id"].take(first).combine_chunks()


def write_clusters(dataset: Dataset, ids: pa.Array, url: str) -> None:
    """Write a dataset of those clusters and their pairs alone."""
    clusters, pairs = (
        table.filter(pc.is_in(table["cluster_id"], value_set=ids))
        for table in (dataset.table("clusters"), dataset.table("pairs"))
    )
    place = clusters.schema.get_field_index("split")
    held_out = clusters["cluster_id"].to_numpy() % VALIDATION == 0
    split = pa.array(np.where(held_out, "validation", "train").tolist())
    clusters = clusters.set_column(place, clusters.schema.field(place), split.cast(clusters.schema.field(place).type))
    output = Output(url, "dataset")
    tables = {"clusters": clusters, "pairs": pairs}
    files = [output.write(f"{n}.parquet", to_parquet(t, n), table=n, rows=len(t)) for n, t in tables.items()]
    output.publish(files, inputs=[], configuration={}, counters={})
    print(f"{len(clusters):,} clusters, {len(pairs):,} pairs")


def learn(
    dataset: PairsUrl,
    output: Annotated[Path, typer.Option(help="Folder for the weights.")],
    logs: Annotated[str | None, typer.Option(help="Simulated Parquet log to learn from too.")] = None,
    stray_logs: Annotated[str | None, typer.Option(help="A larger one, for strays of the same answer.")] = None,
    seed: Seed = 0,
) -> None:
    """Write a JSON file of the model."""
    started = time.process_time()
    source, _ = halves(open_dataset(dataset), seed=seed)
    simulated = simulated_logs(logs, stray_logs)
    saved = learn_model(source, simulated, seed=seed)
    output.mkdir(parents=True, exist_ok=True)
    origin = provenance(dataset, logs, stray_logs, seed)
    name, text = f"{KIND}.json", json.dumps(saved | {"provenance": origin}, separators=(",", ":"))
    (output / name).write_text(text + "\n", "utf-8")
    print(f"{name}: threshold {saved['threshold']}, of two {saved['least_of_two']}")
    print(f"{time.process_time() - started:.0f} CPU s")


def encoder_dataset(
    dataset: PairsUrl,
    output: Annotated[str, typer.Option(help="Dataset to write.")],
    half: Annotated[Half, typer.Option(help="Half to write; the encoder is for the other one.")] = "scored",
    seed: Seed = 0,
) -> None:
    """Write the clusters that an encoder may learn from."""
    opened = open_dataset(dataset)
    write_clusters(opened, clusters_of_half(opened, half, seed=seed), output)


if __name__ == "__main__":
    run(learn, encoder_dataset)
