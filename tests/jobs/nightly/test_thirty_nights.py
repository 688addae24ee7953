"""Thirty nights whose answers are renamed, merged and split: splits never move, ids of clusters stay."""

import pytest

from jobs.nightly.folding import fold_days, read_splits, remember_splits
from jobs.nightly.warehouse import days_of
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig
from pipelines.ingestion.earlier import ids_by_split
from schemas.artifacts import storage
from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.versions import history
from tests.jobs.nightly.conftest import rows_of

NIGHTS = 30
HOW = ["--shards", 2, "--split-salt", "another"]
FAST = [*HOW, "--epochs", 1, "--dimension", 16, "--vocabulary-size", 200, "--hash-bins", 50, "--ngram-bins", 50]
FAST += ["--window", "10d", "--max-regression", 1, "--max-kept-fall", 1, "--max-drift", 1, "--max-reject-ratio", 1]


def events_of(date, night):
    """Return the rows of a night: its answers are those of the facts, renamed, of two facts each, or two of a fact."""
    rows = rows_of(date, seed=0, count=60, facts=60)
    period = (night - 1) // 6 % 4
    for row in rows:
        fact = int(row["answer"].split()[1])
        if period == 1 and fact % 2:
            row["answer"] = f"Renamed: {row['answer']}"
        elif period == 2:
            row["answer"] = f"Chapter {fact // 2}: see there."
        elif period == 3 and fact % 3 == 0:
            row["answer"] = f"{'Short' if row['question'].startswith('how') else 'Long'} answer {fact} in the appendix."
    return rows


def clusters_of(warehouse, version):
    columns = ["cluster_id", "answer_hash", "question_ids", "split"]
    return open_dataset(storage.join(warehouse, version.dataset.path)).table("clusters", columns=columns).to_pylist()


@pytest.mark.fault
@pytest.mark.slow
def test_splits_never_move_and_clusters_keep_their_ids(qpr, tmp_path, drop, dates):
    w = str(tmp_path / "w")
    seen = {"train": set(), "validation": set(), "test": set()}
    before, became = [], dict.fromkeys(("merged", "split", "gone"), 0)
    for night in range(1, NIGHTS + 1):
        drop(w, dates(night), events_of(dates(night), night))
        outcome = qpr("nightly", "--warehouse", w, "--date", dates(night), *FAST, "--json")
        assert outcome.code == 0, (night, outcome.err)
        number, version = history.current(w)
        assert number == night
        clusters = clusters_of(w, version)
        for cluster in clusters:
            asked = set(cluster["question_ids"])
            assert not any(split != cluster["split"] and ids & asked for split, ids in seen.items()), night
            seen[cluster["split"]] |= asked
        assert {split: set(ids.tolist()) for split, ids in ids_by_split(read_splits(w, version.splits)).items()} == seen
        same = {(row["answer_hash"], *row["question_ids"]): row["cluster_id"] for row in before}
        asked_of = {row["cluster_id"]: set(row["question_ids"]) for row in before}
        for row in clusters:
            key = (row["answer_hash"], *row["question_ids"])
            assert same.get(key, row["cluster_id"]) == row["cluster_id"]
            assert row["cluster_id"] not in asked_of or asked_of[row["cluster_id"]] & set(row["question_ids"])
        assert len({row["cluster_id"] for row in clusters}) == len(clusters)
        became = {name: count + version.changes.get(name, 0) for name, count in became.items()}
        before = clusters
    assert all(len(ids) > 5 for ids in seen.values()), {split: len(ids) for split, ids in seen.items()}
    assert all(became.values()), became
    # without earlier splits the days are one build of their logs
    assert content_digest(fold(w, dates(NIGHTS), earlier=None)[1]) == content_digest(built(qpr, w, tmp_path))


def fold(warehouse, last, *, earlier):
    """Return the artefact and the content of the dataset of all days."""
    config = ClustersConfig(shards=2, assembly={"salt": "another"})
    terms = {"earlier": earlier, "options": parse_options([]), "max_reject_ratio": 1}
    artefact = fold_days(warehouse, days_of(warehouse, last, NIGHTS), config, **terms)
    return artefact, open_dataset(storage.join(warehouse, artefact.path))


def built(qpr, warehouse, tmp_path):
    """Return the dataset that `qpr clusters` makes of all drops."""
    output = str(tmp_path / "dataset")
    logs = f"{warehouse}/events/*/log.jsonl"
    assert qpr("clusters", logs, "--output", output, *HOW, "--max-reject-ratio", 1).code == 0
    return open_dataset(output)


@pytest.mark.fault
@pytest.mark.slow
def test_nights_whose_answers_stay_are_one_build_of_all_days(qpr, tmp_path, drop, dates):
    w, earlier = str(tmp_path / "w"), None
    for night in range(1, NIGHTS + 1):
        drop(w, dates(night), rows_of(dates(night), seed=0, count=40, facts=24))
        assert qpr("ingest", "--warehouse", w, "--date", dates(night), "--shards", 2).code == 0
        artefact, dataset = fold(w, dates(night), earlier=earlier)
        earlier = remember_splits(w, artefact, earlier, read_splits(w, earlier), days=days_of(w, dates(night), NIGHTS))
    assert dataset.manifest.counters["rows_read"] == 40 * NIGHTS
    assert content_digest(dataset) == content_digest(built(qpr, w, tmp_path))
