import errno
import json
import os
import shutil
import unicodedata
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest

from jobs.nightly.erasure.artefacts import complete_artefacts
from jobs.nightly.erasure.suppressed import suppress
from jobs.workflows.warehouses.versions import alone_in
from pipelines.ingestion.days import COUNTS
from pipelines.privacy.erase import Erasure
from pipelines.privacy.users import UserKey
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.paths import WAREHOUSE_FILE
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.versions import history, layout
from schemas.versions.sweep import artefact_folders
from schemas.versions.version import LAYOUT
from tests.jobs.nightly.conftest import rows_of
from tests.support.small_versions import make_version

SECRET = "how do i repair the Zibeline"
KOREAN = "우리 딸이 지난 주 화요일부터 배가 아픈데 어느 병원에 가야 하나요 알려 주세요"


@pytest.fixture
def warehouse(folder, tmp_path, drop, dates, qpr, monkeypatch):
    """A warehouse with one ingested day."""
    monkeypatch.setenv("QPR_USER_KEY", "the-secret-key-of-the-environment")
    kept = folder / "w"
    if not kept.exists():
        rows = [{**row, "user_id": "ann"} for row in rows_of(dates(1), seed=0, count=20)]
        drop(str(kept), dates(1), [*rows, {**rows[0], "question": SECRET, "user_id": "zoe"}])
        assert ingest(qpr, kept, dates(1)).code == 0
    return str(shutil.copytree(kept, tmp_path / "w"))


def ingest(qpr, warehouse, date):
    return qpr("ingest", "--warehouse", warehouse, "--date", date, "--shards", 1, "--json")


def erase(qpr, warehouse, *options):
    return qpr("erase", "--warehouse", warehouse, "--json", *options)


def day(warehouse, date):
    return read_manifest(storage.join(warehouse, "daily", f"date={date}"))


def texts(warehouse, date):
    url = storage.join(warehouse, "daily", f"date={date}")
    files = [storage.join(url, file.path) for file in day(warehouse, date).of(COUNTS)]
    return {text for file in files for text in pq.read_table(file)["text"].to_pylist()}


def test_a_day_without_a_question_adds_up_and_keeps_the_digest_that_it_had(qpr, warehouse, dates):
    before = day(warehouse, dates(1))
    report = json.loads(erase(qpr, warehouse, "--question", SECRET).out)
    assert report["artefacts"] == [{"path": f"daily/date={dates(1)}", "rows": 1, "rejected": 0}]
    after = day(warehouse, dates(1))
    assert after.is_or_was(before.digest)
    assert not before.is_or_was(after.digest)
    assert (after.counters["rows_kept"], after.counters["rows_erased"]) == (20, 1)
    [shown] = json.loads(ingest(qpr, warehouse, dates(1)).out)["days"]
    assert shown["unchanged"]
    assert (shown["rows_read"], shown["rows_kept"], shown["rows_erased"]) == (21, 20, 1)


def test_a_killed_erasure_keeps_it_out_of_later_nights_and_is_completed(qpr, warehouse, dates, drop, monkeypatch):
    import jobs.nightly.erasure.artefacts as artefacts

    with monkeypatch.context() as patched:
        patched.setattr(artefacts, "erase_from_day", Mock(side_effect=KeyboardInterrupt))
        assert erase(qpr, warehouse, "--question", SECRET).code != 0
    drop(warehouse, dates(2), [{**row, "question": SECRET} for row in rows_of(dates(2), seed=0, count=1)] * 3)
    drop(warehouse, dates(2), rows_of(dates(2), seed=1, count=5), name="more.jsonl")
    assert ingest(qpr, warehouse, dates(2)).code == 0
    assert day(warehouse, dates(2)).counters["rows_erased"] == 3
    assert json.loads(erase(qpr, warehouse, "--question", SECRET).out)["artefacts"][0]["rows"] == 1
    again = erase(qpr, warehouse, "--question", SECRET)
    assert json.loads(again.out)["artefacts"] == []
    assert "there is nothing left to erase" in again.err


def test_a_question_stays_erased_where_later_rules_find_personal_data_in_it(qpr, warehouse, dates, drop, monkeypatch):
    secret = "is 0171 1234567 her number"
    with monkeypatch.context() as patched:  # rules that do not find it
        patched.setattr("pipelines.privacy.erase.replace_personal", lambda text: (text, []))
        assert erase(qpr, warehouse, "--question", secret).code == 0
    drop(
        warehouse, dates(2), [{"question": text, "answer": "a", "user_id": "bob"} for text in (secret, "how do i pay")]
    )
    assert ingest(qpr, warehouse, dates(2)).code == 0
    counters = day(warehouse, dates(2)).counters
    assert (counters["rows_kept"], counters["rows_erased"]) == (1, 1)


def test_questions_of_a_user_are_erased_as_earlier_rules_stored_them(qpr, warehouse, dates, drop, monkeypatch):
    asked = [("zoe", "is 0171 1234567 her number"), ("bob", "is 0171 7654321 her number"), ("bob", "how do i pay")]
    rows = [{"question": text, "answer": "a", "user_id": user} for user, text in asked]
    drop(warehouse, dates(2), rows)
    with monkeypatch.context() as patched:  # rules that do not find it
        patched.setattr("pipelines.privacy.patterns.KINDS", ())
        assert ingest(qpr, warehouse, dates(2)).code == 0
    drop(warehouse, dates(3), rows)
    assert ingest(qpr, warehouse, dates(3)).code == 0
    assert json.loads(erase(qpr, warehouse, "--user", "zoe").out)["shared_questions"] == 1
    assert texts(warehouse, dates(2)) == {"is 0171 7654321 her number", "how do i pay"}
    assert texts(warehouse, dates(3)) == {"is [phone] her number", "how do i pay"}


def test_drops_in_any_script_are_ingested_after_an_erasure(qpr, warehouse, dates, drop):
    foreign = "wo ist der Bahnhof von München"
    assert erase(qpr, warehouse, "--question", SECRET, "--question", foreign).code == 0
    asked = (foreign.upper(), "où est la gare", "how do i pay")
    drop(warehouse, dates(2), [{"question": text, "answer": "a", "user_id": "bob"} for text in asked])
    assert ingest(qpr, warehouse, dates(2)).code == 0
    counters = day(warehouse, dates(2)).counters
    assert (counters["rows_kept"], counters["rows_erased"]) == (2, 1)


def test_an_erased_user_may_ask_again_and_a_shared_question_stays(qpr, warehouse, dates, drop):
    shared = rows_of(dates(1), seed=0, count=20)[0]["question"]
    drop(warehouse, dates(1), [{"question": shared, "answer": "a", "user_id": "zoe"}], name="late.jsonl")
    assert ingest(qpr, warehouse, dates(1)).code == 0
    report = json.loads(erase(qpr, warehouse, "--user", "zoe").out)
    assert (report["questions_to_erase"], report["shared_questions"]) == (1, 1)
    drop(warehouse, dates(2), [{"question": SECRET, "answer": "a", "user_id": "zoe"}])
    assert ingest(qpr, warehouse, dates(2)).code == 0
    assert day(warehouse, dates(2)).counters["rows_kept"] == 1


def test_users_erased_one_after_the_other_lose_their_common_question(qpr, warehouse, dates, drop):
    common = "how do i repair the quagga"
    rows = [{"question": common, "answer": "a", "user_id": user} for user in ("zoe", "bob")]
    drop(warehouse, dates(2), [*rows, {**rows[0], "question": "how do i pay"}])
    assert ingest(qpr, warehouse, dates(2)).code == 0
    assert json.loads(erase(qpr, warehouse, "--user", "zoe").out)["shared_questions"] == 1
    assert texts(warehouse, dates(2)) == {common}
    drop(warehouse, dates(3), [{**rows[0], "question": text} for text in ("how do i fly", "how do i pay")])
    drop(warehouse, dates(3), [{**rows[1], "question": "how do i fly"}], name="more.jsonl")
    assert ingest(qpr, warehouse, dates(3)).code == 0
    assert json.loads(erase(qpr, warehouse, "--user", "bob").out)["shared_questions"] == 1
    counters = day(warehouse, dates(2)).counters
    assert (counters["rows_kept"], counters["rows_erased"]) == (0, 3)
    assert texts(warehouse, dates(3)) == {"how do i fly", "how do i pay"}  # a row of zoe that counts again


def test_a_drop_in_which_an_erased_user_cannot_be_recognized_is_refused(qpr, warehouse, dates, drop):
    rows = [{"question": "how do i pay", "answer": "a"}]
    drop(warehouse, dates(2), rows)
    assert ingest(qpr, warehouse, dates(2)).code == 0
    assert erase(qpr, warehouse, "--user", "zoe").code == 0
    before = day(warehouse, dates(1)).digest
    corrected = [{"question": text, "answer": "a", "asker": user} for text, user in ((SECRET, "zoe"), ("why", "ann"))]
    drop(warehouse, dates(1), corrected)
    refused = ingest(qpr, warehouse, dates(1))
    assert (refused.code, refused.err.splitlines()[-1].count("without user ids their rows would come back")) == (4, 1)
    assert "no column user_id" in refused.err
    assert day(warehouse, dates(1)).digest == before
    options = ("ingest", "--warehouse", warehouse, "--shards", 2, "--date")
    assert qpr(*options, dates(1), "--column", "user_id=asker").code == 0
    assert day(warehouse, dates(1)).counters["rows_erased"] == 1
    # rows without user ids that the day has already are read again, new ones only beside a file with a column of ids
    assert qpr(*options, dates(2)).code == 0
    drop(warehouse, dates(2), [{**rows[0], "question": "why"}], name="new.jsonl")
    assert qpr(*options, dates(2)).code == 4
    drop(warehouse, dates(2), [{**rows[0], "question": "why", "user_id": None}], name="new.jsonl")
    assert qpr(*options, dates(2)).code == 0
    drop(warehouse, dates(2), [{**rows[0], "question": "who"}], name="more.jsonl")
    warned = qpr(*options, dates(2))
    assert (warned.code, warned.err.count("more.jsonl: has no user ids, so its rows count as those of other")) == (0, 1)
    drop(warehouse, dates(3), [{**rows[0], "question": "why"}])  # of a later day no user was erased
    assert qpr(*options, dates(3)).code == 0


def test_an_emptied_drop_and_the_state_of_a_monitor_do_not_stop_an_erasure(qpr, warehouse, dates):
    url = storage.join(warehouse, "events", f"date={dates(1)}")
    for name in storage.children(url):
        storage.write_bytes(storage.join(url, f"_{name}"), b"")
        storage.delete(storage.join(url, name))
    storage.write_bytes(storage.join(warehouse, "certificates", "0123.monitor.json"), b"{}")
    report = json.loads(erase(qpr, warehouse, "--question", SECRET).out)
    assert report["days_without_a_drop"] == [str(dates(1))]
    assert report["artefacts"][0]["rows"] == 1
    assert artefact_folders(warehouse, "certificates") == []


def test_a_drop_that_was_changed_after_its_ingestion_is_named(qpr, warehouse, dates, drop):
    drop(warehouse, dates(2), rows_of(dates(2), seed=0, count=5))
    assert ingest(qpr, warehouse, dates(2)).code == 0
    drop(warehouse, dates(2), rows_of(dates(2), seed=1, count=5), name="more.jsonl")  # what was ingested is still there
    rows = [{**row, "user_id": "ann"} for row in rows_of(dates(1), seed=0, count=20)]
    drop(warehouse, dates(1), rows)
    outcome = erase(qpr, warehouse, "--user", "zoe")
    assert outcome.code == 0
    assert json.loads(outcome.out)["days_without_a_drop"] == [str(dates(1))]
    assert f"drops of {dates(1)} were changed after their ingestion" in outcome.err
    assert SECRET in texts(warehouse, dates(1))
    assert "were changed" not in erase(qpr, warehouse, "--question", SECRET).err
    assert SECRET not in texts(warehouse, dates(1))
    assert ingest(qpr, warehouse, dates(1)).code == 0
    assert "were changed" not in erase(qpr, warehouse, "--user", "zoe").err


@pytest.mark.parametrize("room", ["datasets", "indexes"])
def test_questions_of_earlier_versions_that_no_day_has_are_a_warning(
    qpr, warehouse, dates, drop, make_model, tmp_path, room
):
    dataset = tmp_path / "w" / "datasets" / "one"
    log = f"{warehouse}/events/date={dates(1)}/log.jsonl"
    assert qpr("clusters", log, "--output", dataset, "--shards", 1).code == 0
    if room == "indexes":
        make_model(tmp_path / "model")
        dataset = dataset.rename(tmp_path / "dataset")
        output = ("--model", tmp_path / "model", "--output", f"{warehouse}/indexes/one", "--shards", 1)
        assert qpr("index", "--questions", dataset, *output).code == 0
    assert json.loads(erase(qpr, warehouse, "--user", "bob").out)["questions_in_no_day"] == 0
    drop(warehouse, dates(1), [{**row, "user_id": "ann"} for row in rows_of(dates(1), seed=0, count=20)])
    assert ingest(qpr, warehouse, dates(1)).code == 0
    outcome = erase(qpr, warehouse, "--user", "zoe")
    assert (outcome.code, json.loads(outcome.out)["questions_in_no_day"]) == (0, 1)
    assert "1 question of versions in no daily table" in outcome.err
    assert "nothing left to erase" not in outcome.err
    assert json.loads(erase(qpr, warehouse, "--user", "zoe", "--question", SECRET).out)["questions_in_no_day"] == 0


@pytest.mark.parametrize("name", ["broken.jsonl.gz", "broken.jsonl", "notes.pdf"])
@pytest.mark.parametrize("given", [("--question", SECRET), ("--user", "zoe")])
def test_a_drop_that_cannot_be_read_is_named_and_everything_else_is_erased(
    qpr, warehouse, dates, tmp_path, make_dataset, name, given
):
    broken = storage.join(warehouse, "events", f"date={dates(2)}", name)
    storage.write_bytes(broken, b'\xff\xfe"question"')
    dataset, file = str(tmp_path / "d"), tmp_path / "audit.jsonl"
    make_dataset(dataset, [["how do i fly", "fly how", SECRET]])
    file.write_text(json.dumps({"question": SECRET}) + "\n")
    places = ("--file", file) if given[0] == "--user" else ("--dataset", dataset, "--file", file)
    outcome = erase(qpr, warehouse, *given, *places)
    assert outcome.code == 1
    fault = outcome.err.splitlines()[-1]
    assert f"{storage.join(warehouse, 'events', f'date={dates(2)}')}" in fault
    assert "Everything else was erased. Mend or remove " in fault
    assert fault.endswith("then run this again")
    report = json.loads(outcome.out)
    assert report["artefacts"][0] == {"path": f"daily/date={dates(1)}", "rows": 1, "rejected": 0}
    assert [url.rpartition("/")[2] for url in report["logs_with_it"]] == ["log.jsonl"]
    assert len(report["faults"]) == 1
    assert file.read_text() == ""
    if "--dataset" in places:
        assert SECRET not in str(open_dataset(dataset).table("questions").to_pylist())
    storage.delete(broken)
    again = erase(qpr, warehouse, *given, *places)
    assert (again.code, "faults" in json.loads(again.out)) == (0, False)


def test_a_damaged_artefact_is_named_and_everything_else_is_erased(qpr, warehouse, dates, drop):
    drop(warehouse, dates(2), [{"question": SECRET, "answer": "a", "user_id": "zoe"}])
    assert ingest(qpr, warehouse, dates(2)).code == 0
    damaged = day(warehouse, dates(1))
    counts = storage.join(warehouse, "daily", f"date={dates(1)}", damaged.of(COUNTS)[0].path)
    content = storage.read_bytes(counts)
    storage.write_bytes(counts, content[:-9] + b"x" + content[-8:])
    outcome = erase(qpr, warehouse, "--question", SECRET)
    assert outcome.code == 1
    assert "Everything else was erased. Mend or remove " in outcome.err.splitlines()[-1]
    report = json.loads(outcome.out)
    assert [*report["faults"]] == [storage.join(warehouse, "daily", f"date={dates(1)}")]
    assert report["artefacts"] == [{"path": f"daily/date={dates(2)}", "rows": 1, "rejected": 0}]
    storage.write_bytes(counts, content)
    again = erase(qpr, warehouse, "--question", SECRET)
    assert again.code == 0
    assert json.loads(again.out)["artefacts"] == [{"path": f"daily/date={dates(1)}", "rows": 1, "rejected": 0}]


def test_rows_without_a_user_id_count_as_those_of_other_users(qpr, warehouse, dates, drop):
    shared = rows_of(dates(1), seed=0, count=20)[0]["question"]
    drop(warehouse, dates(1), [{"question": text, "answer": "a", "user_id": "zoe"} for text in (shared, SECRET)])
    drop(warehouse, dates(2), [{"question": shared, "answer": "a"}])
    outcome = erase(qpr, warehouse, "--user", "zoe", "--dry-run")
    assert outcome.code == 0
    assert f"{storage.join(warehouse, 'events', f'date={dates(2)}', 'log.jsonl')}: has no user ids" in outcome.err
    report = json.loads(outcome.out)
    assert (report["questions_to_erase"], report["shared_questions"]) == (1, 1)


def test_headers_of_drops_with_user_ids_are_read_once(qpr, warehouse, dates, drop, monkeypatch):
    from pipelines.reading import reader

    checked = []
    jsonl = reader._READERS["jsonl"]

    def check(file, *columns, **options):
        checked.append(file.url)
        return jsonl.check_header(file, *columns, **options)

    monkeypatch.setitem(reader._READERS, "jsonl", jsonl._replace(check_header=check))
    drop(warehouse, dates(1), [{"question": SECRET, "answer": "a", "user_id": "zoe"}])
    [name] = [storage.join(warehouse, "events", f"date={dates(1)}", "log.jsonl")]
    for options in (["--user", "zoe"], ["--question", SECRET]):
        assert erase(qpr, warehouse, *options, "--dry-run").code == 0
        assert checked == [name]
        checked.clear()


def test_a_file_that_cannot_be_changed_does_not_keep_others_from_it(qpr, warehouse, tmp_path):
    names = [tmp_path / "a.json", tmp_path / "b.jsonl", tmp_path / "c.jsonl"]
    for path, content in zip(names, ("{", "[", json.dumps({"question": SECRET})), strict=True):
        path.write_text(content)
    files = [part for path in names for part in ("--file", path)]
    outcome = qpr("erase", "--question", SECRET, *files)
    assert outcome.code == 1
    assert f"Mend or remove {names[0]}, {names[1]}, then run this again" in outcome.err
    assert names[2].read_text() == ""


def test_a_word_of_a_question_that_waits_for_more_users_stays_in_vocabularies(qpr, warehouse, dates, drop, monkeypatch):
    from jobs.nightly.erasure import artefacts

    drop(warehouse, dates(2), [{"question": "feed the Zibeline now", "answer": "a", "user_id": "bob"}] * 2)
    given = ("--warehouse", warehouse, "--date", dates(2), "--shards", 1, "--min-users", 2, "--max-reject-ratio", 1)
    assert qpr("ingest", *given).code == 0
    assert day(warehouse, dates(2)).counters["rows_waiting"] == 2
    monkeypatch.setattr(artefacts, "complete_artefacts", with_a_model(artefacts.complete_artefacts))
    monkeypatch.setattr(artefacts, "words_in_model", lambda _: ["zibeline", "repair", "quagga"])
    monkeypatch.setattr(artefacts, "erase_from_model", lambda _, words, **__: {"words": len(words)})
    report = json.loads(erase(qpr, warehouse, "--question", SECRET, "--question", "quagga").out)
    assert [one["words"] for one in report["artefacts"] if one["path"] == "models/m"] == [1]


def with_a_model(listed):
    def complete(warehouse, folder):
        return [f"{warehouse}/models/m"] if folder == "models" else listed(warehouse, folder)

    return complete


def test_a_folder_that_a_run_is_writing_to_is_not_removed(qpr, warehouse):
    url = f"{warehouse}/models/by-hand"
    with Output(url, "model") as output:
        output.write("model/one", b"rows", table="model")
        outcome = erase(qpr, warehouse, "--question", SECRET)
        assert (outcome.code, "models/by-hand: another run is writing there" in outcome.err) == (1, True)
        assert storage.children(f"{url}/{output.run_id}")
    storage.write_bytes(f"{url}/{output.run_id}/model/one", b"rows")  # as a killed run leaves it
    report = json.loads(erase(qpr, warehouse, "--question", SECRET).out)
    assert report["artefacts"][0] == {"path": "models/by-hand", "leftovers": 1}
    assert not storage.exists(url)


@pytest.mark.parametrize("quote", [repr, ascii])
@pytest.mark.parametrize(
    ("question", "is_shown"),
    [
        (SECRET, True),
        (f"{SECRET}?", True),
        ("wie öffne ich das Tor " + "wirklich " * 9, True),
        *((unicodedata.normalize("NFD", "x" * n + KOREAN), True) for n in range(3)),
        ("x" * 59 + "e\u0301 is read", True),  # cut before its accent
        ("x" * 59 + "\u00ea\u0323 is read", True),  # the second accent is first in the key
        ("x" * 58 + "e\u0302\u0323 is read", True),
        ("another", False),
        ("another " * 9, False),
    ],
)
def test_the_reason_of_a_refused_night_shows_no_erased_question(qpr, warehouse, tmp_path, question, is_shown, quote):
    reason = f"1 of 2 canaries not found; the first, in row 1, {quote(question[:60])}, has no hit in place of 'x'"
    refused = make_version(str(tmp_path / "other"), "a").model_copy(update={"refused": reason})
    history.keep_refused(warehouse, refused)
    erased = question if is_shown else SECRET
    assert erase(qpr, warehouse, "--question", erased).code == 0
    [after] = history.refused_versions(warehouse)
    assert (after.refused == reason) is not is_shown


def test_the_record_of_a_refused_night_that_a_kill_left_unfinished_is_removed(qpr, warehouse, monkeypatch):
    refused = make_version(warehouse, "a").model_copy(update={"refused": f"the first canary, {SECRET!r}, has no hit"})
    with monkeypatch.context() as patched:  # as a kill, neither renames the file nor removes it
        for name in ("replace", "unlink"):
            patched.setattr(os, name, Mock(side_effect=OSError(errno.EIO, "killed")))
        with pytest.raises(QprError):
            history.keep_refused(warehouse, refused)
    folder = storage.join(warehouse, "versions", "refused")
    [left] = storage.children(folder)
    for options in (["--dry-run"], []):
        report = json.loads(erase(qpr, warehouse, "--question", SECRET, *options).out)
        assert {"path": f"versions/refused/{left}", "leftovers": 1} in report["artefacts"]
    assert storage.children(folder) == []


@pytest.mark.parametrize("place", ["versions/refused/a.json", "leases/a.json"])
def test_a_damaged_record_or_lease_keeps_the_erasure_from_no_other_place(qpr, warehouse, tmp_path, place):
    reason = f"the first canary, {SECRET!r}, has no hit"
    refused = make_version(str(tmp_path / "other"), "a").model_copy(update={"refused": reason})
    history.keep_refused(warehouse, refused)
    damaged = storage.join(warehouse, place)
    storage.write_bytes(damaged, b"half")
    file = tmp_path / "requests.jsonl"
    file.write_text(json.dumps({"question": SECRET}) + "\n")
    outcome = erase(qpr, warehouse, "--question", SECRET, "--file", file)
    assert outcome.code == 1
    assert f"Everything else was erased. Mend or remove {damaged}, then run this again" in outcome.err
    assert SECRET not in file.read_text()
    report = json.loads(outcome.out)
    assert [*report["faults"]] == [damaged]
    assert [one for one in report["artefacts"] if "reasons" in one]
    storage.delete_file(damaged)
    assert erase(qpr, warehouse, "--question", SECRET, "--file", file).code == 0


def test_an_old_file_of_a_day_that_cannot_be_removed_is_a_fault(qpr, warehouse, dates, monkeypatch):
    def refuse(url):
        raise QprError(f"{url}: device or resource busy")

    folder = storage.join(warehouse, "daily", f"date={dates(1)}")
    with monkeypatch.context() as busy:
        busy.setattr(storage, "delete", refuse)
        outcome = erase(qpr, warehouse, "--question", SECRET)
    assert outcome.code == 1
    assert folder in outcome.err
    assert "device or resource busy" in outcome.err
    assert len(storage.children(folder)) > 2
    assert erase(qpr, warehouse, "--question", SECRET).code == 0
    assert len(storage.children(folder)) == 2


def test_a_question_that_is_too_long_is_erased_from_a_day_by_its_user(qpr, warehouse, dates, drop):
    asked = {**rows_of(dates(2), seed=0, count=1)[0], "question": f"{SECRET} " * 500, "user_id": "zoe"}
    drop(warehouse, dates(2), [*({**row, "user_id": "ann"} for row in rows_of(dates(2), seed=1, count=20)), asked])
    assert ingest(qpr, warehouse, dates(2)).code == 0
    [file] = day(warehouse, dates(2)).of("rejected")
    report = json.loads(erase(qpr, warehouse, "--user", "zoe").out)
    assert {"path": f"daily/date={dates(2)}", "rows": 0, "rejected": 1} in report["artefacts"]
    assert file.rows == 1
    assert not day(warehouse, dates(2)).of("rejected")


def test_a_file_beside_the_datasets_is_no_dataset(warehouse, dates):
    storage.write_bytes(storage.join(warehouse, "datasets", "notes.txt"), b"of the owner")
    assert complete_artefacts(warehouse, "datasets") == []
    assert complete_artefacts(warehouse, "daily") == [storage.join(warehouse, "daily", f"date={dates(1)}")]


def test_folders_that_are_unknown_are_reported_as_not_erased(qpr, warehouse):
    storage.write_bytes(storage.join(warehouse, "backups", "all.txt"), SECRET.encode())
    for _ in range(2):  # the second time with a list of erased questions and a lock
        left = json.loads(erase(qpr, warehouse, "--question", SECRET).out)["not_erased"]
        assert [name for name in left if name.startswith("folder")] == ["folder backups, which is unknown here"]


def test_an_erasure_names_what_is_not_erased_and_days_without_a_drop(qpr, warehouse, dates, drop):
    drop(warehouse, dates(2), [{"question": "how do i pay", "answer": "a", "user_id": "zoe"}])
    storage.delete(storage.join(warehouse, "events", f"date={dates(1)}"))
    outcome = qpr("erase", "--warehouse", warehouse, "--user", "zoe", "--dry-run")
    assert outcome.code == 0, outcome.err
    assert "Not erased: weights of trained models, as numbers; answers" in outcome.err
    assert "not erased" not in outcome.out
    assert f"1 day without a drop, the first {dates(1)} and the last {dates(1)}, are not found" in outcome.err
    assert "without a drop" not in qpr("erase", "--warehouse", warehouse, "--question", SECRET, "--dry-run").err
    assert erase(qpr, warehouse, "--user", "eve").err.count("Nothing of it was found\n") == 1
    assert "nothing left to erase" in erase(qpr, warehouse, "--question", "why").err


def test_an_older_layout_is_migrated_inside_the_lock_and_not_by_a_dry_run(qpr, warehouse):
    old = b'{"layout": 1}'
    storage.write_bytes(storage.join(warehouse, WAREHOUSE_FILE), old)
    assert erase(qpr, warehouse, "--question", SECRET, "--dry-run").code == 0
    assert storage.read_bytes(storage.join(warehouse, WAREHOUSE_FILE)) == old
    with alone_in(warehouse):
        assert erase(qpr, warehouse, "--question", SECRET).code != 0
    assert storage.read_bytes(storage.join(warehouse, WAREHOUSE_FILE)) == old
    outcome = erase(qpr, warehouse, "--question", SECRET)
    assert (outcome.code, outcome.err.count("migrated from layout 1")) == (0, 1)
    assert layout.read_layout(warehouse) == LAYOUT


@pytest.mark.parametrize(
    ("reason", "is_shown"),
    [
        (f"the drop's files: {SECRET!a} has no hit", True),
        (f"the owners' drop and the editor's: {SECRET!a} has no hit", True),
        (f"'tis the drop: {SECRET!a} has no hit", True),
        (r"the file 'C:\users\x' is gone", True),  # cannot be read, so it may show one
        ("the drop's files are gone, 'all of them'", False),
    ],
)
def test_apostrophes_and_escapes_in_a_reason_hide_no_question(qpr, warehouse, tmp_path, reason, is_shown):
    refused = make_version(str(tmp_path / "other"), "a").model_copy(update={"refused": reason})
    history.keep_refused(warehouse, refused)
    assert erase(qpr, warehouse, "--question", SECRET).code == 0
    [after] = history.refused_versions(warehouse)
    assert (after.refused == reason) is not is_shown


def test_the_first_erasure_warns_that_later_nights_need_the_key(qpr, warehouse):
    sentence = "its list of erased questions is written with this user key; give it to every later night"
    assert sentence in erase(qpr, warehouse, "--question", "which nobody asked").err
    assert sentence not in erase(qpr, warehouse, "--question", "which nobody asked either").err


def test_an_unknown_user_has_nothing_to_erase(qpr, warehouse):
    outcome = erase(qpr, warehouse, "--user", "nobody")
    assert outcome.code == 0
    assert json.loads(outcome.out)["logs_with_it"] == []
    assert "Nothing of it was found" in outcome.err


def test_another_key_is_refused(qpr, warehouse, dates, drop, monkeypatch):
    drop(warehouse, dates(2), rows_of(dates(2), seed=1, count=5))
    monkeypatch.setenv("QPR_USER_KEY", "another-secret-key-of-the-environment")
    outcome = ingest(qpr, warehouse, dates(2))
    assert (outcome.code, f"{dates(1)} was ingested with another user key" in outcome.err) == (1, True)
    again = f"qpr ingest --warehouse {warehouse} --from {dates(1)} --to {dates(2)} --user-key-file FILE"
    assert f"ingest all days with the new one: {again}" in outcome.err
    outcome = qpr("ingest", "--warehouse", warehouse, "--date", dates(2), "--min-users", 2)
    assert f"--to {dates(2)} --min-users 2 --user-key-file FILE" in outcome.err
    assert erase(qpr, warehouse, "--question", SECRET).code == 1
    monkeypatch.delenv("QPR_USER_KEY")
    outcome = ingest(qpr, warehouse, dates(2))
    assert (outcome.code, "was ingested with a user key. Give the same one" in outcome.err) == (2, True)
    monkeypatch.setenv("QPR_USER_KEY", "another-secret-key-of-the-environment")
    both = ("--from", dates(1), "--to", dates(2), "--shards", 1)
    assert qpr("ingest", "--warehouse", warehouse, *both).code == 0  # all days again, so that users compare


def test_a_day_without_a_drop_is_named_where_the_key_changes(qpr, warehouse, dates, drop, monkeypatch):
    drop(warehouse, dates(2), rows_of(dates(2), seed=1, count=5))
    storage.delete(storage.join(warehouse, "events", f"date={dates(1)}"))
    monkeypatch.setenv("QPR_USER_KEY", "another-secret-key-of-the-environment")
    both = ("ingest", "--warehouse", warehouse, "--from", dates(1), "--to", dates(2), "--shards", 1)
    outcome = qpr(*both)
    folder = storage.join(warehouse, "daily", f"date={dates(1)}")
    assert outcome.code == 1
    assert f"remove the folders of days whose drop is gone ({folder}), then ingest all days" in outcome.err
    storage.delete(folder)
    assert qpr(*both).code == 0


def test_a_list_of_erased_questions_needs_its_key(qpr, warehouse, dates, drop, monkeypatch):
    assert erase(qpr, warehouse, "--question", SECRET).code == 0
    drop(warehouse, dates(1), rows_of(dates(1), seed=1, count=5))
    monkeypatch.delenv("QPR_USER_KEY")
    outcome = ingest(qpr, warehouse, dates(1))
    assert (outcome.code, "their list needs the user key" in outcome.err) == (2, True)
    monkeypatch.setenv("QPR_USER_KEY", "another-secret-key-of-the-environment")
    assert "was written with another user key" in ingest(qpr, warehouse, dates(1)).err
    storage.write_bytes(storage.join(warehouse, "erased", "00000001.json"), b"{}")
    outcome = ingest(qpr, warehouse, dates(1))
    assert (outcome.code, "no list of erased questions" in outcome.err) == (1, True)


def test_bad_input_is_one_line(qpr, warehouse, tmp_path, monkeypatch):
    cases = [
        (("--warehouse", tmp_path / "none", "--question", "x"), 1, "no warehouse. Correct --warehouse"),
        (("--warehouse", warehouse, "--question", " "), 2, "--question is blank"),
        (("--warehouse", warehouse), 2, "nothing to erase"),
        (("--warehouse", warehouse, "--question", "x", "--review", tmp_path / "none.db"), 1, "is no review database"),
        (("--warehouse", warehouse, "--question", "x", "--file", tmp_path / "a.jsonl"), 1, "does not exist"),
        (("--warehouse", warehouse, "--question", "x", "--file", tmp_path / "a.pdf"), 2, "must end in .jsonl"),
    ]
    for arguments, code, message in cases:
        outcome = qpr("erase", *arguments)
        assert (outcome.code, outcome.err.count("\n")) == (code, 1), outcome.err
        assert message in outcome.err or "there is no review database" in outcome.err
    monkeypatch.delenv("QPR_USER_KEY")
    outcome = erase(qpr, warehouse, "--question", SECRET)
    assert (outcome.code, "--warehouse: needs a user key" in outcome.err) == (2, True)


def test_a_user_is_listed_again_for_later_days_alone(tmp_path, dates):
    ann, key = Erasure(frozenset(), user_hashes=frozenset({"0" * 16})), UserKey(b"k" * 16)
    listed = [suppress(str(tmp_path), ann, until=dates(day), key=key) for day in (3, 3, 2, 4, 4)]
    assert listed == [True, False, False, True, False]
