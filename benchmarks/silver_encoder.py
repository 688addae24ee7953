"""The clusters that an encoder may learn from, if its cosine is to be a feature of `benchmarks.silver_learning`.

Run: python -m benchmarks.silver_encoder --dataset D --part 0 --output E, then qpr train --dataset E --output MODEL

All but one third of the learning half. An encoder finds what it has learned from alike, so of its cosine the weights
learn from that third: three encoders, one for each third, let them learn from all. What is scored is the other half.
"""

from __future__ import annotations

import argparse
import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.silver_logs import divide, halves
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import File
from schemas.artifacts.writer import Output

PARTS = 3
VALIDATION = 40
"""One cluster in so many tells when training is done."""


def seen_clusters(dataset: Dataset, *, seed: int, part: int) -> pa.Array:
    """Return the ids of the clusters that the encoder sees: those of the learning half but for one part."""
    learning, _ = halves(dataset, seed=seed)
    seen, _ = divide(learning, part=part, parts=PARTS)
    questions = dataset.table("questions", columns=["question_id", "cluster_id"]).sort_by("question_id")
    first = pa.array(np.array([rows[0] for rows in seen.clusters]))
    return questions["cluster_id"].take(first).combine_chunks()


def write(dataset: Dataset, ids: pa.Array, url: str) -> None:
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

    def file_of(table: pa.Table, name: str) -> File:
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        return output.write(f"{name}.parquet", buffer.getvalue(), table=name, rows=len(table))

    output.publish([file_of(clusters, "clusters"), file_of(pairs, "pairs")], inputs=[], configuration={}, counters={})
    print(f"{len(clusters):,} clusters, {len(pairs):,} pairs")


def main() -> None:
    """Write the dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--output", required=True)
    parser.add_argument("--part", type=int, choices=range(PARTS), default=0, help="the third that it does not see")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    dataset = open_dataset(options.dataset)
    write(dataset, seen_clusters(dataset, seed=options.seed, part=options.part), options.output)


if __name__ == "__main__":
    main()
