import gzip
from types import SimpleNamespace

import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from jobs.nightly.ingestion import ingest_day
from jobs.nightly.window.drops import changed_drops, check_drops
from pipelines.graphs.settings import IngestConfig
from schemas.artifacts import storage


@pytest.fixture
def ingested(tmp_path, drop, dates):
    """Return a warehouse with two ingested days, and the days."""
    w = str(tmp_path / "w")
    days = []
    for day in (1, 2):
        drop(w, dates(day), [{"question": f"how {day}", "answer": "so"}] * 3)
        days.append(ingest_day(w, dates(day), IngestConfig(), options=PipelineOptions([]), max_reject_ratio=0.1).day)
    return w, days


def changed(w, days, *dates):
    return changed_drops(w, dates, days, IngestConfig())


def test_a_day_whose_file_grew_after_its_night_is_named_with_the_command_that_reads_it(ingested, drop, dates, capsys):
    w, days = ingested
    assert changed(w, days) == []
    drop(w, dates(1), [{"question": "how 1", "answer": "so"}] * 5)
    capsys.readouterr()
    assert changed(w, days) == [dates(1)]
    assert capsys.readouterr().err == (
        f"warning: 1 day ingested from a drop that has other content by now, the first {dates(1)}. `qpr ingest "
        f"--warehouse {w} --from {dates(1)} --to {dates(1)}` with the options of this night reads it again; then run "
        "the night again\n"
    )
    assert changed(w, days, dates(1)) == []  # the night itself reads it


def test_a_second_file_that_came_late_is_a_change(ingested, drop, dates):
    w, days = ingested
    drop(w, dates(2), [{"question": "why", "answer": "so"}], name="log-2.jsonl")
    assert changed(w, days) == [dates(2)]


def test_a_file_that_cannot_be_read_is_a_change_and_ends_no_night(ingested, dates):
    w, days = ingested
    storage.write_bytes(storage.join(w, "events", f"date={dates(2)}", "log-2.jsonl.gz"), gzip.compress(b"{}")[:-9])
    assert changed(w, days) == [dates(2)]


def test_copies_and_hidden_files_and_removed_drops_are_no_changes(ingested, dates):
    w, days = ingested
    folder = storage.join(w, "events", f"date={dates(1)}")
    rows = storage.read_bytes(storage.join(folder, "log.jsonl"))
    storage.write_bytes(storage.join(folder, "copy.jsonl.gz"), gzip.compress(rows))
    storage.write_bytes(storage.join(folder, "_SUCCESS"), b"")
    storage.delete(storage.join(w, "events", f"date={dates(2)}"))
    assert changed(w, days) == []


def test_a_store_without_sizes_in_its_lists_has_no_changes_by_size(ingested, monkeypatch):
    w, days = ingested
    files = {f"{w}/events/date={day.date}/log.jsonl": {"size": None} for day in days}
    store = SimpleNamespace(find=lambda path, detail: files, invalidate_cache=lambda path: None)
    monkeypatch.setattr(storage, "locate", lambda url: (store, url))
    assert changed(w, days) == []


def test_a_night_warns_of_days_of_its_window_whose_drops_were_not_ingested(tmp_path, drop, dates, capsys):
    w = str(tmp_path / "my logs")
    for day in (1, 4, 5, 6, 8, 10):
        drop(w, dates(day), [{"question": "how", "answer": "so"}])
    (tmp_path / "my logs" / "events" / f"date={dates(7)}").mkdir()  # without a file yet
    lacking = check_drops(w, [dates(9)], [SimpleNamespace(date=dates(5))], dates(9), 6)  # from day 4 on
    assert lacking == [dates(day) for day in (4, 6, 8)]
    assert capsys.readouterr().err == (
        f"warning: this night lacks 3 days with a drop that was not ingested, the first {dates(4)}. "
        f"`qpr ingest --warehouse '{w}' --from {dates(4)} --to {dates(8)}` with the options of this night reads the "
        "drop; then run the night again\n"
    )
    days = [SimpleNamespace(date=dates(day)) for day in (4, 5, 6, 8)]
    assert check_drops(w, [dates(9)], days, dates(9), 6) == []
    assert capsys.readouterr().err == ""


def test_a_night_warns_of_its_days_before_the_window(tmp_path, dates, capsys):
    days = [SimpleNamespace(date=dates(day)) for day in (4, 5, 6)]
    check_drops(str(tmp_path), [dates(2), dates(3), dates(4)], days, dates(6), 3)
    warning = f"2 days before the window, which is {dates(4)} to {dates(6)}; the first is {dates(2)}"
    assert warning in capsys.readouterr().err
    check_drops(str(tmp_path), [dates(4)], days, dates(6), 3)
    assert capsys.readouterr().err == ""
