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

import functools
import json
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import Pairs as PairsUrl
from benchmarks.cli import Report, Seed, run
from benchmarks.labels.kept_back import CLUSTERS, SEED_OF_KEPT, report_kept_back
from benchmarks.labels.learning.candidate_pairs import Remembered
from benchmarks.labels.learning.learning_sets import (
    TEMPLATES,
    first_of,
    marked_log,
    part_of,
    parts_of,
    read_small_logs,
    simulated_logs,
    template_logs,
)
from benchmarks.labels.learning.tree_fitting import examples, fit, weighted
from benchmarks.logs.mixed_logs import mixed_log
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.scoring.shipped_weights import TreesFile, model_of_trees

PAIRS_A_MIXED_LOG = 8_000
MIXED_LOGS = 400

WEIGHT_OF_MIXED = 12.0
WEIGHT_OF_SIMULATED = 5.0
WEIGHT_OF_SMALL = 2.0
"""Weights of all logs of a kind together; that of marked pairs and each kind of templates have 1."""

PARTS_OF_SIMULATED = (1.0, 0.2)
"""Shares of the answers of a simulated log that make logs of different sizes."""

DRAWS = 3
"""Number of draws of templates and of small logs that are learned from."""

LOWEST = 0.45
"""Lowest threshold: simulated logs kept back lose precision below it, and hardly any recall above."""

THRESHOLD_OF_SMALL = 0.35
"""Threshold of small logs. Of those kept back all from .25 to .5 have the same figures."""

PRECISION = 0.94
"""Estimated share of paraphrases among the kept pairs of a log, which its threshold has to reach."""

PRECISION_OF_STATIC = 0.95
"""The same for trees of static embeddings, which keep enough paraphrases at it."""

LOWEST_OF_SENTENCES = 0.8
"""Lowest threshold with a model of sentence-transformers: most have seen Quora's duplicates, so clusters kept back are
no evidence for a lower one."""


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
