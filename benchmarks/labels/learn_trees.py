"""Learning of the shipped trees, which compare questions with their neighbours of other answers.

Run: python -m benchmarks.labels.learn_trees --dataset quora --pairs PAIRS.tsv.gz --logs S1 --stray-logs S2 --output DIR

With `--encoder static`, `--encoder st:FOLDER` or `--encoder MODEL` they learn for questions that are compared by the
vectors of an encoder, and no feature of a higher cosine lowers the probability. MODEL must not have seen the half that
is learned from: `benchmarks.labels.learn_weights encoder-dataset` writes the other half to train it on.

They learn from two thirds of one half of Quora's clusters under shared answers, from its pairs that people marked as no
duplicates, from generated templates (`benchmarks.labels.learning_logs`) and simulated logs. There are several draws of
each, with few and many unrelated answers, and no feature by which trees could recognise a log. Thresholds are chosen on
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
from collections.abc import Iterable, Iterator, Sequence
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
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.calibration.gold_labels import gold_of
from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.compare import Compared, Questions, compare_all
from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import TreesFile, model_of_trees, tree_features
from pipelines.linkage.settings import EncoderKind
from pipelines.linkage.witnesses import evidence_among, find_witnesses
from pipelines.neighbours.embeddings import Encode
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import uniform
from schemas.tables import QA_LOG
from schemas.text import fold, question_id

TEMPLATES = ("near-misses", "values", "values-strays", "skewed")
CLUSTERS = 5_000

PAIRS_A_LOG = 60_000
SMALL_WEIGHT = 2.0
"""Weight of all small logs together, as a number of large ones."""

ROUNDS = 200
RATE = 0.15
LEAVES = 15

UNRELATED = (0.0, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0)
"""Answers of strays only, for each cluster, in the draws of Quora's logs that are learned from."""

UNRELATED_KEPT = (0.1, 0.45)
"""The same in the draws on which thresholds are chosen."""

DRAWS = 3
"""Number of draws of templates and of small logs that are learned from."""

DRAWS_OF_SMALL_KEPT = 6
"""Number of draws of small logs kept back; with three the best threshold still changed from draw to draw."""

SEED_OF_KEPT = 1_000
"""Added to the seed for the draws of what is kept back."""

LEFT_OUT = ("log_agreement", "words_log_agreement")
"""Features that are not learned from: they have one value in a log, by which trees recognise it and so its answers."""

THRESHOLDS = np.arange(0.3, 0.96, 0.05).round(2).tolist()

RISING = frozenset(name for name in (*AGREEMENT, *COSINES) if name.startswith(("similarity", "above_", "cosine")))
FALLING = frozenset({"others_nearer_min", "others_nearer_max"})
"""Features that rise or fall as the cosine of a pair rises and all other cosines stay; the probability never falls."""

LIMITS = {"b": 0.995, "c": 0.91, "d": 0.97, "topic": 0.96, "values": 0.99}
"""Minimum pair precision on the logs kept back."""

LEAST_OF_SENTENCES = 0.8
"""Minimum threshold with a model of sentence-transformers: most have seen Quora's duplicates, so clusters kept back are
no evidence for a lower one. It is the threshold with a model that has not seen them."""

TOUCHED = 0.015
"""Maximum share of the answers of skewed templates of which a wrong pair is kept, half of what is aimed at: templates
whose wordings were not learned from have almost twice as many."""


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


def compared(log: SilverLog, encode: Encode | None = None, *, words_too: bool = True) -> Compared:
    """Return the candidate pairs of a log with the features of their neighbours, and of an encoder's vectors.

    Args:
        log: the log.
        encode: encoder of the texts; None: words alone are compared.
        words_too: compare neighbours by words beside those by vectors.
    """
    evidence = evidence_among(log.members, log.weights, encode, words_too=words_too)
    witnesses = find_witnesses(log.members, log.weights, evidence)
    return compare_all(Questions(log.members, log.weights, evidence.vectors_of(log.members), witnesses))


def examples(log: SilverLog, encode: Encode | None = None, *, seed: int) -> Examples:
    """Return a sample of a log's pairs; a pair weighs the inverse root of its answer's size."""
    found = compared(log, encode)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(found.left))[:PAIRS_A_LOG])
    left, right = found.left[chosen], found.right[chosen]
    weight = 1 / np.sqrt(np.bincount(answers(log))[answers(log)[left]])
    return Examples(found.features[chosen], log.gold[left] == log.gold[right], weight / weight.sum())


def joined(logs: Iterable[SilverLog], encode: Encode | None = None, *, seed: int) -> Examples:
    """Return the pairs of several small logs as those of one log."""
    features, same, weights = zip(*(examples(log, encode, seed=seed) for log in logs), strict=True)
    weight = np.concatenate(weights)
    return Examples(np.concatenate(features), np.concatenate(same), SMALL_WEIGHT * weight / weight.sum())


def of_draws(log: Examples, draws: int) -> Examples:
    """Return one of several draws of a log, which weigh as much as one log together."""
    return log._replace(weight=log.weight / draws)


def judged(log: SilverLog, model: LinkModel, encode: Encode | None = None) -> Pairs:
    """Return the candidate pairs of a log with their probabilities."""
    left, right, answer, features = compared(log, encode, words_too=model.words_too)
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


def part_of(log: SilverLog, share: float) -> SilverLog:
    """Return a share of a log's answers with all of their questions."""
    if share >= 1:
        return log
    kept = uniform(log.members["answer_id"].to_numpy(), "part") < share
    return SilverLog(log.members.filter(pa.array(kept)), log.gold[kept], log.kind[kept], log.weights)


def quora_logs(
    source: Source, *, clusters: int, seed: int, unrelated: Sequence[float]
) -> Iterator[tuple[str, SilverLog]]:
    """Yield logs of Quora's clusters with their names, which end in the share of unrelated answers.

    Args:
        source: clusters and strays; each draw begins with others.
        clusters: maximum number of clusters of a log.
        seed: of all choices.
        unrelated: number of answers with strays only for each cluster, a draw of all logs for each.
    """
    further, last = max(len(source.clusters) - clusters, 0), max(len(unrelated) - 1, 1)
    for draw, share in enumerate(unrelated):
        first = draw * further // last
        strays = np.roll(source.strays, -(draw * len(source.strays) // len(unrelated)))
        some = dataclasses.replace(source, clusters=source.clusters[first : first + clusters], strays=strays)
        for name, alike in LOGS.items():
            yield f"{name} {share:g}", merged_log(some, seed=seed + draw, alike=alike, unrelated=share)


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


def read_small_logs(source: Source, *, seed: int) -> Iterator[SilverLog]:
    """Yield the small logs. Most are in scripts of which an encoder may have no embeddings."""
    yield from map(silver_of_known, small_logs(source, seed=seed))


def fit(logs: list[Examples], *, seed: int) -> Any:
    """Return a LightGBM model of all features but `LEFT_OUT`."""
    import lightgbm

    features, same, weights = (np.concatenate(parts) for parts in zip(*logs, strict=True))
    options = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "min_data_in_leaf": 200,
        "lambda_l2": 1.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbose": -1,
    }
    words = tree_features()
    by_vectors = features.shape[1] > len(words)
    computed = tree_features(cosine=by_vectors, words_too=by_vectors)
    names = [name for name in computed if name not in LEFT_OUT]
    features = features[:, [computed.index(name) for name in names]]
    if len(computed) > len(words):
        rising = [int(name in RISING) - int(name in FALLING) for name in names]
        options |= {"monotone_constraints": rising, "monotone_constraints_method": "intermediate"}
    data = lightgbm.Dataset(features, label=same, weight=weights / weights.mean(), feature_name=names)
    return lightgbm.train(options, data, ROUNDS)


def choose_thresholds(kept_back: dict[str, Pairs], report: Report, *, least: float = 0.0) -> tuple[float, float]:
    """Return the lowest threshold of all groups, from ``least`` on, and of two, within `LIMITS` and `TOUCHED`.

    The first word of a log's name is that of its limit.
    """

    def grouped(name: str, threshold: float, least_of_two: float) -> np.ndarray:
        log, left, right, _, probability = kept_back[name]
        rows = len(log.gold)
        return agglomerate(left, right, probability, rows=rows, threshold=threshold, least_of_two=least_of_two)

    for threshold in THRESHOLDS:
        figures = {name: score(kept_back[name].log, grouped(name, threshold, 0.0)) for name in kept_back}
        shown = {name: f"{f.precision:.3f}/{f.recall:.3f} whole {f.whole:.3f}" for name, f in figures.items()}
        report.row(threshold=threshold, **shown, touched=touched(kept_back["skewed"], grouped("skewed", threshold, 0)))
    limits = {name: LIMITS[kind] for name in kept_back if (kind := name.split()[0]) in LIMITS}
    precise = (
        t
        for t in THRESHOLDS
        if t >= least
        and all(score(kept_back[n].log, grouped(n, t, 0.0)).precision >= limit for n, limit in limits.items())
    )
    threshold = next(precise, THRESHOLDS[-1])
    strict = (
        t
        for t in [*THRESHOLDS, 0.98]
        if t >= threshold and touched(kept_back["skewed"], grouped("skewed", threshold, t)) <= TOUCHED
    )
    return threshold, next(strict, 0.98)


def choose_threshold_of_small(logs: Iterable[Pairs]) -> float:
    """Return the threshold with the highest F1 over the pairs of all small logs."""
    every = list(logs)
    paraphrases = sum(int(pairs.same.sum()) for pairs in every)
    scores = []
    for threshold in THRESHOLDS:
        kept = right = 0
        for log, left, right_row, same, probability in every:
            group = agglomerate(left, right_row, probability, rows=len(log.gold), threshold=threshold)
            together = group[left] == group[right_row]
            kept, right = kept + int(together.sum()), right + int((together & same).sum())
        scores.append(2 * right / (kept + paraphrases))
    return float(THRESHOLDS[int(np.argmax(scores))])


def thresholds_on(
    kept: Source,
    model: LinkModel,
    encode: Encode | None,
    kind: EncoderKind | None,
    report: Report,
    *,
    clusters: int,
    seed: int,
    unrelated: Sequence[float] = UNRELATED_KEPT,
) -> dict[str, float]:
    """Choose the thresholds of trees on clusters kept back from learning and on other draws of the templates.

    Args:
        kept: part of the learning half.
        model: the trees.
        encode: encoder of the texts, if the trees use one.
        kind: its kind.
        report: the figures at each threshold are printed there.
        clusters: maximum number of clusters of each log of Quora's.
        seed: of the logs, another than that of the logs learned from.
        unrelated: number of answers with strays only for each cluster, a draw of Quora's logs for each.
    """
    logs = itertools.chain(quora_logs(kept, clusters=clusters, seed=seed, unrelated=unrelated), template_logs(seed))
    kept_back = {name: judged(log, model, encode) for name, log in logs}
    least = LEAST_OF_SENTENCES if kind == "st" else 0.0
    threshold, least_of_two = choose_thresholds(kept_back, report, least=least)
    small_logs_kept = (
        judged(log, model, encode)
        for draw in range(seed, seed + DRAWS_OF_SMALL_KEPT)
        for log in read_small_logs(kept, seed=draw)
    )
    of_small = max(choose_threshold_of_small(small_logs_kept), least)
    return {"threshold": threshold, "least_of_two": least_of_two, "threshold_of_small": of_small}


def touched(pairs: Pairs, group: np.ndarray) -> float:
    """Return the share of the answers with several questions of which a wrong pair is kept."""
    answer = answers(pairs.log)
    wrong = (group[pairs.left] == group[pairs.right]) & ~pairs.same
    several = int(np.count_nonzero(np.bincount(answer) > 1))
    return len(np.unique(answer[pairs.left[wrong]])) / max(several, 1)


def parts_of(dataset: str, *, seed: int) -> tuple[Source, Source]:
    """Return the clusters to learn from and those kept back, two thirds and one third of the learning half."""
    return divide(halves(open_dataset(dataset), seed=seed)[0], part=PARTS - 1, parts=PARTS)


def learn(
    dataset: PairsUrl,
    pairs: Annotated[Path, typer.Option(help="Labelled pairs of Quora, as downloaded.")],
    logs: Annotated[str, typer.Option(help="Simulated Parquet log.")],
    stray_logs: Annotated[str, typer.Option(help="A larger one, for strays of the same answer.")],
    output: Annotated[Path, typer.Option(help="Folder for the trees.")],
    encoder: Annotated[str | None, typer.Option(help="Encoder whose vectors are compared too.")] = None,
    clusters: Annotated[int, typer.Option(help="Maximum number of clusters of each log of Quora's.")] = CLUSTERS,
    share: Annotated[float, typer.Option(help="Share of the answers of simulated logs that is read.")] = 1.0,
    seed: Seed = 0,
) -> None:
    """Write the trees as text, and their thresholds beside them."""
    started = time.process_time()
    report = Report(as_json=False, seed=seed, clusters=clusters, share=share)
    encode, kind = refining_encoder(encoder) if encoder else (None, None)
    name = f"boosted-{kind}" if kind else "boosted"
    learning, kept = parts_of(dataset, seed=seed)
    marked = marked_log(learning, pairs, clusters=clusters, seed=seed)
    simulated = (part_of(log, share) for log in simulated_logs(logs, stray_logs)[1::2])
    learned = [examples(log, encode, seed=seed) for log in itertools.chain([marked], simulated)]
    for _, log in quora_logs(learning, clusters=clusters, seed=seed + DRAWS, unrelated=UNRELATED):
        learned.append(of_draws(examples(log, encode, seed=seed), len(UNRELATED)))
    for draw in range(seed, seed + DRAWS):
        small = joined(read_small_logs(learning, seed=draw), encode, seed=draw)
        drawn = [examples(log, encode, seed=draw) for _, log in template_logs(draw)]
        learned += [of_draws(log, DRAWS) for log in (*drawn, small)]
    text = fit(learned, seed=seed).model_to_string()
    model = model_of_trees(text, TreesFile(kind="lightgbm", file=f"{name}.txt", threshold=0.5))
    thresholds = thresholds_on(kept, model, encode, kind, report, clusters=clusters, seed=seed + SEED_OF_KEPT)
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{name}.txt").write_text(text, "utf-8")
    command = "python -m benchmarks.labels.learn_trees --dataset D --pairs P --logs SIMULATED --stray-logs STRAYS"
    described = {"kind": "lightgbm", "file": f"{name}.txt", **thresholds}
    origin = {
        "learned_from": "Quora Question Pairs (first release), generated templates, and logs of qpr simulate; fitted "
        "figures only, no text of the data is in here.",
        "command": f"{command}{_options(kind, clusters, share)} --seed {seed}",
    }
    (output / f"{name}.json").write_text(json.dumps(described | {"provenance": origin}) + "\n", "utf-8")
    report.row(**thresholds, cpu_s=time.process_time() - started)


def _options(kind: str | None, clusters: int, share: float) -> str:
    """Return the options that are no defaults, with a name for the place of an encoder."""
    address = {"static": "static", "st": "st:all-MiniLM-L6-v2", "model": "MODEL"}
    given = [f" --encoder {address[kind]}" if kind else ""]
    given += [f" --clusters {clusters}" if clusters != CLUSTERS else "", f" --share {share:g}" if share < 1 else ""]
    return "".join(given)


if __name__ == "__main__":
    run(learn)
