"""Learning of the shipped trees, which compare questions with their neighbours of other answers.

Run: python -m benchmarks.labels.learn_trees --dataset quora --pairs PAIRS.tsv.gz --logs S1 --stray-logs S2 --output DIR

With `--encoder static`, `--encoder st:FOLDER` or `--encoder MODEL` they learn for questions that are compared by the
vectors of an encoder, and no feature of a higher cosine lowers the probability. MODEL must not have seen the half that
is learned from: `benchmarks.labels.learn_weights encoder-dataset` writes the other half to train it on.

They learn from two thirds of one half of Quora's clusters, in hundreds of logs of random composition
(`benchmarks.logs.mixed_logs`), from its pairs that people marked as no duplicates, from generated templates
(`benchmarks.logs.learning_logs`), small logs and simulated logs. Figures are reported for the last third of that
half and other draws of the templates. Nothing of the logs in `benchmarks.logs.known_logs` is read. The same inputs
give the same bytes.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
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
from benchmarks.labels.learn_weights import LOGS, PARTS, gather, simulated_logs, threshold_of_log
from benchmarks.labels.silver_scores import answers, score
from benchmarks.logs.cluster_sources import Source, divide, halves
from benchmarks.logs.known_logs import KnownLog
from benchmarks.logs.learning_logs import learning_log
from benchmarks.logs.mixed_logs import mixed_log
from benchmarks.logs.silver_logs import ALONE, MERGED, SilverLog, log_of, merged_log
from benchmarks.logs.small_logs import small_logs
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.calibration.gold_labels import gold_of
from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.comparison.word_alignment import ALIGNED
from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import TreesFile, model_of_trees, tree_features
from pipelines.neighbours.embeddings import Encode
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import uniform
from schemas.tables import QA_LOG
from schemas.text import fold, question_id

TEMPLATES = ("near-misses", "values", "values-strays", "skewed")
CLUSTERS = 5_000

PAIRS_A_LOG = 60_000
PAIRS_A_MIXED_LOG = 8_000
MIXED_LOGS = 400

WEIGHT_OF_MIXED = 12.0
WEIGHT_OF_SIMULATED = 5.0
WEIGHT_OF_SMALL = 2.0
"""Weights of all logs of a kind together; that of marked pairs and each kind of templates have 1."""

PARTS_OF_SIMULATED = (1.0, 0.2)
"""Shares of the answers of a simulated log that make logs of different sizes."""

ROUNDS = 400
RATE = 0.1
LEAVES = 16
FEATURES_A_TREE = 0.4
"""Share of the features that a tree may use: no feature of the log decides alone."""

UNRELATED_KEPT = (0.1, 0.45)
"""Answers of strays only, for each cluster, in the draws of Quora's logs that are kept back."""

DRAWS = 3
"""Number of draws of templates and of small logs that are learned from."""

DRAWS_OF_SMALL_KEPT = 6

SEED_OF_KEPT = 1_000
"""Added to the seed for the draws of what is kept back."""

LOWEST = 0.45
"""Lowest threshold: simulated logs kept back lose precision below it, and hardly any recall above."""

THRESHOLD_OF_SMALL = 0.35
"""Threshold of small logs. Of those kept back all from .25 to .5 have the same figures."""

PRECISION = 0.94
"""Estimated share of paraphrases among the kept pairs of a log, which its threshold has to reach."""

PRECISION_OF_STATIC = 0.95
"""The same for trees of static embeddings, which keep enough paraphrases at it."""

PRECISIONS = (0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96)
"""Estimated shares whose figures are reported."""

RISING = frozenset(
    name for name in (*AGREEMENT, *COSINES, *ALIGNED) if name.startswith(("similarity", "above_", "cosine", "aligned"))
)
FALLING = frozenset({"others_nearer_min", "others_nearer_max", *(name for name in ALIGNED if "left_over" in name)})
"""Features that rise or fall as the cosine of a pair rises and all other cosines stay; the probability never falls."""

LOWEST_OF_SENTENCES = 0.8
"""Lowest threshold with a model of sentence-transformers: most have seen Quora's duplicates, so clusters kept back are
no evidence for a lower one."""


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


class Remembered:
    """Encoder that encodes each text once, as the same questions occur in many logs."""

    def __init__(self, encode: Encode) -> None:
        self.encode = encode
        self.vectors: dict[str, np.ndarray] = {}

    def __call__(self, texts: pa.ChunkedArray) -> np.ndarray:
        """Return the vectors of n texts."""
        asked = texts.to_pylist()
        new = [text for text in dict.fromkeys(asked) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, self.encode(pa.chunked_array([new])), strict=True))
        return np.stack([self.vectors[text] for text in asked])


def examples(
    log: SilverLog, encode: Encode | None = None, *, seed: int, most: int = PAIRS_A_LOG, aligns: bool = False
) -> Examples:
    """Return a sample of a log's pairs, whose weights add up to 1; a pair weighs the inverse root of its answer's size.

    Args:
        log: the log.
        encode: encoder of the texts; None: words alone are compared.
        seed: of the sample.
        most: maximum number of pairs.
        aligns: compare single words by the encoder, too.
    """
    found = gather(log, encode, neighbours=True, words_too=encode is not None, alignment=aligns).compared
    chosen = np.sort(np.random.default_rng(seed).permutation(len(found.left))[:most])
    left, right = found.left[chosen], found.right[chosen]
    weight = 1 / np.sqrt(np.bincount(answers(log))[answers(log)[left]])
    return Examples(found.features[chosen], log.gold[left] == log.gold[right], weight / max(weight.sum(), 1e-9))


def weighted(logs: Iterable[Examples], total: float) -> list[Examples]:
    """Return logs that weigh as much as ``total`` logs together."""
    every = list(logs)
    return [log._replace(weight=log.weight * total / len(every)) for log in every]


def judged(log: SilverLog, model: LinkModel, encode: Encode | None = None) -> Pairs:
    """Return the candidate pairs of a log with their probabilities."""
    pairs = gather(log, encode, neighbours=True, words_too=model.words_too, alignment=model.alignment)
    left, right, answer, features = pairs.compared
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

    A log is left out if too few of its clusters share a word.

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
            with contextlib.suppress(ValueError):
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


def monotone(names: Sequence[str]) -> list[int]:
    """Return 1 for features that may only raise the probability of a pair, -1 for those that may only lower it."""
    return [int(name in RISING) - int(name in FALLING) for name in names]


def fit(logs: list[Examples], *, seed: int) -> Any:
    """Return a LightGBM model of all features."""
    import lightgbm

    features, same, weights = (np.concatenate(parts) for parts in zip(*logs, strict=True))
    options = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "feature_fraction": FEATURES_A_TREE,
        "min_data_in_leaf": 200,
        "lambda_l2": 1.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbose": -1,
    }
    by_vectors = features.shape[1] > len(tree_features())
    aligns = features.shape[1] > len(tree_features(cosine=by_vectors, words_too=by_vectors))
    names = list(tree_features(cosine=by_vectors, words_too=by_vectors, alignment=aligns))
    if by_vectors:
        options |= {"monotone_constraints": monotone(names), "monotone_constraints_method": "intermediate"}
    data = lightgbm.Dataset(features, label=same, weight=weights / weights.mean(), feature_name=names)
    return lightgbm.train(options, data, ROUNDS)


def group_at(pairs: Pairs, lowest: float, precision: float) -> tuple[float, np.ndarray]:
    """Return the threshold of a log at an estimated precision, and the group of every row."""
    log, left, right, _, probability = pairs
    threshold = threshold_of_log(log, left, right, probability, lowest=lowest, precision=precision)
    return threshold, agglomerate(left, right, probability, rows=len(log.gold), threshold=threshold)


def report_precisions(kept_back: dict[str, Pairs], small: list[Pairs], model: LinkModel, report: Report) -> None:
    """Print the threshold and figures of each log at each estimated precision.

    Args:
        kept_back: logs by name.
        small: small logs, which are counted together.
        model: the trees, with the lowest threshold and that of small logs.
        report: where the figures are printed.
    """
    of_small = figures_of_small(small, model.threshold_of_small or model.threshold)
    for precision in PRECISIONS:
        found = {name: group_at(pairs, model.threshold, precision) for name, pairs in kept_back.items()}
        figures = {name: score(kept_back[name].log, group) for name, (_, group) in found.items()}
        shown = {
            name: f"{found[name][0]:.2f}: {f.precision:.3f}/{f.recall:.3f} whole {f.whole:.3f}"
            for name, f in figures.items()
        }
        skewed = touched(kept_back["skewed"], found["skewed"][1])
        report.row(precision=precision, **shown, touched=skewed, small=of_small)


def figures_of_small(logs: list[Pairs], threshold: float) -> str:
    """Return pair precision and recall over all small logs."""
    kept = right = 0
    for pairs in logs:
        rows = len(pairs.log.gold)
        group = agglomerate(pairs.left, pairs.right, pairs.probability, rows=rows, threshold=threshold)
        together = group[pairs.left] == group[pairs.right]
        kept, right = kept + int(together.sum()), right + int((together & pairs.same).sum())
    return f"{right / max(kept, 1):.3f}/{right / max(sum(int(pairs.same.sum()) for pairs in logs), 1):.3f}"


def report_kept_back(
    kept: Source,
    model: LinkModel,
    encode: Encode | None,
    report: Report,
    *,
    clusters: int,
    seed: int,
    unrelated: Sequence[float] = UNRELATED_KEPT,
) -> None:
    """Print the figures of trees on clusters kept back from learning and on other draws of the templates.

    Args:
        kept: part of the learning half.
        model: the trees, with the lowest threshold.
        encode: encoder of the texts, if the trees use one.
        report: where the figures are printed.
        clusters: maximum number of clusters of each log of Quora's.
        seed: of the logs, another than that of the logs learned from.
        unrelated: number of answers with strays only for each cluster, a draw of Quora's logs for each.
    """
    logs = itertools.chain(quora_logs(kept, clusters=clusters, seed=seed, unrelated=unrelated), template_logs(seed))
    kept_back = {name: judged(log, model, encode) for name, log in logs}
    small = [
        judged(log, model, encode)
        for draw in range(seed, seed + DRAWS_OF_SMALL_KEPT)
        for log in read_small_logs(kept, seed=draw)
    ]
    report_precisions(kept_back, small, model, report)


def touched(pairs: Pairs, group: np.ndarray) -> float:
    """Return the share of the answers with several questions of which a wrong pair is kept."""
    answer = answers(pairs.log)
    wrong = (group[pairs.left] == group[pairs.right]) & ~pairs.same
    several = int(np.count_nonzero(np.bincount(answer) > 1))
    return len(np.unique(answer[pairs.left[wrong]])) / max(several, 1)


def parts_of(dataset: str, *, seed: int) -> tuple[Source, Source]:
    """Return the clusters to learn from and those kept back, two thirds and one third of the learning half."""
    return divide(halves(open_dataset(dataset), seed=seed)[0], part=PARTS - 1, parts=PARTS)


def first_of(source: Source, share: float) -> Source:
    """Return a share of the clusters and strays."""
    clusters, strays = (round(share * len(found)) for found in (source.clusters, source.strays))
    return dataclasses.replace(source, clusters=source.clusters[:clusters], strays=source.strays[:strays])


def learn(
    dataset: PairsUrl,
    pairs: Annotated[Path, typer.Option(help="Labelled pairs of Quora, as downloaded.")],
    logs: Annotated[str, typer.Option(help="Simulated Parquet log.")],
    stray_logs: Annotated[str, typer.Option(help="A larger one, for strays of the same answer.")],
    output: Annotated[Path, typer.Option(help="Folder for the trees.")],
    encoder: Annotated[str | None, typer.Option(help="Encoder whose vectors are compared too.")] = None,
    clusters: Annotated[int, typer.Option(help="Maximum number of clusters of each log kept back.")] = CLUSTERS,
    align: Annotated[bool, typer.Option(help="Compare single words by the encoder, too.")] = False,
    mixed: Annotated[int, typer.Option(help="Number of logs of random composition.")] = MIXED_LOGS,
    weight: Annotated[float, typer.Option(help="Weight of these logs together.")] = WEIGHT_OF_MIXED,
    share: Annotated[float, typer.Option(help="Share of the answers of simulated logs that is read.")] = 1.0,
    questions: Annotated[float, typer.Option(help="Share of Quora's questions learned from.")] = 1.0,
    seed: Seed = 0,
) -> None:
    """Write the trees as text, and the rule of the threshold of a log beside them."""
    started = time.process_time()
    report = Report(as_json=False, seed=seed, clusters=clusters, mixed=mixed, weight=weight, share=share)
    given, kind = refining_encoder(encoder) if encoder else (None, None)
    encode = Remembered(given) if given else None
    name = f"boosted-{kind}" if kind else "boosted"
    learning, kept = parts_of(dataset, seed=seed)
    learning = first_of(learning, questions)
    marked = marked_log(learning, pairs, clusters=clusters, seed=seed)
    of_log = functools.partial(examples, encode=encode, aligns=align)
    learned = [of_log(marked, seed=seed)]
    simulated = (part_of(log, share * part) for log in simulated_logs(logs, stray_logs) for part in PARTS_OF_SIMULATED)
    learned += weighted((of_log(log, seed=seed) for log in simulated), WEIGHT_OF_SIMULATED)
    drawn = (mixed_log(learning, np.random.default_rng([seed, number])) for number in range(mixed))
    learned += weighted((of_log(log, seed=seed, most=PAIRS_A_MIXED_LOG) for log in drawn), weight)
    draws = range(seed, seed + DRAWS)
    small = (of_log(log, seed=draw) for draw in draws for log in read_small_logs(learning, seed=draw))
    learned += weighted(small, WEIGHT_OF_SMALL)
    templates = (of_log(log, seed=draw) for draw in draws for _, log in template_logs(draw))
    learned += weighted(templates, len(TEMPLATES))
    text = fit(learned, seed=seed).model_to_string()
    lowest, of_small = (LOWEST_OF_SENTENCES,) * 2 if kind == "st" else (LOWEST, THRESHOLD_OF_SMALL)
    precision = PRECISION_OF_STATIC if kind == "static" else PRECISION
    described = TreesFile(
        kind="lightgbm", file=f"{name}.txt", threshold=lowest, precision=precision, threshold_of_small=of_small
    )
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{name}.txt").write_text(text, "utf-8")
    command = "python -m benchmarks.labels.learn_trees --dataset D --pairs P --logs SIMULATED --stray-logs STRAYS"
    origin = {
        "learned_from": "Quora Question Pairs (first release), generated templates, and logs of qpr simulate; fitted "
        "figures only, no text of the data is in here.",
        "command": f"{command}{_options(kind, clusters, mixed, weight, share, questions, align=align)} --seed {seed}",
    }
    saved = described.model_dump(exclude_defaults=True) | {"provenance": origin}
    (output / f"{name}.json").write_text(json.dumps(saved) + "\n", "utf-8")
    report_kept_back(kept, model_of_trees(text, described), encode, report, clusters=clusters, seed=seed + SEED_OF_KEPT)
    rule = described.model_dump(include={"threshold", "precision", "threshold_of_small"})
    report.row(**rule, cpu_s=time.process_time() - started)


def _options(
    kind: str | None, clusters: int, mixed: int, weight: float, share: float, questions: float, *, align: bool
) -> str:
    """Return the options that are no defaults, with a name for the place of an encoder."""
    address = {"static": "static", "st": "st:all-MiniLM-L6-v2", "model": "MODEL"}
    given = [f" --encoder {address[kind]}" if kind else ""]
    given += [" --align" if align else ""]
    given += [f" --clusters {clusters}" if clusters != CLUSTERS else ""]
    given += [f" --mixed {mixed}" if mixed != MIXED_LOGS else "", f" --share {share:g}" if share < 1 else ""]
    given += [f" --weight {weight:g}" if weight != WEIGHT_OF_MIXED else ""]
    given += [f" --questions {questions:g}" if questions < 1 else ""]
    return "".join(given)


if __name__ == "__main__":
    run(learn)
