import contextlib
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.review.checks import check_queue
from jobs.review.database.connection import Verdict
from jobs.review.database.tables import check_values
from jobs.review.store import VerdictStore
from schemas.errors import QprError
from tests.support.merged_verdicts import merge_file


def verdict(name, item="i0", reviewer="Ada", value="right", **more):
    return Verdict(name, item, reviewer, value, **more)


@pytest.fixture
def open_store(tmp_path, make_queue):
    opened = []

    def start(name="review.db", queue=None, *, read_only=False):
        queue = queue or make_queue()
        opened.append(VerdictStore(str(tmp_path / name), None if read_only else queue.source))
        return opened[-1]

    yield start
    for store in opened:
        store.__exit__()


@pytest.fixture
def items(make_queue):
    return {item.name: item for item in make_queue().items}


def test_a_verdict_is_stored_once_with_person_time_and_note(open_store, items):
    first = verdict("v1", value="stray", strays=("w0-1",), note="odd", judged_at="2026-11-01T00:00:00.000000+00:00")
    assert open_store().add([first, first], items) == 1
    assert open_store().add([first], items) == 0
    assert open_store(read_only=True).verdicts() == [first]
    place = open_store().places()["i0"]
    assert (place.place, place.size, place.strata) == (0, 2, {"split": "train"})


def test_undo_hides_the_last_verdict_of_that_person_and_keeps_it_in_the_file(open_store, items, tmp_path):
    store = open_store()
    for name, person in (("v1", "Ada"), ("v2", "Ada"), ("v3", "Bob")):
        store.add([verdict(name, reviewer=person)], items)
    assert store.undo("Ada", session="s").verdict_id == "v2"
    assert [one.verdict_id for one in store.verdicts()] == ["v1", "v3"]
    assert store.undo("Eve", session="s") is None
    with sqlite3.connect(tmp_path / "review.db") as connection:
        assert connection.execute("SELECT COUNT(*) FROM verdicts").fetchone() == (3,)
    connection.close()


def test_undo_of_a_named_verdict_undoes_no_other_one_however_often_it_is_asked_for(open_store, items):
    store = open_store()
    for name, item, person in (("v1", "i0", "Ada"), ("v2", "i1", "Ada"), ("v3", "i2", "Bob")):
        store.add([verdict(name, item, person)], items)
    for _ in range(2):
        assert store.undo("ada", session="s", verdict_id="v1").verdict_id == "v1"
        assert [one.verdict_id for one in store.verdicts()] == ["v2", "v3"]
        assert store.claims() == {"s": "i0"}
    store.add([verdict("v4", "i0", "Ada")], items)
    assert store.undo("Ada", session="s", verdict_id="v1").verdict_id == "v1"
    assert store.claims() == {}  # its item was judged again
    for name in ("v3", "other"):
        assert store.undo("Ada", session="s", verdict_id=name) is None
    assert [one.verdict_id for one in store.verdicts()] == ["v2", "v3", "v4"]


def test_undo_takes_the_verdict_that_was_stored_last_whatever_the_clock(open_store, items, make_queue, tmp_path):
    store = open_store()
    for place, hour in enumerate((9, 10, 8)):  # the clock was set back after the second one
        one = verdict(f"v{place}", f"i{place}", "Ada", judged_at=f"2026-11-01T{hour:02}:00:00.000000+00:00")
        assert store.add_if_first(one, items[one.item], earlier=place)
    copied = verdict("v9", "i2", "ada", "several")
    assert not store.add_if_first(copied, items["i2"], earlier=2)  # by a copy of the window that showed the third item
    merged = open_store("merged.db")
    merge_file(merged, make_queue(), str(tmp_path / "review.db"))
    for one in (store, merged):
        assert [one_.verdict_id for one_ in one.verdicts()] == ["v2", "v0", "v1"]  # statistics are in the order of time
        assert [one.undo("ADA", session="s").verdict_id for _ in range(3)] == ["v2", "v1", "v0"]


def test_verdicts_in_another_order_of_the_items_are_refused(open_store, items, make_queue):
    store, queue = open_store(), make_queue()
    store.add([verdict("v1", "i1"), verdict("v2", "i2")], items)
    check_queue(store, queue)
    queue.places = {"i1": 1, "i2": 3}  # one that moved suffices
    with pytest.raises(QprError, match=r"has verdicts in another order of the .*\. Judge in another --database"):
        check_queue(store, queue)


def test_an_item_that_one_session_shows_is_not_free_for_another_one(open_store):
    one, other = open_store(), open_store()
    assert one.claim("i0", session="a", reviewer="Ada")
    assert one.claim("i0", session="a", reviewer="Ada")
    assert not other.claim("i0", session="b", reviewer="Bob")
    assert one.claim("i1", session="a", reviewer="Ada")
    assert other.claim("i0", session="b", reviewer="Bob")
    assert other.claims() == {"a": "i1", "b": "i0"}


def test_databases_are_merged_and_a_second_merge_adds_nothing(open_store, items, make_queue, tmp_path):
    one, other = open_store("one.db"), open_store("other.db")
    one.add([verdict("v1")], items)
    other.add([verdict("v1"), verdict("v2", "i1", "Bob"), verdict("v3", "i2", "Bob")], items)
    other.undo("Bob", session="s")
    other.__exit__()
    assert merge_file(one, make_queue(), str(tmp_path / "other.db")) == 2
    assert merge_file(one, make_queue(), str(tmp_path / "other.db")) == 0
    assert {one_.verdict_id for one_ in one.verdicts()} == {"v1", "v2"}
    assert set(one.places()) == {"i0", "i1", "i2"}


def test_two_threads_and_two_stores_lose_nothing(open_store, items):
    stores = [open_store(), open_store()]

    def judge(number):
        for place in range(40):
            stores[number % 2].add([verdict(f"v{number}-{place}", f"i{place}", f"person {number}")], items)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(judge, range(4)))
    assert len(open_store().verdicts()) == 160


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"digest": "d2"}, "another dataset, with digest d1, not d2"),
        ({"seed": 7}, "--seed 0. Give that seed"),
        ({"kind": "pairs"}, "Give --queue clusters"),
    ],
)
def test_verdicts_on_another_queue_are_refused(open_store, make_queue, other, words):
    open_store()
    with pytest.raises(QprError, match=words):
        open_store(queue=make_queue(**other))


def test_a_database_of_another_queue_is_not_merged(open_store, make_queue, tmp_path):
    open_store("other.db", queue=make_queue(seed=1)).__exit__()
    with pytest.raises(QprError, match="another queue"):
        merge_file(open_store(), make_queue(), str(tmp_path / "other.db"))


def test_what_is_no_review_database_is_refused_and_stays(open_store, tmp_path):
    (tmp_path / "text.db").write_text("question,verdict\n")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    before = [(tmp_path / name).read_bytes() for name in ("text.db", "other.db")]
    with pytest.raises(QprError, match="is no review database"):
        open_store("text.db")
    with pytest.raises(QprError, match="of another program"):
        open_store("other.db")
    with pytest.raises(QprError, match="there is no review database"):
        open_store("missing.db", read_only=True)
    with pytest.raises(QprError, match=r"Its folder does not exist\. Make it, or correct the path"):
        open_store("nowhere/new.db")
    with pytest.raises(QprError, match="local file"):
        VerdictStore("s3://bucket/review.db", None)
    assert [(tmp_path / name).read_bytes() for name in ("text.db", "other.db")] == before


def test_a_damaged_database_is_named(open_store, items, tmp_path):
    store = open_store()
    store.add([verdict(f"v{place}", f"i{place}", note="x" * 500) for place in range(40)], items)
    store.__exit__()
    content = bytearray((tmp_path / "review.db").read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 200] = b"\xff" * 200
    (tmp_path / "review.db").write_bytes(content)
    with pytest.raises(QprError, match=r"review.db: .*Restore a copy"):
        open_store()


READ_ONLY = """
import os, sys
from jobs.review.merging import merge
from jobs.review.store import VerdictStore
from jobs.review.queues.interface import QueueIdentity
from schemas.errors import QprError
os.setgid(65534), os.setuid(65534)
path, source = sys.argv[1], QueueIdentity("clusters", "d1", 0, 40, 119, 4)
print(len(VerdictStore(path).verdicts()))
try:
    VerdictStore(path, source)
except QprError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without write access")
def test_a_read_only_database_is_reported_from_and_not_written(open_store, items):
    # not in tmp_path: each start of pytest on this machine closes the folder above it to other users
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "review.db"
        store = open_store(path)
        store.add([verdict("v1")], items)
        store.__exit__()
        path.parent.chmod(0o755)
        path.chmod(0o444)
        done = subprocess.run([sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, check=False)
    assert done.stdout.partition("\n")[0] == "1", done.stderr
    assert "Nobody can write to it here" in done.stdout


@pytest.mark.parametrize(
    "statements",
    [
        [
            "DROP TABLE verdicts",
            "CREATE VIEW verdicts AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS "
            "verdict_id, 'i' AS item, 'A' AS reviewer, '' AS verdict, '' AS strays, '' AS note, '' AS judged_at FROM n",
        ],
        ["CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN UPDATE verdicts SET verdict = 'right'; END"],
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_with_a_view_or_a_trigger_is_refused(open_store, tmp_path, statements, read_only):
    open_store()
    with sqlite3.connect(tmp_path / "review.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    with pytest.raises(QprError, match=r"review\.db: has a view or a trigger, which no qpr makes\. Ask for an export"):
        open_store(read_only=read_only)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("source", "kind", "'questions'"),
        ("source", "digest", "NULL"),
        ("source", "items", "'x'"),
        ("source", "largest", "0"),
        ("items", "place", "NULL"),
        ("items", "size", "x'00ff'"),
        ("items", "strata", "'[1]'"),
        ("items", "strata", "'{\"split\": 1}'"),
        ("items", "strata", "'{'"),
        ("verdicts", "item", "'i9'"),
        ("verdicts", "reviewer", "x'00ff'"),
        ("verdicts", "strays", "'[null]'"),
        ("verdicts", "judged_at", "NULL"),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_value_that_no_review_writes_is_refused_with_table_row_and_column(
    open_store, items, tmp_path, table, column, value, read_only
):
    open_store().add([verdict("v1"), verdict("v2", "i1")], items)
    change_freely(tmp_path / "review.db", f"UPDATE {table} SET {column} = {value} WHERE rowid = 1")
    with pytest.raises(QprError, match=rf"review\.db: table {table}, row 1: the value of {column} .*\. Restore a copy"):
        open_store(read_only=read_only)


def test_the_values_of_a_table_are_checked_in_one_pass(open_store, tmp_path):
    open_store()
    passes = []
    with contextlib.closing(sqlite3.connect(tmp_path / "review.db")) as connection:
        connection.set_trace_callback(passes.append)
        check_values("review.db", connection)
    tables = [re.search(r"FROM (\w+) WHERE \(typeof", statement) for statement in passes if "rowid" in statement]
    assert [found[1] for found in tables] == ["source", "items", "verdicts", "undone", "claims"]


def test_text_that_is_no_utf_8_is_refused(open_store, tmp_path):
    open_store()
    change_freely(tmp_path / "review.db", "UPDATE source SET digest = CAST(x'ff' AS TEXT)")
    with pytest.raises(QprError, match=r"review\.db: Could not decode to UTF-8 column 'digest' .*\. Restore a copy"):
        open_store(read_only=True)


@pytest.mark.parametrize(
    ("change", "rows"), [("DELETE FROM source", 0), ("INSERT INTO source SELECT * FROM source", 2)]
)
def test_a_database_without_one_row_about_the_queue_is_refused(open_store, tmp_path, change, rows):
    open_store()
    change_freely(tmp_path / "review.db", change)
    with pytest.raises(
        QprError, match=rf"review\.db: table source has {rows} rows in place of one\. .* Restore a copy"
    ):
        open_store(read_only=True)


def change_freely(path, statement):
    """Execute a statement in a database whose columns may be NULL, as another program makes them."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
    connection.close()
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_an_undo_on_a_full_disk_is_an_error_that_fits_it(open_store, items):
    store = open_store()
    store.add([verdict("v1")], items)
    full = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
    store._connection.execute(f"CREATE TEMP TRIGGER full BEFORE INSERT ON undone {full}")
    with pytest.raises(QprError, match=r"disk is full\. Nothing was stored by this\. Free some space, then"):
        store.undo("Ada", session="s")
    assert len(store.verdicts()) == 1
