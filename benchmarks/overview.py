"""CPU seconds and memory of the look at all clusters that a run ends with, against reading their table at once.

Run: python -m benchmarks.overview [--clusters 2000000] [--files 64] [--seed 0]

Both look at the same made-up clusters and are compared: quartiles of sizes and scores, and the ids of the clusters that
are shown. Each is a process of its own, start included, and its CPU time is what the operating system charged it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from pipelines.summary.cluster_summary import SCORES, SHOWN_CLUSTERS, overview
from pipelines.summary.histogram import FIVE
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, conform

PROGRAMS = {"column by column": "ours", "the whole table at once": "whole_table"}


def make(url: str, *, clusters: int, files: int, seed: int) -> None:
    """Write a dataset of random clusters: two to fifty questions of about fifty characters each."""
    output = Output(url, "dataset")
    parts = np.array_split(np.arange(clusters), files)
    written = []
    for number, ids in enumerate(parts):
        draw = np.random.default_rng([seed, number])
        content = to_parquet(random_clusters(ids, draw), "clusters")
        path = f"clusters/train-{number:05d}-of-{files:05d}.parquet"
        written.append(output.write(path, content, table="clusters", rows=len(ids)))
    output.publish(written, inputs=[], configuration={}, counters={})


def random_clusters(ids: np.ndarray, draw: np.random.Generator) -> pa.Table:
    """Return a CLUSTERS row for each id."""
    sizes = np.minimum(draw.zipf(2.0, len(ids)) + 1, 50)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
    questions = draw.integers(0, 2**62, sizes.sum())
    texts = pc.binary_join_element_wise("what is the meaning of ", pa.array(questions).cast(pa.string()), " ")
    columns = {
        **{name: pa.array(ids, pa.int64()) for name in ("cluster_id", "answer_hash")},
        "answer": pa.array(ids, pa.int64()).cast(pa.string()),
        "split": pa.repeat("train", len(ids)),
        **{name: pa.array(sizes, pa.int64()) for name in ("size", "events")},
        **{name: pa.array(draw.random(len(ids)).round(4)) for name in SCORES},
        "question_ids": pa.ListArray.from_arrays(offsets, pa.array(questions)),
        "texts": pa.ListArray.from_arrays(offsets, texts),
    }
    return conform(pa.table(columns), CLUSTERS)


def ours(url: str) -> dict[str, Any]:
    """Return quartiles and ids as `pipelines.summary.cluster_summary` finds them."""
    seen = overview(url, open_dataset(url).manifest.files)
    return {
        "five": {name: list(found.five().values()) for name, found in seen.distributions.items()},
        "largest": [cluster["cluster_id"] for cluster in seen.largest],
        "least_coherent": [cluster["cluster_id"] for cluster in seen.least_coherent],
    }


def whole_table(url: str) -> dict[str, Any]:
    """Return the same from the table as a whole."""
    table = open_dataset(url).table("clusters")
    scores = ("idf_coherence", "adjusted_coherence")

    def first(*order: tuple[str, str]) -> list[int]:
        ids: list[int] = table.take(pc.sort_indices(table, list(order))[:SHOWN_CLUSTERS])["cluster_id"].to_pylist()
        return ids

    five = {
        name: [np.quantile(table[name].to_numpy(), share, method="inverted_cdf") for share in FIVE.values()]
        for name in ("size", *SCORES)
    }
    return {
        "five": {name: [round(float(value), 4) for value in values] for name, values in five.items()},
        "largest": first(("size", "descending"), ("cluster_id", "ascending")),
        "least_coherent": first(*((name, "ascending") for name in (*scores, "cluster_id"))),
    }


def main() -> None:
    """Measure both programs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", choices=("make", *PROGRAMS.values()), help=argparse.SUPPRESS)
    parser.add_argument("--dataset", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.program == "make":
        make(options.dataset, clusters=options.clusters, files=options.files, seed=options.seed)
        return
    if options.program:
        print(json.dumps({"ours": ours, "whole_table": whole_table}[options.program](options.dataset)))
        return
    print(describe_machine(), f"{options.clusters:,} clusters in {options.files} files, seed {options.seed}", sep="; ")
    with tempfile.TemporaryDirectory() as folder:
        url = f"{folder}/dataset"
        itself = [sys.executable, "-m", "benchmarks.overview", "--dataset", url, "--program"]
        numbers = {"--clusters": options.clusters, "--files": options.files, "--seed": options.seed}
        measure([*itself, "make", *(str(word) for pair in numbers.items() for word in pair)])
        print(f"{'program':24} {'CPU s':>7} {'peak MB':>8}  result")
        expected = None
        for title, name in PROGRAMS.items():
            seconds, _, memory, printed = measure([*itself, name])
            found = json.loads(printed)
            verdict = "" if expected is None else "equal" if found == expected else "DIFFERS"
            expected = found
            print(f"{title:24} {seconds:7.1f} {memory:8.0f}  {verdict}")


if __name__ == "__main__":
    main()
