"""CPU seconds and memory of `qpr clusters` and `qpr quora` where one cluster holds very many questions.

Run: python -m benchmarks.large_cluster [--questions 20000 --questions 100000] [--max-pairs 1]

A log in which all questions got one answer, kept whole by `--linkage none --min-coherence 0`, and pairs that join the
same questions to one component. Every run may keep them all (`--max-cluster-size`) and writes `--max-pairs` pairs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import mix

QPR = [sys.executable, "-m", "jobs"]
WORDS = "how why when where does did is was can the a my your river bank train ticket price name"


def questions(count: int) -> pa.Array:
    """Return different questions of seven words each."""
    number = np.arange(count)
    known, chance = pa.array(WORDS.split()), mix(number, 1)
    words = [known.take(pa.array((chance >> np.uint64(shift)) % np.uint64(len(known)))) for shift in range(0, 48, 8)]
    return pc.binary_join_element_wise(*words, pa.array(number).cast(pa.string()), " ")


def write_log(texts: pa.Array, path: str) -> None:
    """Write a log in which all questions got the same answer."""
    pq.write_table(pa.table({"question": texts, "answer": pa.repeat("42", len(texts))}), path)


def write_pairs(texts: pa.Array, path: str) -> None:
    """Write pairs that join each question to the next."""
    one, two = texts.slice(0, len(texts) - 1), texts.slice(1)
    pq.write_table(pa.table({"question1": one, "question2": two, "is_duplicate": pa.repeat(1, len(one))}), path)


def main() -> None:
    """Measure each command at each size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, action="append", help="20,000 and 100,000 by default")
    parser.add_argument("--max-pairs", type=int, default=1)
    options = parser.parse_args()
    print(f"{describe_machine()}; {options.max_pairs:,} pairs of a cluster", flush=True)
    print(f"{'command':10} {'questions':>10} {'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'pairs':>10}")
    for count in options.questions or (20_000, 100_000):
        limits = ["--max-cluster-size", str(count), "--max-pairs-per-cluster", str(options.max_pairs)]
        with tempfile.TemporaryDirectory() as folder:
            write_log(questions(count), f"{folder}/log.parquet")
            write_pairs(questions(count), f"{folder}/pairs.parquet")
            whole = ["--linkage", "none", "--min-coherence", "0"]
            for command in (
                ["clusters", f"{folder}/log.parquet", *whole],
                ["quora", f"{folder}/pairs.parquet"],
            ):
                cost = measure([*QPR, *command, *limits, "--output", f"{folder}/{command[0]}"])
                pairs = open_dataset(f"{folder}/{command[0]}").table("pairs", columns=["cluster_id"])
                figures = f"{cost.cpu_s:7.1f} {cost.wall_s:7.1f} {cost.memory_mb:8.0f} {len(pairs):10,}"
                print(f"{command[0]:10} {count:10,} {figures}", flush=True)


if __name__ == "__main__":
    main()
