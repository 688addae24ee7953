import datetime
import shutil
from unittest.mock import Mock

import pytest

from jobs.nightly import flow
from jobs.nightly.folding import check_days, fold_days, read_splits, remember_splits
from jobs.nightly.warehouse import days_of
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig
from pipelines.ingestion.earlier import ids_by_split
from pipelines.questions.settings import Validation
from schemas.artifacts import storage
from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import MANIFEST
from schemas.errors import QprError
from schemas.versions import history
from tests.jobs.nightly.conftest import rows_of
from tests.support.small_versions import make_version

CONFIG = ClustersConfig(shards=2, assembly={"salt": "another"})


def fold(warehouse, *, last, window=365, earlier=None, config=CONFIG):
    return fold_days(
        warehouse,
        days_of(warehouse, last, window),
        config,
        earlier=earlier,
        options=parse_options([]),
        max_reject_ratio=0.1,
    )


def tables(warehouse, artefact):
    return open_dataset(storage.join(warehouse, artefact.path))


@pytest.fixture
def warehouse(qpr, folder, tmp_path, drop, dates):
    """Return a copy of a warehouse of three ingested days, and of the dataset of all."""
    kept = folder / "w"
    if not kept.exists():
        for day in (1, 2, 3):
            rows = [*rows_of(dates(day), seed=0), {"question": "?!", "answer": f"no word {day}"}]
            drop(str(kept), dates(day), rows)
        outcome = qpr("ingest", "--warehouse", kept, "--from", dates(1), "--to", dates(3))
        assert outcome.code == 0, outcome.err
        fold(str(kept), last=dates(3))
    return str(shutil.copytree(kept, tmp_path / "w"))


def test_days_make_the_dataset_of_their_logs_together(qpr, warehouse, dates, tmp_path):
    folded = tables(warehouse, fold(warehouse, last=dates(3)))
    logs = f"{warehouse}/events/*/log.jsonl"
    output = str(tmp_path / "dataset")
    assert qpr("clusters", logs, "--output", output, "--shards", 2, "--split-salt", "another").code == 0
    whole = open_dataset(output)
    assert content_digest(folded) == content_digest(whole)
    assert folded.manifest.digest == whole.manifest.digest
    assert folded.manifest.counters["rows_read"] == whole.manifest.counters["rows_read"] == 1203
    assert folded.manifest.counters["rows_rejected"] == 3


def test_an_edited_answer_has_its_new_text_and_its_id_in_a_dataset_of_days_and_of_logs(qpr, tmp_path, drop, dates):
    warehouse, output = str(tmp_path / "w"), str(tmp_path / "dataset")
    for day in (1, 2, 4):
        rows = rows_of(dates(day), seed=0, count=800, facts=12, rename=lambda fact, answer: f"{fact} {answer}")
        for row in rows:
            number, _, row["answer"] = row["answer"].partition(" ")
            row["answer_id"] = f"page-{number}"
            if day == 4 and int(number) < 3:  # they have fewer rows than before
                row["answer"] += " It was printed again."
        drop(warehouse, dates(day), rows)
    assert qpr("ingest", "--warehouse", warehouse, "--from", dates(1), "--to", dates(4)).code == 0
    folded = tables(warehouse, fold(warehouse, last=dates(4)))
    logs = f"{warehouse}/events/*/log.jsonl"
    assert qpr("clusters", logs, "--output", output, "--shards", 2, "--split-salt", "another").code == 0
    assert content_digest(folded) == content_digest(open_dataset(output))
    edited = {"page-0", "page-1", "page-2"}
    for table in ("questions", "clusters"):
        found = folded.table(table, columns=["answer", "answer_id"]).to_pylist()
        assert len({row["answer_id"] for row in found} - {None}) == 12
        assert all(row["answer"].endswith("printed again.") == (row["answer_id"] in edited) for row in found)


def test_an_answer_is_ignored_in_days_that_were_ingested_with_it(qpr, warehouse, dates, tmp_path, capsys):
    ignored = rows_of(dates(1), seed=0)[0]["answer"]
    config = CONFIG.model_copy(update={"validation": Validation(ignored_answers=[ignored.upper(), "no row has this"])})
    capsys.readouterr()
    assert check_days(warehouse, days_of(warehouse, dates(3), 365), config, None, None) is None
    assert capsys.readouterr().err == ""
    whole = fold(warehouse, last=dates(3))
    folded = tables(warehouse, fold(warehouse, last=dates(3), config=config))
    assert folded.manifest.digest != tables(warehouse, whole).manifest.digest
    output = str(tmp_path / "dataset")
    options = ("--shards", 2, "--split-salt", "another", "--ignore-answer", ignored.upper())
    assert qpr("clusters", f"{warehouse}/events/*/log.jsonl", "--output", output, *options).code == 0
    read = open_dataset(output)
    for name in ("questions", "clusters", "pairs"):
        assert folded.table(name) == read.table(name)
    counted = ("rows_read", "rows_rejected", "rejected_validate_ignored_answer", "events", "ignored_answer_0")
    counters = [[dataset.manifest.counters.get(name) for name in counted] for dataset in (folded, read)]
    assert counters[0] == counters[1]
    assert counters[0][2] > 3
    assert "ignored_answer_1" not in folded.manifest.counters


def test_days_that_ignored_more_than_a_night_are_reported(qpr, warehouse, dates, capsys):
    given = ("--from", dates(1), "--to", dates(2), "--ignore-answer", "An answer.")
    assert qpr("ingest", "--warehouse", warehouse, *given).code == 0
    days = days_of(warehouse, dates(3), 365)
    capsys.readouterr()
    again = check_days(warehouse, days, CONFIG, None, None)
    assert "2 days ingested with other options (--ignore-answer)" in " ".join(capsys.readouterr().err.split())
    assert f"--from {dates(1)} --to {dates(2)}" in again


def test_a_window_leaves_out_older_days_and_an_unchanged_one_is_not_made_again(warehouse, dates):
    whole, last = fold(warehouse, last=dates(3)), fold(warehouse, last=dates(3), window=1)
    assert tables(warehouse, last).manifest.counters["rows_read"] == 401
    run = tables(warehouse, whole).manifest.run_id
    assert fold(warehouse, last=dates(3)) == whole
    assert tables(warehouse, whole).manifest.run_id == run
    assert fold(warehouse, last=dates(3) + datetime.timedelta(days=9)) == whole


@pytest.mark.parametrize(
    "assembly", [{}, {"linking": {"method": "none"}, "gate": {"coherence": "paper", "max_cluster_size": 3}}]
)
def test_nights_make_the_rejected_rows_of_one_build_too(qpr, warehouse, drop, dates, assembly):
    twice = rows_of(dates(1), seed=0)[0]
    for day in (1, 4):  # answered in another way later, so that it is ambiguous, at the end of a split that it had
        row = twice | ({} if day == 1 else {"answer": "By hand.", "timestamp": f"{dates(day)}T01:00:00Z"})
        drop(warehouse, dates(day), [row] * 300, name="again.jsonl")
    assert qpr("ingest", "--warehouse", warehouse, "--from", dates(1), "--to", dates(4)).code == 0
    settings = {"shards": 2, "assembly": {"salt": "another", **assembly}, "ambiguity": {"min_answer_share": 0.8}}
    config, earlier = ClustersConfig(**settings), None
    for day in (1, 4):
        night = fold(warehouse, last=dates(day), earlier=earlier, config=config)
        earlier = remember_splits(
            warehouse, night, earlier, read_splits(warehouse, earlier), days=days_of(warehouse, dates(day), 365)
        )
    whole = fold(warehouse, last=dates(4), config=config)
    rejected = tables(warehouse, night).table("rejected", columns=["stage"])["stage"].to_pylist()
    assert {"ambiguity", "validate"} <= set(rejected)
    assert ("size" in rejected) == bool(assembly)
    assert night.path != whole.path
    assert content_digest(tables(warehouse, night)) == content_digest(tables(warehouse, whole))
    one, other = (tables(warehouse, artefact).manifest for artefact in (night, whole))
    assert (one.digest, one.counters) == (other.digest, other.counters)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "how do i pay", "answer": "By card."}], "no cluster was left of 1 question"),
        ([{"question": "?!", "answer": "no word"}], "1 of 1 row rejected"),
        (
            [{"question": text, "answer": "a"} for text in ("how do i pay", "how can i pay")],
            "no train pair among 1 pair",
        ),
    ],
)
def test_a_window_that_cannot_be_used_has_an_exit_code_that_no_scheduler_repeats(
    qpr, tmp_path, drop, dates, rows, message
):
    w = str(tmp_path / "w")
    drop(w, dates(1), rows)
    given = "--warehouse", w, "--date", dates(1)
    assert qpr("ingest", *given, "--max-reject-ratio", 1).code == 0
    outcome = qpr("nightly", *given)
    assert outcome.code == 4, outcome.err
    assert message in outcome.err
    assert history.numbers(w) == []


@pytest.mark.slow
def test_splits_stay_when_answers_are_renamed_and_merge(qpr, tmp_path, drop, dates):
    w, earlier = str(tmp_path / "w"), None
    names = {
        1: lambda fact, answer: answer,
        2: lambda fact, answer: f"Renamed: {answer}",
        3: lambda fact, answer: f"Chapter {fact // 2}: see there.",
        4: lambda fact, answer: answer if fact % 3 else f"Other {fact % 5} answer",
    }
    seen = {"train": set(), "validation": set(), "test": set()}
    for day, rename in names.items():
        drop(w, dates(day), rows_of(dates(day), seed=0, rename=rename))
        assert qpr("ingest", "--warehouse", w, "--date", dates(day)).code == 0
        dataset = fold(w, last=dates(day), window=1, earlier=earlier)
        earlier = remember_splits(w, dataset, earlier, read_splits(w, earlier), days=days_of(w, dates(day), 1))
        for row in tables(w, dataset).table("clusters", columns=["question_ids", "split"]).to_pylist():
            for split, ids in seen.items():
                assert split == row["split"] or not ids & set(row["question_ids"])
            seen[row["split"]] |= set(row["question_ids"])
        assert {split: set(ids.tolist()) for split, ids in ids_by_split(read_splits(w, earlier)).items()} == seen
    assert all(len(ids) > 5 for ids in seen.values())
    assert tables(w, dataset).manifest.counters["rejected_splits_other_split_before"] > 0


def test_a_window_without_an_ingested_day_is_one_line(qpr, tmp_path, drop, dates):
    w = str(tmp_path / "w")
    history.publish(w, make_version(w, "one", date=dates(9)))
    drop(w, dates(1), rows_of(dates(1), seed=0, count=20))
    storage.write_bytes(storage.join(w, "warehouse.json"), b'{"layout": 2}')
    outcome = qpr("nightly", "--warehouse", w, "--date", dates(1), "--window", "2d")
    assert outcome.code == 1
    assert f"no day from {dates(8)} to {dates(9)} is ingested. Give --date of one of them" in outcome.err


def test_a_night_asks_the_store_once_for_the_manifest_of_a_day_before(qpr, memory, drop, dates, monkeypatch):
    w = storage.join(memory, "w")
    for day in (1, 3):
        drop(w, dates(day), rows_of(dates(day), seed=0, count=20))
    assert qpr("ingest", "--warehouse", w, "--date", dates(1)).code == 0
    store, manifest = storage.locate(storage.join(w, "daily", f"date={dates(1)}", MANIFEST))
    store = type(store)
    requests = []

    def counted(name):
        request = getattr(store, name)

        def ask(self, path, *given, **named):
            requests.extend([name] if path == manifest else [])
            return request(self, path, *given, **named)

        monkeypatch.setattr(store, name, ask)

    for name in ("info", "cat_file"):
        counted(name)
    monkeypatch.setattr(flow, "_made", Mock(side_effect=QprError("stopped after the days were read")))
    assert "stopped after the days were read" in qpr("nightly", "--warehouse", w, "--date", dates(3)).err
    assert requests == ["cat_file"]
