import json
import os
import re

import pytest

from schemas.artifacts import storage
from schemas.artifacts.output_lock.owner import Owner
from schemas.versions import history, layout
from schemas.versions.leases import leased
from tests.support.small_versions import make_version


@pytest.fixture
def warehouse(tmp_path):
    w = str(tmp_path / "w")
    history.publish(w, make_version(w, "one", metrics={"mrr": 0.5}))
    history.publish(w, make_version(w, "two", parent=1, date="2026-11-21", changes={"kept": 3}))
    history.keep_refused(w, make_version(w, "three", parent=2, date="2026-11-22", refused="MRR fell by 0.2"))
    return w


def test_versions_are_listed_with_the_refused_ones(qpr, warehouse):
    out = qpr("versions", "--warehouse", warehouse).out
    assert "2, current" in out
    assert "MRR fell by 0.2" in out
    listed = json.loads(qpr("versions", "--warehouse", warehouse, "--json").out)
    assert (listed["current"], [v["version"] for v in listed["versions"]]) == (2, [1, 2])
    assert listed["versions"][0]["metrics"] == {"mrr": 0.5}
    assert listed["refused"][0]["refused"] == "MRR fell by 0.2"


@pytest.mark.parametrize("at", ["two", "2026-13-01", "1.5"])
def test_a_version_that_can_be_none_is_wrong_usage_wherever_it_is_looked_for(qpr, warehouse, at):
    for place in (warehouse, f"{warehouse}/nothing"):
        outcome = qpr("versions", "--warehouse", place, "--at", at)
        assert (outcome.code, "neither the number of a version nor a date" in outcome.err) == (2, True)


def test_one_version_is_printed_with_what_is_gone_of_it(qpr, warehouse):
    storage.delete(storage.join(warehouse, "models", "one"))
    shown = json.loads(qpr("versions", "--warehouse", warehouse, "--at", "2026-11-20", "--json").out)
    assert (shown["version"], shown["gone"]) == (1, ["models/one"])
    assert "models/one" in qpr("versions", "--warehouse", warehouse, "--at", "1").out
    refused = qpr("versions", "--warehouse", warehouse, "--at", "7")
    assert (refused.code, refused.err) == (1, f"error: {warehouse}: has no version 7. There are 1 to 2\n")


@pytest.mark.parametrize("kept_bytes", [0, 200])
def test_a_record_that_is_cut_off_is_moved_out_by_the_advice_of_its_error(qpr, warehouse, tmp_path, kept_bytes):
    history.publish(warehouse, make_version(warehouse, "four", parent=2, date="2026-11-23"))
    record = history.file_of(warehouse, 3)
    storage.write_bytes(record, storage.read_bytes(record)[:kept_bytes])
    commands = [("versions",), ("gc",), ("rollback", "--to", 1)]
    for command in commands:
        outcome = qpr(*command, "--warehouse", warehouse)
        advice = "Restore the file from a copy. Without one, move it out of the folder: the newest record that is left"
        assert (outcome.code, advice in outcome.err, "Upgrade" in outcome.err) == (1, True, False)
    os.rename(record, tmp_path / "moved.json")
    assert [qpr(*command, "--warehouse", warehouse).code for command in commands] == [0, 0, 0]
    listed = json.loads(qpr("versions", "--warehouse", warehouse, "--json").out)
    assert [(v["version"], v["rollback_of"]) for v in listed["versions"]] == [(1, None), (2, None), (3, 1)]


@pytest.mark.usefixtures("wide_tables")
def test_the_list_of_versions_names_what_is_gone_of_each(qpr, warehouse):
    assert "gone" not in qpr("versions", "--warehouse", warehouse).out
    for folder in ("models", "indexes"):
        storage.delete(storage.join(warehouse, folder, "one"))
    storage.delete(storage.join(warehouse, "reports", "three"))
    out = qpr("versions", "--warehouse", warehouse).out
    assert ["gone: indexes, models" in out, "MRR fell by 0.2; gone: reports" in out] == [True, True]
    listed = json.loads(qpr("versions", "--warehouse", warehouse, "--json").out)
    gone = [version["gone"] for version in (*listed["versions"], *listed["refused"])]
    assert gone == [["indexes/one", "models/one"], [], ["reports/three"]]


@pytest.mark.parametrize("store", ["disk", "s3"])
def test_the_list_and_a_version_agree_on_what_a_killed_removal_left(qpr, warehouse, request, store):
    w = warehouse if store == "disk" else f"{request.getfixturevalue('s3')}/w"
    if store == "s3":
        history.publish(w, make_version(w, "one"))
    storage.delete_file(storage.join(w, "models", "one", "manifest.json"))
    listed = json.loads(qpr("versions", "--warehouse", w, "--json").out)["versions"]
    shown = json.loads(qpr("versions", "--warehouse", w, "--at", 1, "--json").out)
    assert listed[0]["gone"] == shown["gone"] == ["models/one"]


@pytest.mark.usefixtures("wide_tables")
def test_the_report_of_a_version_is_printed_unless_it_is_gone(qpr, warehouse):
    shown = qpr("versions", "--warehouse", warehouse, "--at", "2").out
    assert "clusters with the same questions" in shown
    assert "reports/two" in shown
    table = json.loads(qpr("versions", "--warehouse", warehouse, "--at", "2", "--json").out)["table_of_changes"]
    assert storage.read_bytes(table) == b"two"
    storage.delete(storage.join(warehouse, "reports", "two"))
    assert "clusters with the same questions" in qpr("versions", "--warehouse", warehouse, "--at", "2").out
    assert json.loads(qpr("versions", "--warehouse", warehouse, "--at", "2", "--json").out)["table_of_changes"] is None


def test_a_rollback_publishes_an_older_version_again(qpr, warehouse):
    assert json.loads(qpr("rollback", "--warehouse", warehouse, "--to", 1, "--json").out) == {
        "version": 3,
        "rollback_of": 1,
        "warnings": [],
    }
    assert "equals 1" in qpr("versions", "--warehouse", warehouse).out
    again = qpr("rollback", "--warehouse", warehouse, "--to", 1).out
    assert ["equals version" in again, "rollback_of" in again] == [True, False]
    assert qpr("rollback", "--warehouse", warehouse, "--to", 9).code == 1


def test_gc_removes_only_with_delete(qpr, warehouse):
    arguments = ["gc", "--warehouse", warehouse, "--keep", 1, "--grace-hours", 0, "--json"]
    listed = json.loads(qpr(*arguments).out)
    assert listed["deleted"] is False
    assert set(listed["folders"]) == {f"{f}/one" for f in ("datasets", "models", "indexes", "splits", "reports")}
    assert json.loads(qpr(*arguments).out) == listed
    assert json.loads(qpr(*arguments, "--delete").out)["folders"] == listed["folders"]
    assert json.loads(qpr(*arguments).out)["folders"] == []
    assert storage.exists(storage.join(warehouse, "datasets", "two", "manifest.json"))


@pytest.mark.parametrize("command", [["versions"], ["gc"], ["rollback", "--to", "1"]])
def test_a_folder_without_versions_is_one_line(qpr, tmp_path, command):
    outcome = qpr(*command, "--warehouse", tmp_path)
    assert outcome.code == 1
    assert outcome.err.startswith(f"error: {tmp_path}: has no version")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", [["gc", "--delete"], ["rollback", "--to", 1]])
def test_a_removal_or_rollback_waits_for_no_night(qpr, warehouse, command):
    from jobs.workflows.warehouses.versions import alone_in

    with alone_in(warehouse):
        outcome = qpr(*command, "--warehouse", warehouse)
    assert history.numbers(warehouse) == [1, 2]
    assert outcome.code == 1
    assert "another run is writing there" in outcome.err


def test_the_lock_of_a_run_killed_on_another_machine_is_named_with_the_time_until_it_expires(qpr, memory):
    w = storage.join(memory, "w")
    history.publish(w, make_version(w, "one"))
    killed = Owner(run_id="20261120T020000Z-abcdef", since="2026-11-20T02:00:00+00:00", host="pod-1", process=7)
    storage.write_bytes(storage.join(w, "lock", "leases", "00000001.json"), killed.content())
    outcome = qpr("gc", "--warehouse", w, "--delete")
    advice = r"process 7 on pod-1\. Wait until it ends or stop it, then run this again\. The lock of a killed run "
    assert re.search(rf"{advice}expires after 120 s, here in 1[012]\d s\n$", outcome.err)
    assert "--output" not in outcome.err


def test_gc_names_readers_and_refuses_a_damaged_lease(qpr, warehouse):
    arguments = ["gc", "--warehouse", warehouse, "--keep", 1, "--grace-hours", 0]
    with leased(warehouse, 1, history.read_version(warehouse, 1)):
        outcome = qpr(*arguments, "--delete")
        assert outcome.code == 0
        assert "version 1 stays: process " in outcome.err
        assert storage.exists(storage.join(warehouse, "datasets", "one", "manifest.json"))
    storage.write_bytes(storage.join(warehouse, "leases", "a.json"), b"half")
    outcome = qpr(*arguments, "--delete")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert "damaged lease" in outcome.err


def test_gc_with_nothing_to_remove_prints_a_line_with_the_number_of_young_folders(qpr, warehouse):
    assert qpr("gc", "--warehouse", warehouse).out == "Nothing to remove.\n"
    outcome = qpr("gc", "--warehouse", warehouse, "--keep", 1, "--grace-hours", 87_600)
    assert re.fullmatch(r"Nothing to remove\. \d folders are younger than --grace-hours 87600\.\n", outcome.out)
    assert json.loads(qpr("gc", "--warehouse", warehouse, "--json").out)["folders"] == []


@pytest.mark.parametrize("command", [["versions"], ["gc"], ["answer", "hello"], ["rollback", "--to", 1]])
@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("3", "layout 3, this code reads up to 2. Upgrade question-paraphrase-retrieval"),
        ("0", "layout 0 is older than 1 and cannot be migrated"),
        ('"x"', "damaged. Restore it"),
    ],
)
def test_a_warehouse_of_another_layout_is_refused(qpr, warehouse, command, layout, message):
    storage.write_bytes(storage.join(warehouse, "warehouse.json"), f'{{"layout": {layout}}}'.encode())
    outcome = qpr(*command, "--warehouse", warehouse)
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert f"warehouse.json: {message}" in outcome.err
    assert history.numbers(warehouse) == [1, 2]


def test_wrong_values_are_one_line(qpr, warehouse):
    for at in ("\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT TWO}", "two", "1" * 5000):
        outcome = qpr("versions", "--warehouse", warehouse, "--at", at)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert "is neither the number of a version nor a date such as 2026-11-20" in outcome.err
    for hours in ("inf", "nan", "1e300", "-1"):
        outcome = qpr("gc", "--warehouse", warehouse, "--grace-hours", hours)
        assert outcome.code == 2, outcome.err
        assert "--grace-hours" in outcome.err


@pytest.mark.parametrize("command", [["versions"], ["gc"], ["rollback", "--to", 1]])
def test_a_folder_that_is_no_warehouse_is_named_and_one_without_versions_gets_the_next_step(qpr, tmp_path, command):
    for place in (tmp_path / "none", tmp_path):
        outcome = qpr(*command, "--warehouse", place)
        advice = "Correct --warehouse, or make one with `qpr nightly`"
        assert outcome.code == 1
        assert outcome.err == f"error: {place}: has no versions and is no warehouse. {advice}\n"
    layout.write_layout(str(tmp_path / "my logs"))
    outcome = qpr(*command, "--warehouse", tmp_path / "my logs")
    advice = f"has no versions. `qpr nightly --warehouse '{tmp_path}/my logs'` makes the first\n"
    assert (outcome.code, outcome.err) == (1, f"error: {tmp_path}/my logs: {advice}")


def test_advice_quotes_a_warehouse_with_a_space_in_its_name(qpr, tmp_path):
    w = str(tmp_path / "my logs")
    history.publish(w, make_version(w, "one"))
    history.publish(w, make_version(w, "two", parent=1, date="2026-11-21"))
    storage.delete(storage.join(w, "datasets", "one"))
    outcome = qpr("rollback", "--warehouse", w, "--to", 1)
    assert (outcome.code, f"`qpr rollback --warehouse '{w}' --to N`" in outcome.err) == (1, True), outcome.err
