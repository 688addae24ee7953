import random

import numpy as np
import pyarrow as pa
import pytest

from pipelines.summary import cluster_summary as module
from pipelines.summary.cluster_summary import SCORES, SHOWN_CLUSTERS, SHOWN_TEXTS, summarize_clusters
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.writer import write_file
from schemas.errors import QprError
from schemas.tables import CLUSTERS


def cluster(number, size, score):
    scores = dict.fromkeys(SCORES, score)
    return {
        **{name: number for name in CLUSTERS.names if name.endswith(("_id", "_hash"))},
        "answer": None if number % 3 == 0 else f"answer {number}",
        "answer_id": None if number % 3 == 0 else f"id {number}",
        "split": ("train", "validation", "test")[number % 3],
        "size": size,
        "events": 2 * size,
        **scores,
        "question_ids": list(range(size)),
        "texts": [f"question {number} {n}" for n in range(size)],
    }


def stored(url, *parts):
    """Write each list of clusters to a file of its own, besides a file of another table."""
    files = [write_file(f"{url}/run", "pairs/0.parquet", b"", table="pairs")]
    for number, rows in enumerate(parts):
        content = to_parquet(pa.Table.from_pylist(rows, CLUSTERS), "clusters")
        files.append(write_file(f"{url}/run", f"clusters/{number:03}.parquet", content, table="clusters"))
    return summarize_clusters(url, files[::-1])


@pytest.mark.parametrize("files", [1, 4, 40])
def test_all_of_it_is_what_a_look_at_all_rows_at_once_gives(memory, files):
    draw = random.Random(files)
    rows = [cluster(n, draw.randint(2, 60), draw.randint(0, 300) / 1000) for n in range(200)]
    draw.shuffle(rows)
    seen = stored(memory, *(rows[n::files] for n in range(files)))
    largest = sorted(rows, key=lambda row: (-row["size"], row["cluster_id"]))[:SHOWN_CLUSTERS]
    least = sorted(rows, key=lambda row: (row["idf_coherence"], row["cluster_id"]))[:SHOWN_CLUSTERS]
    for told, expected in ((seen.largest, largest), (seen.least_coherent, least)):
        for one, whole in zip(told, expected, strict=True):
            assert one == {name: whole[name] for name in one} | {"texts": whole["texts"][:SHOWN_TEXTS]}
            assert {"answer", "split", "size", "events", *SCORES} <= one.keys()
    for name in ("size", *SCORES):
        values = [row[name] for row in rows]
        assert seen.distributions[name].total == len(rows)
        assert seen.distributions[name].five()["median"] == np.quantile(values, 0.5, method="inverted_cdf")


def test_no_cluster_and_one_cluster(memory):
    assert stored(memory) == ({}, [], [])
    one = stored(memory, [cluster(1, 2, 0.5)])
    assert one.distributions["size"].five() == {"min": 2, "q1": 2, "median": 2, "q3": 2, "max": 2}
    assert one.largest == one.least_coherent
    assert one.largest[0]["texts"] == ["question 1 0", "question 1 1"]


def test_a_score_that_no_cluster_has_has_no_distribution(memory):
    nullable = [name for name in SCORES if CLUSTERS.field(name).nullable]
    found = stored(memory, [cluster(1, 2, 0.5) | dict.fromkeys(nullable)])
    assert set(found.distributions) == {"size", *SCORES} - set(nullable)


def test_texts_are_read_of_the_clusters_that_are_shown_alone(memory, monkeypatch):
    read = []
    real = module._texts
    monkeypatch.setattr(
        module, "_texts", lambda place, rows: read.append((place[1].path, len(rows))) or real(place, rows)
    )
    stored(memory, *([cluster(n, 2 + n, (n + 1) / 100)] for n in range(50)))
    assert sum(rows for _, rows in read) == 2 * SHOWN_CLUSTERS
    assert {path[-11:-8] for path, _ in read} == {f"{n:03}" for n in (*range(10), *range(40, 50))}


def test_a_row_far_into_a_file_is_found(memory):
    rows = [cluster(n, 2, 0.5) for n in range(3000)]
    rows[2500] = cluster(2500, 9, 0.9)  # beyond the first two batches
    assert stored(memory, rows).largest[0]["texts"] == rows[2500]["texts"]


def test_a_file_that_is_gone_is_named(memory):
    gone = write_file(f"{memory}/run", "clusters/0.parquet", b"", table="clusters").model_copy(
        update={"path": "run/clusters/1.parquet"}
    )
    with pytest.raises(QprError, match=r"run/clusters/1\.parquet: no such file"):
        summarize_clusters(memory, [gone])
