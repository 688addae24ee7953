"""Precision, recall and cost of splitting answers with thousands of questions.

Run: python -m benchmarks.large_answers --dataset D [--seed 0]

Simulated wordings of one fact; questions of many facts; both together; and clusters of a dataset with as many strays,
from the half that the shipped weights have not learned from. Each under a single answer. Memory is the highest so far.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.machine import describe_machine
from benchmarks.silver_logs import MERGED, SilverLog, halves, log_of, simulated_log
from benchmarks.silver_scores import score
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.split_answers import link
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import TokenWeights
from schemas.artifacts.dataset import open_dataset

WORDINGS = 2_000
MIXED = (5_000, 20_000, 60_000)
CLUSTERS = 1_500


def under_one_answer(members: pa.Table, gold: np.ndarray, weights: TokenWeights) -> SilverLog:
    """Return a log in which all questions got one answer, each once, with the cluster it has first."""
    _, first = np.unique(members["question_id"].to_numpy(), return_index=True)
    one = members.take(pa.array(first)).set_column(0, members.field(0), pa.array(np.zeros(len(first), np.int64)))
    return SilverLog(merge_answers(one), gold[first], np.full(len(first), MERGED), weights)


def simulated(folder: str, *, events: int, facts: int | None, seed: int) -> SilverLog:
    """Return a log that `qpr simulate` makes."""
    path = f"{folder}/{events}.parquet"
    given = ["--output", path, "--events", str(events), "--seed", str(seed)]
    given += [] if facts is None else ["--facts", str(facts)]
    subprocess.run([sys.executable, "-m", "jobs", "simulate", *given], check=True, capture_output=True)
    return simulated_log(path)


def logs(dataset: str, folder: str, *, seed: int) -> Iterator[tuple[str, SilverLog]]:
    """Yield a name and a log of one answer each."""
    log = simulated(folder, events=150_000, facts=None, seed=seed + 13)
    few = simulated(folder, events=300_000, facts=2, seed=seed)
    answer = few.members["cluster_id"].to_numpy()
    largest = np.flatnonzero(answer == np.bincount(answer).argmax())[:WORDINGS]
    yield "wordings of a fact", under_one_answer(few.members.take(pa.array(largest)), few.gold[largest], log.weights)
    for size in MIXED:
        yield "many facts", under_one_answer(log.members.slice(0, size), log.gold[:size], log.weights)
    other = pa.concat_tables([few.members.take(pa.array(largest)), log.members.slice(0, MIXED[0])])
    gold = np.concatenate([few.gold[largest] + log.gold.max() + 1, log.gold[: MIXED[0]]])
    yield "both", under_one_answer(other, gold, log.weights)
    _, source = halves(open_dataset(dataset), seed=seed)
    quora = log_of(source, [(MERGED, [*source.clusters[:CLUSTERS], *source.strays[:CLUSTERS, None]])])
    yield "Quora's clusters and strays", quora
    strays = log_of(source, [(MERGED, list(source.strays[:5_000, None]))])
    yield "Quora's strays", strays


def main() -> None:
    """Print a line a log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    model = load_model()
    print(f"{describe_machine()}; seed {options.seed}")
    head = ("questions", "precision", "recall", "in groups", "largest")
    print(f"{'':28} {' '.join(head)}  CPU s     MB")
    with tempfile.TemporaryDirectory() as folder:
        for name, log in logs(options.dataset, folder, seed=options.seed):
            started = time.process_time()
            group = link(log.members, log.weights, model).group
            spent = time.process_time() - started
            found, sizes = score(log, group), np.bincount(group)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{name:28} {len(group):9,} {found.precision:9.3f} {found.recall:6.3f} {sizes[sizes > 1].sum():9,} "
                f"{sizes.max():7,} {spent:6.1f} {memory:6.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
