"""Logs that the shipped trees and weights are learned from, and those kept back.

parts of a dataset -> marked_log, quora_logs, template_logs, read_small_logs, simulated_logs -> SilverLog
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.logs.cluster_sources import Source, divide, halves
from benchmarks.logs.learning_logs import learning_log
from benchmarks.logs.silver_logs import (
    ALONE,
    LOGS,
    MERGED,
    SilverLog,
    log_of,
    merged_log,
    of_several,
    silver_of_known,
    simulated_log,
    thinned,
)
from benchmarks.logs.small_logs import small_logs
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import uniform
from schemas.text import question_id

PARTS = 3
"""Number of equal parts of the clusters; one is kept back from learning, to choose the threshold on."""

TEMPLATES = ("near-misses", "values", "values-strays", "skewed")


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
        first, second = (unit for unit in units if unit is not None)
        if first[0] == second[0]:
            continue
        taken |= {int(first[0]), int(second[0])}
        shared.append((MERGED, [first, second]))
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


def template_logs(seed: int) -> Iterator[tuple[str, SilverLog]]:
    """Yield the generated logs of templates with their names."""
    for name in TEMPLATES:
        yield name, silver_of_known(learning_log(name, seed=seed))


def read_small_logs(source: Source, *, seed: int) -> Iterator[SilverLog]:
    """Yield the small logs. Most are in scripts of which an encoder may have no embeddings."""
    yield from map(silver_of_known, small_logs(source, seed=seed))


def parts_of(dataset: str, *, seed: int) -> tuple[Source, Source]:
    """Return the clusters to learn from and those kept back, two thirds and one third of the learning half."""
    return divide(halves(open_dataset(dataset), seed=seed)[0], part=PARTS - 1, parts=PARTS)


def first_of(source: Source, share: float) -> Source:
    """Return a share of the clusters and strays."""
    clusters, strays = (round(share * len(units)) for units in (source.clusters, source.strays))
    return dataclasses.replace(source, clusters=source.clusters[:clusters], strays=source.strays[:strays])


def simulated_logs(logs: str | None, stray_logs: str | None) -> list[SilverLog]:
    """Return the simulated logs to learn from, also with one question of each fact.

    In real logs many facts share an answer ("what is the profession of …"), and most are asked about once.
    """
    learned = []
    if logs:
        log = simulated_log(logs)
        learned += [log, thinned(log, seed=1)]
    if stray_logs:
        strays = of_several(simulated_log(stray_logs))
        learned += [thinned(strays, seed=2), thinned(strays, seed=3)]
    return learned
