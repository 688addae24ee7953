"""Cost of the cluster summary at the end of a run, beside reading the whole table.

Run: python -m benchmarks.pipelines.cluster_summary --clusters 200000

Both read the same random clusters in their own process. Their results are compared: quartiles of sizes and scores, and
the ids of the clusters shown.
"""

from __future__ import annotations

import json
import tempfile
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_call
from pipelines.summary.cluster_summary import SCORES, SHOWN_CLUSTERS, summarize_clusters
from pipelines.summary.histogram import FIVE
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, conform


def make(url: str, clusters: int, files: int, seed: int) -> None:
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
        "answer_id": pa.nulls(len(ids), pa.string()),
        "split": pa.repeat("train", len(ids)),
        **{name: pa.array(sizes, pa.int64()) for name in ("size", "events")},
        **{name: pa.array(draw.random(len(ids)).round(4)) for name in SCORES},
        "question_ids": pa.ListArray.from_arrays(offsets, pa.array(questions)),
        "texts": pa.ListArray.from_arrays(offsets, texts),
    }
    return conform(pa.table(columns), CLUSTERS)


def by_summary(url: str) -> None:
    """Print quartiles and ids by `pipelines.summary.cluster_summary`."""
    seen = summarize_clusters(url, open_dataset(url).manifest.files)
    result = {
        "five": {name: list(distribution.five().values()) for name, distribution in seen.distributions.items()},
        "largest": [cluster["cluster_id"] for cluster in seen.largest],
        "least_coherent": [cluster["cluster_id"] for cluster in seen.least_coherent],
    }
    print(json.dumps(result))


def by_whole_table(url: str) -> None:
    """Print the same from the whole table in memory."""
    table = open_dataset(url).table("clusters")
    scores = ("idf_coherence", "adjusted_coherence")

    def first(*order: tuple[str, str]) -> list[int]:
        ids: list[int] = table.take(pc.sort_indices(table, list(order))[:SHOWN_CLUSTERS])["cluster_id"].to_pylist()
        return ids

    five = {
        name: [np.quantile(table[name].to_numpy(), share, method="inverted_cdf") for share in FIVE.values()]
        for name in ("size", *SCORES)
    }
    result = {
        "five": {name: [round(float(value), 4) for value in values] for name, values in five.items()},
        "largest": first(("size", "descending"), ("cluster_id", "ascending")),
        "least_coherent": first(*((name, "ascending") for name in (*scores, "cluster_id"))),
    }
    print(json.dumps(result))


def main(
    clusters: Annotated[int, typer.Option(help="Clusters of the dataset.")] = 2_000_000,
    files: Annotated[int, typer.Option(help="Files of its table of clusters.")] = 64,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure both programs."""
    report = Report(as_json=as_json, clusters=clusters, files=files, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        url = f"{folder}/dataset"
        measure_call(make, url, clusters, files, seed)
        first = None
        for name, program in (("column by column", by_summary), ("whole table", by_whole_table)):
            cost = measure_call(program, url)
            figures = json.loads(cost.output)
            first = first or figures
            report.row(program=name, **cost.cells(), result="equal" if figures == first else "DIFFERS")


if __name__ == "__main__":
    run(main)
