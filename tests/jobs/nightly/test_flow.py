import errno
import io
import itertools
import json
import os
import shutil
from unittest.mock import Mock

import numpy as np
import pyarrow.parquet as pq
import pytest

from jobs.nightly import flow
from jobs.nightly.gate.evidence import missed_canary
from jobs.nightly.training import warn_of_preset
from jobs.options.encoder_training import EncoderTraining
from jobs.workflows.warehouses.version_figures import version_figures
from pipelines.clusters import clustering
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.artifacts.output_lock import lease
from schemas.versions import history
from schemas.versions.version import Version, check_artefact
from tests.jobs.nightly.conftest import rows_of

FAST = ["--epochs", 1, "--dimension", 16, "--vocabulary-size", 200, "--hash-bins", 50, "--ngram-bins", 50, "--json"]
FAST += ["--split-salt", "another", "--shards", 2]


def night(qpr, warehouse, *options, code=0):
    outcome = qpr("nightly", "--warehouse", warehouse, *FAST, *options)
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out) if outcome.out else outcome.err


def path_of(warehouse, artefact):
    return storage.join(warehouse, artefact["path"])


@pytest.fixture
def warehouse(tmp_path, drop, dates):
    w = str(tmp_path / "w")
    for day in (1, 2, 3):
        drop(w, dates(day), rows_of(dates(day), seed=0, count=300))
    return w


@pytest.fixture
def published(folder, warehouse, qpr, dates):
    """Return a warehouse whose first night has published version 1."""
    kept = folder / "w"
    if not kept.exists():
        night(qpr, warehouse, "--date", dates(1))
        shutil.copytree(warehouse, kept)
        return warehouse
    return shutil.copytree(kept, warehouse, dirs_exist_ok=True)


@pytest.mark.slow
def test_nights_publish_versions_and_the_same_night_publishes_nothing(qpr, warehouse, drop, dates, tmp_path):
    first = night(qpr, warehouse, "--date", dates(1))
    assert (first["published"], first["refused"]) == (1, None)
    again = night(qpr, warehouse, "--date", dates(1))
    assert (again["published"], again["unchanged"], again["version"]["version"]) == (None, True, 1)
    second = night(qpr, warehouse, "--date", dates(2))["version"]
    assert (second["version"], second["parent"], second["days"]) == (2, 1, 2)
    assert second["model"] == first["version"]["model"]  # a week has not passed
    assert second["test"] == first["version"]["dataset"]
    assert second["metrics"]["frozen_queries"] > 10
    assert all(
        figure.meaning for figure in version_figures(Version.model_construct(metrics=second["metrics"], parent=1))
    )
    assert sum(second["changes"].values()) > 0
    table = storage.read_bytes(night(qpr, warehouse, "--date", dates(2))["table_of_changes"])
    assert pq.read_table(io.BytesIO(table)).num_rows == sum(second["changes"].values())
    rows = open_dataset(path_of(warehouse, second["dataset"])).manifest.counters["rows_read"]
    assert rows == 600
    found = qpr("search", "--index", path_of(warehouse, second["index"]), "how do i open the garden gate")
    assert "open the garden gate" in found.out
    # a late drop of an older day makes a version of the whole window
    drop(warehouse, dates(1), rows_of(dates(1), seed=5, count=100), name="late.jsonl")
    judged = tmp_path / "judged.jsonl"
    asked = {"question": "how do i paint the moon", "asked_at": "2025-11-05", "verdict": "wrong", "labeller": "Ada"}
    judged.write_text(json.dumps(asked) + "\n")
    given = ("--date", dates(1), "--requests", judged, "--certificate-days", 366)
    refused = night(qpr, warehouse, *given, "--require-certificate", code=3)["refused"]
    assert refused.startswith(f"no certificate, though --require-certificate: {judged}: ")
    late = night(qpr, warehouse, *given)["version"]
    assert (late["version"], late["date"], late["days"]) == (3, str(dates(2)), 2)
    assert (late["certificate"], late["uncertified"]) == (None, refused.partition("certificate: ")[2])
    shown = json.loads(qpr("versions", "--warehouse", warehouse, "--at", 3, "--json").out)
    assert shown["uncertified"] == late["uncertified"]
    assert night(qpr, warehouse, *given)["unchanged"]
    refused = night(qpr, warehouse, *given, "--require-certificate", code=3)["refused"]
    assert refused.startswith(f"version 3 has no valid certificate, though --require-certificate: {judged}: ")
    assert len(history.numbers(warehouse)) == 3


@pytest.mark.slow
def test_options_that_change_no_artefact_of_the_same_days_publish_nothing(qpr, published, dates):
    for options in (["--epochs", 2], ["--retrain", "never"], ["--window", "30d"]):
        again = night(qpr, published, "--date", dates(1), *options)
        assert (again["published"], again["unchanged"], history.numbers(published)) == (None, True, [1])
    assert night(qpr, published, "--date", dates(1), "--epochs", 2, "--retrain", "always")["published"] == 2
    assert night(qpr, published, "--date", dates(1), "--no-bm25")["published"] == 3


@pytest.mark.slow
def test_a_killed_night_is_completed_without_making_finished_steps_again(qpr, warehouse, dates, monkeypatch):
    import jobs.nightly.flow as flow

    steps = ("remember_splits", "encoder_of_night", "index_of_night", "write_report")
    runs = {}
    for step in steps:
        with monkeypatch.context() as patched:
            patched.setattr(flow, step, _killed)
            with pytest.raises(KeyboardInterrupt):
                flow_night(warehouse, dates(1))
        manifests = {
            path: (read := storage.read_bytes(storage.join(warehouse, path)))
            for folder in ("datasets", "splits", "models", "indexes")
            for name in storage.children(storage.join(warehouse, folder))
            if storage.exists(storage.join(warehouse, path := f"{folder}/{name}/{MANIFEST}"))
        }
        assert runs.items() <= manifests.items(), read
        runs = manifests
        assert history.numbers(warehouse) == []
    assert len(runs) == 4
    with monkeypatch.context() as patched:
        patched.setattr(history, "publish", _killed)
        with pytest.raises(KeyboardInterrupt):
            flow_night(warehouse, dates(1))
    assert flow_night(warehouse, dates(1)).number == 1


_killed = Mock(side_effect=KeyboardInterrupt)


def flow_night(warehouse, date):
    from jobs.nightly.flow import run_night
    from jobs.nightly.gate.settings import GateSettings
    from jobs.nightly.settings import NightSettings, NightTerms
    from jobs.nightly.warehouse import open_warehouse
    from jobs.options.encoder_training import EncoderTraining
    from pipelines.engine.runner import parse_options
    from pipelines.graphs.settings import ClustersConfig

    open_warehouse(warehouse)
    clusters = ClustersConfig(shards=2, assembly={"salt": "another"})
    small = {"epochs": 1, "dimension": 16, "vocabulary_size": 200, "hash_bins": 50, "ngram_bins": 50}
    encoder = EncoderTraining.of_values(small)
    return run_night(
        warehouse,
        [date],
        NightTerms(clusters, encoder, NightSettings(), GateSettings(), parse_options([]), 0.1),
    )


@pytest.mark.slow
def test_a_refused_night_stays_for_inspection_and_the_current_version_stays(qpr, published, drop, dates):
    warehouse = published
    unlike = [
        {"question": f"zzz{n} qqq{n}?", "answer": f"only once {n}", "timestamp": f"{dates(2)}T00:00:00Z"}
        for n in range(900)
    ]
    drop(warehouse, dates(2), unlike)
    refused = night(qpr, warehouse, "--date", dates(2), code=3)
    assert refused["published"] is None
    assert refused["refused"].startswith("share of questions of all scripts in a cluster fell from ")
    assert history.numbers(warehouse) == [1]
    [kept] = history.refused_versions(warehouse)
    assert kept.refused == refused["refused"]
    assert storage.exists(storage.join(warehouse, kept.index.path, MANIFEST))
    assert night(qpr, warehouse, "--date", dates(2), code=3)["refused"] == kept.refused
    passed = night(qpr, warehouse, "--date", dates(2), "--max-kept-fall", 1)
    assert passed["published"] == 2
    assert passed["version"]["index"]["path"] == kept.index.path


@pytest.mark.slow
def test_refused_nights_do_not_pass_once_a_short_window_has_few_days_of_the_version_before(qpr, tmp_path, drop, dates):
    w, limits = str(tmp_path / "w"), ["--window", "8d", "--max-kept-fall", 1, "--max-regression", 1]
    for day in range(1, 11):
        rows = rows_of(dates(day), seed=0, count=100)
        outage = [row | {"answer": "The service is down."} for row in rows[:50]]
        drop(w, dates(day), [*outage, *rows[50:]] if day > 8 else rows)
    night(qpr, w, "--from", dates(1), "--to", dates(8), *limits)
    for day in (9, 10):  # on the tenth six days of the window are in version 1
        reason = night(qpr, w, "--date", dates(day), *limits, code=3)["refused"]
        assert reason.startswith("50.0 % of the rows of 2025-11-09 have a new answer")


@pytest.mark.slow
def test_a_night_refused_for_answers_of_another_column_names_the_command_that_reads_the_days_again(
    qpr, tmp_path, drop, dates
):
    w = str(tmp_path / "w")
    for day in range(1, 9):
        rows = [row | {"reply": f"Reply: {row['answer']}"} for row in rows_of(dates(day), seed=0, count=100)]
        drop(w, dates(day), rows)
    limits = ["--max-kept-fall", 1, "--max-regression", 1]
    night(qpr, w, "--from", dates(1), "--to", dates(7), *limits)
    changed = [*limits, "--column", "answer=reply"]
    refused = qpr("nightly", "--warehouse", w, *FAST, "--date", dates(8), *changed)
    assert refused.code == 3
    reason = json.loads(refused.out)["refused"]
    assert f"7 days ingested with other options (--column answer), the first {dates(1)}. Correct those" in refused.err
    command = f"qpr ingest --warehouse {w} --from {dates(1)} --to {dates(7)}"
    assert f"Days were ingested with other options; `{command}` with those of this night" in reason
    assert qpr(*command.split()[1:], "--shards", 2, "--column", "answer=reply").code == 0
    assert night(qpr, w, "--date", dates(8), *changed)["published"] == 2


@pytest.mark.slow
def test_a_missed_canary_refuses_the_night_and_verdicts_keep_wrong_clusters_out(qpr, warehouse, dates, tmp_path):
    canaries, verdicts, review = (tmp_path / name for name in ("canaries.csv", "verdicts.csv", "review.json"))
    rows = rows_of(dates(1), seed=0, count=300)[:1]
    canaries.write_text(f"question,answer\n{rows[0]['question']},{rows[0]['answer']}\nhow do i open it,By magic\n")
    given = ("--date", dates(1), "--canaries", canaries)
    refused = night(qpr, warehouse, *given, code=3)
    assert refused["refused"].startswith(
        "1 of 2 canaries not found within rank 1 of --canary-rank; the first, in row 2"
    )
    assert refused["version"]["metrics"]["canaries_found"] == 0.5
    canaries.write_text("\n".join(canaries.read_text().splitlines()[:2]))
    dataset = open_dataset(path_of(warehouse, refused["version"]["dataset"]))
    clusters = dataset.table("clusters", columns=["cluster_id", "texts"]).to_pylist()
    wrong = next(cluster for cluster in clusters if rows[0]["question"] not in cluster["texts"])
    verdicts.write_text(f"cluster_id,verdict\nc{wrong['cluster_id'] % 2**64:016x},several\n")
    right = {"judged": 30, "right": 29, "bound": 0.9}
    review.write_text(
        json.dumps({"queue": "clusters", "digest": dataset.manifest.digest, "confidence": 0.95, "right": right})
    )
    given += ("--verdicts", verdicts, "--require-review", review)
    assert "which shows 90.00 %, less than --min-right 0.97" in night(qpr, warehouse, *given, code=3)["refused"]
    published = night(qpr, warehouse, *given, "--min-right", 0.9)["version"]
    kept = open_dataset(path_of(warehouse, published["dataset"]))
    assert wrong["cluster_id"] not in kept.table("clusters", columns=["cluster_id"])["cluster_id"].to_pylist()
    assert kept.manifest.counters["rejected_review_wrong_cluster"] == len(wrong["texts"])
    assert published["metrics"]["canaries_found"] == 1
    for options, warned in (((*given[2:], "--min-right", 0.9), False), ((), True)):
        warnings = night(qpr, warehouse, "--date", dates(1), *options)["warnings"]
        assert any("made with --verdicts, which this night lacks" in warning for warning in warnings) == warned


@pytest.mark.slow
def test_a_disk_that_fills_up_keeps_the_version_and_the_next_run_completes_the_night(
    qpr, published, dates, monkeypatch
):
    warehouse = published
    real = os.fsync
    for number in (1, 12, 24):

        def full(descriptor, number=number, calls=itertools.count(1)):  # noqa: B008
            if next(calls) >= number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(descriptor)

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            error = night(qpr, warehouse, "--date", dates(2), code=1)
        [line] = [line for line in error.splitlines() if line.startswith("error: ")]
        assert os.strerror(errno.ENOSPC) in line
        assert history.numbers(warehouse) == [1]
        for artefact, kind in history.read_version(warehouse, 1).artefacts.items():
            check_artefact(warehouse, artefact, kind, version="version 1")
    assert night(qpr, warehouse, "--date", dates(2))["published"] == 2


@pytest.mark.slow
def test_the_index_before_is_searched_again_only_if_its_report_is_of_something_else(published, monkeypatch):
    import jobs.nightly.reporting as reporting

    version = history.read_version(published, 1)
    frozen = reporting.read_test(storage.join(published, version.test.path))
    opened = []
    monkeypatch.setattr(
        reporting, "open_searcher", lambda url, search=reporting.open_searcher: opened.append(url) or search(url)
    )
    stored = reporting._ranked_before(published, frozen, version)
    assert (len(stored.ids), opened) == (len(frozen.judged), [])
    assert (stored.ids[:, 0] != -1).all()
    monkeypatch.setattr(reporting, "RULES", "another")
    again = reporting._ranked_before(published, frozen, version)
    assert all(map(np.array_equal, stored, again))
    assert opened == [storage.join(published, version.index.path)]


@pytest.mark.slow
def test_missing_artefacts_of_the_current_version_are_made_again(qpr, published, dates):
    second = night(qpr, published, "--date", dates(2))
    version = history.read_version(published, 2)
    again = night(qpr, published, "--date", dates(2))
    assert (again["unchanged"], again["mended"]) == (True, [])
    for name in ("index", "report", "dataset", "splits"):
        path = getattr(version, name).path
        storage.delete(storage.join(published, path))
        again = night(qpr, published, "--date", dates(2))
        assert (again["published"], again["unchanged"], again["mended"]) == (None, True, [path])
        for artefact, kind in version.artefacts.items():
            check_artefact(published, artefact, kind, version="version 2")
    assert night(qpr, published, "--date", dates(2))["version"] == second["version"]
    # a rollback has the artefacts that an earlier night made
    assert qpr("rollback", "--warehouse", published, "--to", 1).code == 0
    index = history.read_version(published, 1).index
    storage.delete(storage.join(published, index.path))
    assert night(qpr, published, "--date", dates(1))["mended"] == [index.path]
    check_artefact(published, index, "index", version="version 1")


@pytest.mark.slow
def test_a_damaged_file_of_figures_is_named_and_no_night_passes_by_other_figures(qpr, published, dates):
    version = night(qpr, published, "--date", dates(2), "--new-test-set")["version"]
    storage.delete(history.file_of(published, 2))
    [file] = read_manifest(path_of(published, version["report"]), "report").of("evaluation")
    figures = storage.join(path_of(published, version["report"]), file.path)
    storage.write_bytes(figures, b'{"metrics": {}, "changes": {}}')
    error = night(qpr, published, "--date", dates(2), "--new-test-set", code=1)
    assert f"{figures}: " in error
    assert "This is a defect" not in error


@pytest.mark.slow
def test_a_night_after_one_that_did_not_run_names_its_day_until_it_is_ingested(qpr, published, dates):
    given = ("nightly", "--warehouse", published, *FAST, "--max-regression", 1, "--date", dates(3))
    warning = f"warning: this night lacks 1 day with a drop that was not ingested, the first {dates(2)}. "
    lacking = qpr(*given)
    assert warning in lacking.err
    document = json.loads(lacking.out)
    assert document["days_not_ingested"] == [str(dates(2))]
    assert [text.startswith(warning.removeprefix("warning: ")) for text in document["warnings"]].count(True) == 1
    assert qpr("ingest", "--warehouse", published, "--date", dates(2)).code == 0
    outcome = qpr(*given)
    assert (json.loads(outcome.out)["version"]["days"], warning in outcome.err) == (3, False)
    assert json.loads(outcome.out)["days_not_ingested"] == []


def test_a_preset_of_another_encoder_than_the_kept_one_is_a_warning(published, capsys):
    _, version = history.current(published)
    for values in ({}, {"dimension": 16}):
        warn_of_preset(published, version, EncoderTraining.of_values(values))
    assert capsys.readouterr().err == ""
    warn_of_preset(published, version, EncoderTraining.of_values({"preset": "paper"}))
    stays = f"the encoder of {version.trained.date} stays, since none is trained tonight: --encoder is subword there"
    assert f"warning: --preset paper: {stays}" in capsys.readouterr().err


def test_a_new_test_set_is_taken_once(qpr, published, dates):
    first = night(qpr, published, "--date", dates(2), "--new-test-set")
    assert (first["published"], first["version"]["test"]) == (2, first["version"]["dataset"])
    again = night(qpr, published, "--date", dates(2), "--new-test-set")
    assert (again["published"], history.numbers(published)) == (None, [1, 2])


@pytest.mark.slow
def test_an_artefact_that_is_another_one_when_it_is_made_again_is_a_new_version(qpr, published, dates, monkeypatch):
    import jobs.nightly.flow as flow

    storage.delete(storage.join(published, history.read_version(published, 1).index.path))
    monkeypatch.setattr(flow, "is_whole_again", lambda *_: False)
    assert night(qpr, published, "--date", dates(1))["published"] == 2
    assert history.read_version(published, 2).parent == 1


@pytest.mark.slow
def test_an_artefact_that_only_earlier_nights_make_is_one_line(qpr, published, dates):
    night(qpr, published, "--date", dates(2))
    test = history.read_version(published, 1).dataset
    storage.delete(storage.join(published, test.path))
    error = night(qpr, published, "--date", dates(2), code=1)
    assert f"version 1 names {test.path}, which cannot be used: it does not exist" in error


@pytest.mark.slow
def test_a_missing_artefact_of_the_current_version_is_one_line(qpr, published, dates):
    index = history.read_version(published, 1).index
    storage.delete(storage.join(published, index.path))
    error = night(qpr, published, "--date", dates(2), code=1)
    assert f"version 1 names {index.path}, which cannot be used" in error
    assert f"Run the night of {dates(1)} with its options again, which makes it again" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--window", "365"], "--window 365: must be a number of days from 1d to 99999d, such as 365d"),
        (["--window", "0d"], "--window 0d: must be a number of days from 1d"),
        (
            ["--retrain", "daily"],
            "--retrain daily: must be always, weekly, never, or changed: with a share from 0 to 1",
        ),
        (["--retrain", "changed:1.5"], "--retrain changed:1.5: must be always, weekly, never, or changed:"),
        (["--max-regression", 2], "--max-regression"),
        (["--index-shards", 0], "--index-shards"),
        (["--recall", 2], "--recall"),
        (["--recall", 0.9, "--probes", 4], "--recall 0.9: chooses --probes"),
        (["--max-drift", -1], "--max-drift"),
        (["--alpha", 0.1], "--require-certificate belong to --requests"),
        (["--canary-rank", 2], "--canary-rank belongs to --canaries"),
        (["--min-right", 0.9], "--min-right and --review-days belong to --require-review"),
    ],
)
def test_wrong_options_are_one_line(qpr, warehouse, dates, options, message):
    assert message in night(qpr, warehouse, "--date", dates(1), *options, code=2)


@pytest.mark.parametrize("option", ["--canaries", "--require-review", "--verdicts", "--requests"])
def test_a_missing_file_of_the_gate_is_one_line_before_any_work(qpr, warehouse, dates, option):
    error = night(qpr, warehouse, "--date", dates(1), option, "missing.csv", code=1)
    assert "missing.csv" in error
    assert not storage.exists(storage.join(warehouse, "daily"))


def test_options_of_the_index_reach_it_by_their_names_in_qpr_index():
    from jobs.nightly.settings import IndexOptions
    from pipelines.graphs.settings import IndexConfig

    same = {"factory": "Flat", "recall": 0.9, "memory_mb": 500, "bm25": False, "latency_ms": 2, "answerable_share": 0.8}
    given, expected = {"index_shards": 3, **same}, {"shards": 3, **same}
    assert IndexOptions(**given).config == IndexConfig(**expected)
    assert IndexOptions().config == IndexConfig()  # the defaults are those of `qpr index`


def test_a_share_that_is_not_given_leaves_the_index_of_warehouses_from_before_that_option():
    from jobs.nightly.indexing import options_of
    from jobs.nightly.steps import key_of
    from pipelines.graphs.settings import IndexConfig

    before = IndexConfig().model_dump(mode="json", exclude={"answerable_share"})
    assert options_of(IndexConfig()) == key_of(before) != options_of(IndexConfig(answerable_share=0.9))


@pytest.mark.slow
def test_a_test_question_of_a_version_that_is_made_again_is_in_no_later_train(qpr, tmp_path, drop, dates, monkeypatch):
    w = str(tmp_path / "w")
    drop(w, dates(1), rows_of(dates(1), seed=0, count=300))
    drop(w, dates(2), rows_of(dates(2), seed=0, count=300, rename=lambda _, answer: f"New: {answer}"))
    options = ["--window", "1d", "--max-regression", 1, "--max-kept-fall", 1]
    now = clustering._believe

    def earlier(kept, gate, weights, of_intent):  # stands for a release that found fewer clusters
        starts = clustering.starts_of_runs(kept["cluster_id"].to_numpy())
        scores = clustering.coherence(kept["token_ids"], starts, weights).named(gate.coherence)
        least = float(np.quantile(scores, 0.5)) + 1e-9 if len(kept) else 0.0
        return now(kept, gate.model_copy(update={"min_coherence": least}), weights, of_intent & False)

    monkeypatch.setattr(clustering, "_believe", earlier)
    first = night(qpr, w, "--date", dates(1), *options)
    monkeypatch.setattr(clustering, "_believe", now)
    storage.delete(path_of(w, first["version"]["dataset"]))
    assert night(qpr, w, "--date", dates(1), *options)["published"] == 2
    assert night(qpr, w, "--date", dates(2), *options)["published"] == 3

    def ids(number, split):
        url = path_of(w, history.read_version(w, number).dataset.model_dump())
        listed = open_dataset(url).table("clusters", columns=["question_ids"], split=split)["question_ids"]
        return {question for cluster in listed.to_pylist() for question in cluster}

    held_out = ids(2, "test") | ids(2, "validation")
    assert held_out
    assert not held_out & ids(3, "train")


@pytest.mark.slow
def test_a_drop_without_times_that_moves_to_its_right_date_makes_a_version_of_that_date(qpr, tmp_path, drop, dates):
    w = str(tmp_path / "w")
    rows = [{name: value for name, value in row.items() if name != "timestamp"} for row in rows_of(dates(1), seed=0)]
    drop(w, dates(1), rows)
    night(qpr, w, "--date", dates(1))
    shutil.move(f"{w}/events/date={dates(1)}", f"{w}/events/date={dates(2)}")
    shutil.rmtree(f"{w}/daily/date={dates(1)}")
    moved = night(qpr, w, "--date", dates(2), "--max-regression", 1)
    assert (moved["published"], moved["version"]["date"]) == (2, str(dates(2)))


def test_a_night_that_lost_its_lock_to_an_erasure_publishes_nothing(qpr, memory, drop, dates, monkeypatch, tmp_path):
    w, key = storage.join(memory, "w"), tmp_path / "key"
    drop(w, dates(1), rows_of(dates(1), seed=0, count=300))
    key.write_text("ab" * 32)
    key.chmod(0o600)
    erased = []

    def erase_meanwhile(*given, **named):
        with monkeypatch.context() as paused:
            paused.setattr(lease, "LEASE_S", -1.0)  # as if the night had not renewed its lock for two minutes
            erase = ("erase", "--warehouse", w, "--user-key-file", key, "--question", "how do i open the garden gate")
            erased.append(qpr(*erase).code)
        return missed_canary(*given, **named)

    monkeypatch.setattr(flow, "missed_canary", erase_meanwhile)
    fault = night(qpr, w, "--date", dates(1), "--user-key-file", key, code=1)
    assert erased == [0]
    assert f"error: {w}: the lock of this run expired" in fault
    assert history.numbers(w) == []
