"""Precision, recall and cost of splitting answers with thousands of questions.

Run: python -m benchmarks.labels.large_answers --dataset quora --size 5000

Simulated wordings of one fact; questions of many facts; both together; and clusters of a dataset with as many strays,
from the half that the shipped weights have not learned from. Each has a single answer. Memory is the highest so far.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Pairs, Report, Seed, run
from benchmarks.labels.silver_scores import score
from benchmarks.logs.cluster_sources import halves
from benchmarks.logs.silver_logs import MERGED, SilverLog, log_of, simulated_log
from benchmarks.measure import simulate
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.split_answers import link
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import TokenWeights
from schemas.artifacts.dataset import open_dataset

WORDINGS = 2_000
CLUSTERS = 1_500


def under_one_answer(members: pa.Table, gold: np.ndarray, weights: TokenWeights) -> SilverLog:
    """Return a log in which all questions got one answer, each once, with the cluster it has first."""
    _, first = np.unique(members["question_id"].to_numpy(), return_index=True)
    distinct = members.take(pa.array(first)).set_column(0, members.field(0), pa.array(np.zeros(len(first), np.int64)))
    return SilverLog(merge_answers(distinct), gold[first], np.full(len(first), MERGED), weights)


def logs(dataset: str, folder: str, *, sizes: Sequence[int], seed: int) -> Iterator[tuple[str, SilverLog]]:
    """Yield a name and a log of one answer each."""
    log = simulated_log(simulate(folder, events=150_000, seed=seed + 13))
    few = simulated_log(simulate(folder, events=300_000, seed=seed, options=("--facts", 2)))
    answer = few.members["answer_id"].to_numpy()
    largest = np.flatnonzero(answer == np.bincount(answer).argmax())[:WORDINGS]
    yield "wordings of a fact", under_one_answer(few.members.take(pa.array(largest)), few.gold[largest], log.weights)
    for size in sizes:
        yield "many facts", under_one_answer(log.members.slice(0, size), log.gold[:size], log.weights)
    other = pa.concat_tables([few.members.take(pa.array(largest)), log.members.slice(0, sizes[0])])
    gold = np.concatenate([few.gold[largest] + log.gold.max() + 1, log.gold[: sizes[0]]])
    yield "both", under_one_answer(other, gold, log.weights)
    _, source = halves(open_dataset(dataset), seed=seed)
    quora = log_of(source, [(MERGED, [*source.clusters[:CLUSTERS], *source.strays[:CLUSTERS, None]])])
    yield "Quora's clusters and strays", quora
    strays = log_of(source, [(MERGED, list(source.strays[:5_000, None]))])
    yield "Quora's strays", strays


def main(
    dataset: Pairs,
    size: Annotated[list[int], typer.Option(help="Questions of many facts; repeatable.")] = [5_000, 20_000, 60_000],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Split each answer."""
    model = load_model()
    report = Report(as_json=as_json, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        for name, log in logs(dataset, folder, sizes=size, seed=seed):
            started = time.process_time()
            group = link(Questions(log.members, log.weights), model).group
            spent = time.process_time() - started
            figures, sizes = score(log, group), np.bincount(group)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            counts = {"in_groups": int(sizes[sizes > 1].sum()), "largest": int(sizes.max())}
            quality = {"precision": figures.precision, "recall": figures.recall}
            report.row(answer=name, questions=len(group), **quality, **counts, cpu_s=spent, peak_mb=memory)


if __name__ == "__main__":
    run(main)
