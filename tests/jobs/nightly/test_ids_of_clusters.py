"""Ids of clusters from night to night: they stay while clusters grow, and when their oldest question leaves."""

import pytest

from jobs.nightly.folding import fold_days, read_splits, remember_splits
from jobs.nightly.warehouse import days_of
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from tests.jobs.nightly.conftest import rows_of

NIGHTS = 4


def clusters_of_nights(warehouse, dates, window):
    """Yield id, answer and questions of the clusters of each night."""
    earlier, terms = None, {"options": parse_options([]), "max_reject_ratio": 0.1}
    for night in range(1, NIGHTS + 1):
        days = days_of(warehouse, dates(night), window)
        artefact = fold_days(warehouse, days, ClustersConfig(shards=2), earlier=earlier, **terms)
        earlier = remember_splits(warehouse, artefact, earlier, read_splits(warehouse, earlier), days=days)
        dataset = open_dataset(storage.join(warehouse, artefact.path))
        rows = dataset.table("clusters", columns=["cluster_id", "answer_hash", "question_ids"]).to_pylist()
        yield [(row["cluster_id"], row["answer_hash"], frozenset(row["question_ids"])) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("window", "timed"), [(365, False), (2, True)])
def test_most_clusters_keep_their_ids_overnight(qpr, tmp_path, drop, dates, window, timed):
    w = str(tmp_path / "w")
    for night in range(1, NIGHTS + 1):
        rows = rows_of(dates(night), seed=0, count=100)
        drop(w, dates(night), rows if timed else [{**row, "timestamp": None} for row in rows])
    days = ("--from", dates(1), "--to", dates(NIGHTS))
    assert qpr("ingest", "--warehouse", w, *days, "--shards", 2).code == 0
    kept, smallest, before = [], [], []
    for clusters in clusters_of_nights(w, dates, window):
        for old, answer, questions in before:
            for new, other, asked in clusters:
                if answer == other and asked != questions and 2 * len(asked & questions) > len(questions):
                    kept.append(new == old)
                    smallest.append(min(asked) == min(questions))
        before = clusters
    assert len(kept) > 50
    assert sum(kept) >= 0.9 * len(kept)
    assert sum(smallest) < 0.8 * len(smallest)
