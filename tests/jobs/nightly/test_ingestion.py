import gzip
import hashlib
import io
import json
import os
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.nightly.ingestion import ingested_with
from jobs.nightly.warehouse import days_of
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.artifacts.output_lock.lock import NAMES
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from tests.jobs.nightly.conftest import rows_of


@pytest.fixture(params=["local", "memory"])
def warehouse(request, tmp_path):
    return str(tmp_path / "w") if request.param == "local" else request.getfixturevalue("memory") + "/w"


def ingest(qpr, warehouse, *options, code=0):
    outcome = qpr("ingest", "--warehouse", warehouse, "--json", *options)
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)["days"] if code == 0 else outcome.err


def digest_of(warehouse, date):
    return read_manifest(storage.join(warehouse, "daily", f"date={date}"), "day").digest


def test_a_day_is_counted_with_its_rejects_and_the_same_day_again_is_skipped(qpr, warehouse, drop, dates):
    rows = [*rows_of(dates(1), seed=0, count=50), {"question": "?!", "answer": "x"}]
    drop(warehouse, dates(1), rows)
    [day] = ingest(qpr, warehouse, "--date", dates(1))
    assert (day["rows_read"], day["rows_kept"], day["rows_rejected"], day["unchanged"]) == (51, 50, 1, False)
    run = read_manifest(storage.join(warehouse, "daily", f"date={dates(1)}")).run_id
    [again] = ingest(qpr, warehouse, "--date", dates(1))
    assert again == day | {"unchanged": True}
    assert read_manifest(storage.join(warehouse, "daily", f"date={dates(1)}")).run_id == run


def test_a_day_of_a_release_without_an_option_has_its_default(qpr, warehouse, drop, dates):
    drop(warehouse, dates(1), rows_of(dates(1), seed=0, count=50))
    ingest(qpr, warehouse, "--date", dates(1))
    [day] = days_of(warehouse, dates(1), 1)
    stored = day.manifest.configuration
    older = stored | {"privacy": {name: value for name, value in stored["privacy"].items() if "answer" not in name}}
    assert older != stored
    for configuration, found in ((older, stored), (stored | {"later": 1}, stored | {"later": 1})):
        of_release = day._replace(manifest=day.manifest.model_copy(update={"configuration": configuration}))
        assert ingested_with(of_release) == found


def test_a_day_of_a_release_without_ids_of_answers_is_made_again(qpr, warehouse, drop, dates, of_earlier_release):
    drop(warehouse, dates(1), [row | {"answer_id": row["answer"]} for row in rows_of(dates(1), seed=0, count=50)])
    [day] = ingest(qpr, warehouse, "--date", dates(1))
    of_earlier_release(warehouse, dates(1))
    [again] = ingest(qpr, warehouse, "--date", dates(1))
    assert (again["unchanged"], again["digest"]) == (False, day["digest"])
    assert ingest(qpr, warehouse, "--date", dates(1))[0]["unchanged"]


def test_a_day_with_a_damaged_file_is_made_again(qpr, warehouse, drop, dates):
    drop(warehouse, dates(1), rows_of(dates(1), seed=0, count=50))
    [day] = ingest(qpr, warehouse, "--date", dates(1))
    url = storage.join(warehouse, "daily", f"date={dates(1)}")
    asked = storage.join(url, read_manifest(url).of("asked")[0].path)
    storage.write_bytes(asked, storage.read_bytes(asked)[:-1] + b"x")
    outcome = qpr("ingest", "--warehouse", warehouse, "--date", dates(1), "--json")
    assert f"{dates(1)}: a file of the day is damaged or gone" in outcome.err
    [again] = json.loads(outcome.out)["days"]
    assert (again["unchanged"], again["digest"]) == (False, day["digest"])
    assert ingest(qpr, warehouse, "--date", dates(1))[0]["unchanged"]


def test_files_that_a_kill_left_of_the_drop_before_are_removed_by_the_next_run(
    qpr, warehouse, drop, dates, monkeypatch
):
    drop(warehouse, dates(1), rows_of(dates(1), seed=0, count=50))
    ingest(qpr, warehouse, "--date", dates(1))
    drop(warehouse, dates(1), rows_of(dates(1), seed=1, count=50))
    with monkeypatch.context() as killed:
        killed.setattr(Output, "_sweep", lambda *_: None)
        ingest(qpr, warehouse, "--date", dates(1))
    url = storage.join(warehouse, "daily", f"date={dates(1)}")
    assert len(storage.children(url)) > 2
    assert ingest(qpr, warehouse, "--date", dates(1))[0]["unchanged"]
    assert {*storage.children(url)} - NAMES == {MANIFEST, read_manifest(url).run_id}


def test_a_day_with_a_damaged_manifest_is_named_with_the_command_that_makes_it_again(qpr, warehouse, drop, dates):
    drop(warehouse, dates(1), rows_of(dates(1), seed=0, count=50))
    ingest(qpr, warehouse, "--date", dates(1))
    url = storage.join(warehouse, "daily", f"date={dates(1)}")
    storage.write_bytes(storage.join(url, "manifest.json"), b"{")
    outcome = qpr("ingest", "--warehouse", warehouse, "--date", dates(1))
    assert outcome.code == 1
    command = f"qpr ingest --warehouse {warehouse} --from {dates(1)} --to {dates(1)}"
    assert f"Make the day again. For this, remove {url} and run `{command}`" in outcome.err


def test_equal_rows_give_equal_bytes_and_a_late_drop_replaces_its_day(qpr, tmp_path, drop, dates):
    rows = rows_of(dates(1), seed=0, count=60)
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    drop(one, dates(1), rows)
    drop(other, dates(1), rows[::-1][:20], name="a.jsonl")
    drop(other, dates(1), rows[::-1][20:], name="b.jsonl")
    first = ingest(qpr, one, "--date", dates(1))[0]["digest"]
    assert ingest(qpr, other, "--date", dates(1))[0]["digest"] == first
    drop(one, dates(1), rows_of(dates(1), seed=1, count=5), name="late.jsonl")
    [late] = ingest(qpr, one, "--date", dates(1))
    assert (late["rows_read"], late["unchanged"]) == (65, False)
    storage.delete(storage.join(one, "events", f"date={dates(1)}", "late.jsonl"))
    assert ingest(qpr, one, "--date", dates(1))[0]["digest"] == first == digest_of(one, dates(1))


def test_files_with_equal_bytes_are_read_once_and_a_repeat_of_another_day_is_reported(qpr, tmp_path, drop, dates):
    w, rows = str(tmp_path), rows_of(dates(1), seed=0, count=30)
    drop(w, dates(1), rows)
    drop(w, dates(1), rows, name="copy.jsonl")
    drop(w, dates(2), rows)
    outcome = qpr("ingest", "--warehouse", w, "--from", dates(1), "--to", dates(2), "--json")
    assert [day["rows_read"] for day in json.loads(outcome.out)["days"]] == [30, 30]
    assert "log.jsonl: has the same rows as" in outcome.err
    assert "read once" in outcome.err
    assert "its rows count on both days" in outcome.err
    assert "30 rows of 30 with a time are of another day" in outcome.err


def test_html_entities_of_the_days_that_are_read_are_one_warning(qpr, tmp_path, drop, dates):
    for day in (1, 2):
        rows = [row | {"answer": f"R&amp;D: {row['answer']}"} for row in rows_of(dates(day), seed=day, count=15)]
        drop(str(tmp_path), dates(day), [*rows, *rows_of(dates(day), seed=day + 2, count=15)])
    command = ("ingest", "--warehouse", tmp_path, "--from", dates(1), "--to", dates(2), "--json")
    [warning] = [text for text in json.loads(qpr(*command).out)["warnings"] if "HTML" in text]
    assert "in the answers of 50.0 %" in warning
    assert not [text for text in json.loads(qpr(*command).out)["warnings"] if "HTML" in text]


def test_times_that_cannot_be_read_or_that_some_files_lack_are_warnings(qpr, tmp_path, drop, dates):
    rows = [{**row, "timestamp": "25/11/26 um 13:40"} for row in rows_of(dates(1), seed=0, count=30)]
    drop(str(tmp_path), dates(1), rows)
    other = drop(str(tmp_path), dates(1), [{"question": "Who are you?", "answer": "A bot."}], name="other.jsonl")
    outcome = qpr("ingest", "--warehouse", tmp_path, "--date", dates(1), "--json")
    cause = "no time can be read from 30 values of the column timestamp. These rows count as of that day"
    assert f"warning: {dates(1)}: {cause}" in outcome.err
    warnings = json.loads(outcome.out)["warnings"]
    assert any(cause in warning for warning in warnings)
    assert any(warning.startswith(f"no column timestamp in 1 of 2 files, {other}.") for warning in warnings)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("log.jsonl.gz", gzip.compress),
        ("more.jsonl", lambda content: content + b"\n"),
        ("more.jsonl", lambda content: content[:-1]),
        ("more.jsonl.gz", lambda content: gzip.compress(content + b"\r\n\n")),
    ],
)
def test_a_file_with_the_rows_of_another_one_is_read_once(qpr, tmp_path, drop, dates, name, change):
    w = str(tmp_path)
    url = drop(w, dates(1), rows_of(dates(1), seed=0, count=400))  # more than the bytes that are compared first
    [alone] = ingest(qpr, w, "--date", dates(1))
    inputs = read_manifest(storage.join(w, "daily", f"date={dates(1)}")).inputs
    storage.write_bytes(url.replace("log.jsonl", name), change(storage.read_bytes(url)))
    outcome = qpr("ingest", "--warehouse", w, "--date", dates(1), "--json")
    assert json.loads(outcome.out)["days"] == [alone | {"unchanged": True}]
    assert f"{name}: has the same rows as {url}; read once" in outcome.err
    assert inputs[0].digest == hashlib.sha256(storage.read_bytes(url)).hexdigest()


@pytest.mark.parametrize("change", [lambda rows: [*rows, rows[0]], lambda rows: [*rows[:-1], rows[0]]])
def test_a_file_that_begins_like_another_one_is_read_too(qpr, tmp_path, drop, dates, change):
    w, rows = str(tmp_path), rows_of(dates(1), seed=0, count=400)
    drop(w, dates(1), rows)
    drop(w, dates(1), change(rows), name="more.jsonl")
    outcome = qpr("ingest", "--warehouse", w, "--date", dates(1), "--json")
    assert json.loads(outcome.out)["days"][0]["rows_read"] == len(rows) + len(change(rows))
    assert "read once" not in outcome.err


def test_days_of_other_dates_are_refused(qpr, tmp_path, drop, dates):
    w = str(tmp_path)
    drop(w, dates(9), rows_of(dates(1), seed=0, count=30))
    assert "30 of 30 rows with a time are more than a day away from 2025-11-09" in ingest(
        qpr, w, "--date", dates(9), code=4
    )
    assert not storage.exists(storage.join(w, "daily", "date=2025-11-09"))


def test_bad_dates_and_folders_are_one_line(qpr, tmp_path, drop, dates):
    w = str(tmp_path / "w")
    assert f"error: {w}: no warehouse and no drop" in ingest(qpr, w, "--date", dates(1), code=1)
    drop(w, dates(2), [], name="_SUCCESS")
    assert f"no log file of {dates(2)}. There is no drop at all" in ingest(qpr, w, "--date", dates(2), code=1)
    drop(w, dates(1), rows_of(dates(1), seed=0, count=5))
    drops = "There are drops from 2025-11-01 to 2025-11-01\n"
    assert f"no log file of 2025-11-02. {drops}" in ingest(qpr, w, "--date", dates(2), code=1)
    assert "--date 2999-01-01: is in the future" in ingest(qpr, w, "--date", "2999-01-01", code=2)
    assert "--date today: must be a date such as" in ingest(qpr, w, "--date", "today", code=2)
    assert "give --date, or both --from and --to" in ingest(qpr, w, code=2)
    assert f"has no drop from 2025-10-01 to 2025-10-02. {drops}" in ingest(
        qpr, w, "--from", "2025-10-01", "--to", "2025-10-02", code=1
    )
    storage.write_bytes(storage.join(w, "warehouse.json"), b'{"layout": 1}')
    outcome = qpr("ingest", "--warehouse", w, "--date", dates(1))
    assert (outcome.code, "migrated from layout 1 to 2; older releases cannot use it" in outcome.err) == (0, True)
    assert storage.read_bytes(storage.join(w, "warehouse.json")) == b'{"layout": 2}'
    assert "migrated" not in qpr("ingest", "--warehouse", w, "--date", dates(1)).err
    storage.write_bytes(storage.join(w, "warehouse.json"), b'{"layout": 0}')
    assert "layout 0 is older than 1 and cannot be migrated" in ingest(qpr, w, "--date", dates(1), code=1)
    storage.write_bytes(storage.join(w, "warehouse.json"), b'{"layout": 9}')
    assert "Upgrade question-paraphrase-retrieval" in ingest(qpr, w, "--date", dates(1), code=1)


def test_unusable_files_are_one_line_and_change_nothing(qpr, tmp_path, drop, dates):
    w = str(tmp_path)
    url = drop(w, dates(1), rows_of(dates(1), seed=0, count=5))
    before = ingest(qpr, w, "--date", dates(1))[0]["digest"]
    storage.write_bytes(url, b'{"query": "a"}\n')
    assert "question" in ingest(qpr, w, "--date", dates(1), code=1)
    storage.write_bytes(url, b'{"question": "?!", "answer": "a"}\n')
    error = ingest(qpr, w, "--date", dates(1), code=4)
    assert "drop of 2025-11-01: 1 of 1 row rejected, more than --max-reject-ratio 0.1 allows. Most were" in error
    assert digest_of(w, dates(1)) == before


def table_of(rows, *columns):
    return "".join(",".join(line) + "\n" for line in [columns, *rows]).encode()


def parquet_of(values, names):
    sink = io.BytesIO()
    pq.write_table(pa.table(values, names=names), sink)
    return sink.getvalue()


LONG = [("how do i pay", "at the desk " * 20)] * 300
"""Rows of more than the 64 kB by which the delimiter of a table is found."""


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("log.jsonl", b'{"question": "a", "response": "b"}\n' * 100, 4),
        ("log.jsonl", b'{"question": "a", "response": "b"}\n' * 99, 1),
        ("log.jsonl", b'{"question": "a", "response": "b"}\n' * 99 + b'{"question": "a", "ans', 1),
        ("log.jsonl", b'{"question": "a", "answer": {"text": "b"}}\n' * 100, 4),
        ("log.jsonl.gz", gzip.compress(b'{"question": "a", "response": "b"}\n' * 100, mtime=0), 4),
        ("log.jsonl.gz", gzip.compress(b'{"question": "a", "response": "b"}\n' * 50, mtime=0)[:-12], 1),
        ("log.csv", table_of(LONG, "question", "response"), 4),
        ("log.csv", table_of(LONG, "question", "answer", "answer"), 4),
        ("log.csv", table_of(LONG[:9], "question", "response"), 1),
        ("log.csv", b"question,ans", 1),
        ("log.parquet", parquet_of([["a"], ["b"], ["c"]], ["question", "answer", "answer"]), 4),
        ("log.parquet", parquet_of([["a"], [{"text": "b"}]], ["question", "answer"]), 4),
    ],
)
def test_a_drop_without_a_column_is_unusable_if_no_copy_under_way_can_bring_it(
    qpr, tmp_path, dates, name, content, code
):
    url = storage.join(str(tmp_path), "events", f"date={dates(1)}", name)
    storage.write_bytes(url, content)
    for command in ("ingest", "nightly"):
        outcome = qpr(command, "--warehouse", str(tmp_path), "--date", dates(1))
        assert outcome.code == code, outcome.err
        assert outcome.err.startswith(f"error: {url}: ")


def test_a_parquet_drop_without_a_mapped_column_is_unusable_beside_a_usable_file(qpr, tmp_path, dates):
    usable = pa.table({"question": ["a"], "reply": ["b"]})
    for name, table in {"log-1": usable, "log-2": usable.rename_columns(["question", "answer"])}.items():
        path = tmp_path / "events" / f"date={dates(1)}" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    outcome = qpr("ingest", "--warehouse", str(tmp_path), "--date", dates(1), "--column", "answer=reply")
    assert outcome.code == 4
    assert "log-2.parquet: no column reply; there are question, answer. Add: --column answer=answer" in outcome.err


@pytest.mark.parametrize(("name", "limit"), [("locale", "de"), ("confidence", 0.5)])
def test_a_drop_without_the_column_of_a_limit_is_unusable(qpr, tmp_path, dates, name, limit):
    url = storage.join(str(tmp_path), "events", f"date={dates(1)}", "log.jsonl")
    storage.write_bytes(url, b'{"question": "a", "answer": "b"}\n' * 100)
    option = {"locale": "--locale", "confidence": "--min-confidence"}[name]
    for command in ("ingest", "nightly"):
        outcome = qpr(command, "--warehouse", tmp_path, "--date", dates(1), option, limit)
        assert outcome.code == 4, outcome.err
        assert f"{url}: no column {name}; there are question, answer." in outcome.err
        assert f"Or leave out {option}" in outcome.err


@pytest.mark.parametrize("place", ["w", "memory"])
def test_a_folder_in_a_drop_is_named_with_a_step_that_a_night_can_follow(qpr, tmp_path, memory, drop, dates, place):
    w = str(tmp_path / "w") if place == "w" else memory
    drop(w, dates(1), rows_of(dates(1), seed=0, count=5))
    drop(w, dates(1), rows_of(dates(1), seed=0, count=5), name="hour=01/log.jsonl")
    drop(w, dates(1), [], name="_temporary/log.jsonl")
    outcome = qpr("ingest", "--warehouse", w, "--date", dates(1))
    url = storage.join(w, "events", f"date={dates(1)}")
    folder = storage.join(url, "hour=01")
    step = f"is a folder, and folders of a drop are not read. Move its files into {url}"
    assert (outcome.code, outcome.err) == (4, f"error: {folder}: {step}\n")
    storage.delete(folder)
    assert qpr("ingest", "--warehouse", w, "--date", dates(1)).code == 0


@pytest.mark.parametrize("has_folder", [False, True])
def test_a_backfill_leaves_out_days_without_a_drop(qpr, tmp_path, drop, dates, has_folder):
    w = str(tmp_path)
    for day in (1, 3):
        drop(w, dates(day), rows_of(dates(day), seed=0, count=5))
    if has_folder:
        os.remove(storage.local_path(drop(w, dates(2), rows_of(dates(2), seed=0, count=5))))
    outcome = qpr("ingest", "--warehouse", w, "--from", dates(1), "--to", dates(3), "--json")
    assert [day["date"] for day in json.loads(outcome.out)["days"]] == ["2025-11-01", "2025-11-03"]
    assert "no drop of 2025-11-02; these days are left out" in outcome.err


def test_questions_of_too_few_users_of_a_day_are_in_no_file(qpr, tmp_path, drop, dates):
    w = str(tmp_path)
    rows = [{"question": "my secret is walnut", "answer": "no", "user_id": "u1"}] * 3
    rows += [{"question": "how do i pay", "answer": "at the desk", "user_id": f"u{n}"} for n in range(3)]
    drop(w, dates(1), rows)
    [day] = ingest(qpr, w, "--date", dates(1), "--min-users", 3)
    assert (day["rows_read"], day["rows_kept"], day["rows_rejected"]) == (6, 3, 3)
    written = [path.read_bytes() for path in (tmp_path / "daily").rglob("*") if path.is_file()]
    assert len(written) >= 3
    assert not any(b"walnut" in content or b"u1" in content for content in written)


def test_users_cannot_be_limited_without_their_column(qpr, tmp_path, drop, dates):
    drop(str(tmp_path), dates(1), rows_of(dates(1), seed=0, count=5))
    assert "--min-users" in ingest(qpr, str(tmp_path), "--date", dates(1), "--min-users", 3, code=2)


WITHOUT_USERS = ", so a question counts that only one person asked"


def test_a_run_warns_once_of_drops_without_user_ids_unless_that_was_chosen(qpr, tmp_path, drop, dates):
    w, both = str(tmp_path), ("--from", dates(1), "--to", dates(2))
    for day in (1, 2):
        drop(w, dates(day), rows_of(dates(day), seed=0, count=30))
    first = qpr("ingest", "--warehouse", w, *both)
    assert first.err.count(WITHOUT_USERS) == 1
    assert f"warning: no user ids in files of the drop of {dates(1)} and 1 more day, so" in first.err
    assert WITHOUT_USERS not in qpr("ingest", "--warehouse", w, *both).err  # unchanged
    drop(w, dates(1), rows_of(dates(1), seed=1, count=30), name="late.jsonl")
    assert "user ids" not in qpr("ingest", "--warehouse", w, "--date", dates(1), "--min-users", 1).err
    drop(w, dates(3), [{**row, "user_id": "ann"} for row in rows_of(dates(3), seed=0, count=30)])
    assert "user ids" not in qpr("ingest", "--warehouse", w, "--date", dates(3)).err


def test_a_night_warns_once_of_drops_without_user_ids_unless_that_was_chosen(qpr, tmp_path, drop, dates, monkeypatch):
    import jobs.nightly.flow as flow

    monkeypatch.setattr(flow, "fold_days", Mock(side_effect=QprError("the night ends after its ingestion")))
    w, both = str(tmp_path), ("--from", dates(1), "--to", dates(2))
    for day in (1, 2):
        drop(w, dates(day), rows_of(dates(day), seed=0, count=30))
    first = qpr("nightly", "--warehouse", w, *both)
    assert (first.code, "the night ends after its ingestion" in first.err) == (1, True)
    assert first.err.count(WITHOUT_USERS) == 1
    assert f"warning: no user ids in files of the drop of {dates(1)} and 1 more day, so" in first.err
    drop(w, dates(2), rows_of(dates(2), seed=1, count=30), name="late.jsonl")
    assert "user ids" not in qpr("nightly", "--warehouse", w, *both, "--min-users", 1).err
    drop(w, dates(3), [{**row, "user_id": "ann"} for row in rows_of(dates(3), seed=0, count=30)])
    assert "user ids" not in qpr("nightly", "--warehouse", w, "--date", dates(3)).err
