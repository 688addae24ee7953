import datetime
import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.clusters.cluster_ids import further_ids, ids_of
from pipelines.ingestion.days import DayFile
from pipelines.ingestion.earlier import (
    ADDED,
    EARLIER,
    forget,
    ids_by_split,
    place_earlier,
    read_earlier_file,
    remember,
    to_earlier_file,
)
from pipelines.intermediate import MEMBERS
from schemas.artifacts.manifest import File
from schemas.hashing import mix
from schemas.tables import QUESTIONS, with_nulls

TIME = EARLIER.field("first_seen").type


def day(number):
    return None if number is None else datetime.datetime(2026, 11, number, tzinfo=datetime.UTC)


def earlier(*rows):
    """Return EARLIER of (question, split, answer, cluster, first day, last day of the cluster's oldest question)."""
    listed = [dict(zip(EARLIER.names, (*row[:4], *map(day, (*row[4:], None)[:2])), strict=True)) for row in rows]
    return pa.Table.from_pylist(listed, schema=EARLIER)


def version(*clusters, days):
    """Return clusters and questions of (cluster, answer, split, questions), and the only day of each question."""
    columns = [pa.array(column) for column in zip(*clusters, strict=True)]
    table = pa.table(columns, names=["cluster_id", "answer_hash", "split", "question_ids"])
    times = pa.array([day(number) for number in days.values()], TIME)
    questions = pa.table({"question_id": pa.array(list(days), pa.int64()), "first_seen": times, "last_seen": times})
    return table.cast(pa.schema([*list(table.schema)[:3], ("question_ids", pa.list_(pa.int64()))])), questions


def rows_of(table):
    """Return rows of EARLIER as they are given to `earlier`, but for a last day that is unknown."""
    numbers = [[value and value.day for value in list(row.values())[4:]] for row in table.to_pylist()]
    rows = [list(row.values())[:4] for row in table.to_pylist()]
    return [(*row, *(days if days[1] else days[:1])) for row, days in zip(rows, numbers, strict=True)]


def named(answer, question):
    """Return the id of the cluster of an answer with this oldest question."""
    pair = {"answer_id": pa.array([answer], pa.int64()), "question_id": pa.array([question], pa.int64())}
    return int(ids_of(pa.table(pair))[0])


def test_a_question_gets_its_split_and_its_first_time():
    columns = {
        "question_id": pa.array([1, 1, 2, 3], pa.int64()),
        "answer_id": pa.array([7, 8, 7, 7], pa.int64()),
        "first_seen": pa.array([day(9), day(9), day(9), None], TIME),
    }
    known = earlier((3, "test", 7, 30, None), (1, "train", 7, 10, 5), (1, "train", 9, 11, 4), (2, "train", 7, None, 12))
    placed = place_earlier(with_nulls(MEMBERS, columns), known, day(10))
    assert placed["split"].to_pylist() == ["train", "train", "train", "test"]
    assert placed["first_seen"].to_pylist() == [day(4), day(4), day(9), None]
    assert place_earlier(placed, None) is placed


def test_a_question_gets_its_cluster_with_this_answer_once_the_oldest_question_has_left():
    columns = {"question_id": pa.array([1, 1, 2, 3], pa.int64()), "answer_id": pa.array([7, 8, 7, 7], pa.int64())}
    known = earlier(
        (1, "train", 7, 10, 5, 6), (1, "train", 9, 11, 4, 6), (2, "train", 7, 10, 5, 6), (3, "test", 7, 30, 4, 8)
    )
    members = with_nulls(MEMBERS, columns)
    found = [place_earlier(members, known, since)["cluster_id"].to_pylist() for since in (None, day(6), day(7), day(9))]
    assert found == [[None] * 4, [None] * 4, [10, None, 10, None], [10, None, 10, 30]]


def test_questions_are_remembered_when_they_are_gone_with_their_last_cluster_and_first_time():
    first = remember(
        EARLIER.empty_table(),
        *version((50, 7, "train", [1, 2]), (51, 8, "test", [3]), days={1: 4, 2: 5, 3: None, 4: 1}),
    )
    assert rows_of(first) == [(1, "train", 7, 50, 4), (2, "train", 7, 50, 5), (3, "test", 8, 51, None)]
    later = version((60, 7, "train", [9, 2]), (61, 9, "train", [2]), days={9: 20, 2: 19})
    second = remember(first, *later)
    assert rows_of(second) == [
        (1, "train", 7, 50, 4),
        (2, "train", 7, 60, 5),
        (2, "train", 9, 61, 5),
        (9, "train", 7, 60, 20),
        (3, "test", 8, 51, None),
    ]
    assert {split: ids.tolist() for split, ids in ids_by_split(second).items()} == {
        "train": [1, 2, 9],
        "validation": [],
        "test": [3],
    }
    assert remember(second, *later).equals(second)


def test_the_last_time_of_the_question_that_names_a_cluster_is_kept_when_it_has_left():
    name = named(7, 1)
    first = remember(EARLIER.empty_table(), *version((name, 7, "train", [1, 2, 3]), days={1: 4, 2: 5, 3: 6}))
    assert [row[-2:] for row in rows_of(first)] == [(4, 4), (5, 4), (6, 4)]
    second = remember(first, *version((name, 7, "train", [2, 3, 8]), days={2: 20, 3: 21, 8: 22}))
    assert rows_of(second) == [
        (1, "train", 7, None, 4, 4),  # it has left a cluster that goes on
        (2, "train", 7, name, 5, 4),
        (3, "train", 7, name, 6, 4),
        (8, "train", 7, name, 22, 4),
    ]


def test_a_cluster_with_an_inherited_id_inherits_it_again_when_the_question_that_names_it_is_back():
    name = named(7, 1)
    clusters = version((name, 7, "train", [1, 2]), days={1: 20, 2: 21})
    for first_of_the_other, oldest_seen in ((4, 6), (8, 20)):
        known = earlier((1, "train", 7, name, 5, 6), (2, "train", 7, name, first_of_the_other, 6))
        assert [row[-1] for row in rows_of(remember(known, *clusters))] == [oldest_seen] * 2


def test_an_id_of_a_question_that_was_no_member_is_inherited_once_the_window_has_moved():
    whole = version((named(7, 9), 7, "train", [1, 2]), days={1: 4, 2: 5, 3: 2})  # a time before the first day
    known = remember(EARLIER.empty_table(), *whole, day(3))
    members = with_nulls(MEMBERS, {name: known[name] for name in ("question_id", "answer_id")})
    for begins, inherited in ((3, None), (4, named(7, 9))):
        assert place_earlier(members, known, day(begins))["cluster_id"].to_pylist() == [inherited] * 2


def test_a_file_of_an_earlier_release_has_splits_alone(tmp_path: Path):
    whole = earlier((1, "train", 7, 50, 4), (3, "test", 8, 51, None))
    for table, wanted in (
        (whole, whole),
        (whole.drop_columns([*ADDED]), earlier((1, "train", None, None, None), (3, "test", None, None, None))),
    ):
        content = to_earlier_file(table)
        name = f"splits/{len(content)}.parquet"
        (tmp_path / "splits").mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
        assert pq.read_table(tmp_path / name).equals(table)
        digest = hashlib.sha256(content).hexdigest()
        file = File(path=name, table="splits", rows=2, bytes=len(content), sha256=digest)
        assert pa.concat_tables(read_earlier_file(DayFile(str(tmp_path), file))).equals(wanted)
    old = earlier((1, "train", None, None, None))
    assert rows_of(remember(old, *version((50, 7, "train", [1]), days={1: 4}))) == [(1, "train", 7, 50, 4)]


def test_an_erased_question_names_no_cluster():
    of_one = named(7, 1)
    known = earlier(
        (1, "train", 7, of_one, 4),
        (1, "train", None, None, None),
        (2, "train", 7, of_one, 5),
        (2, "train", 8, 44, 5),
        (3, "train", 7, 33, 5),
        (4, "train", 7, int(next(further_ids(np.array([of_one])))[0]), 5),
    )
    assert rows_of(forget(known, pa.array([1], pa.int64()))) == [
        (2, "train", 7, None, 5),
        (2, "train", 8, 44, 5),
        (3, "train", 7, 33, 5),
        (4, "train", 7, None, 5),
    ]
    assert forget(known, pa.array([99], pa.int64())).equals(known)
    of_stray = earlier((2, "train", 7, named(7, 1), 5), (3, "train", 7, named(8, 1), 5))
    assert rows_of(forget(of_stray, pa.array([1], pa.int64()))) == [
        (2, "train", 7, None, 5),
        (3, "train", 7, named(8, 1), 5),
    ]


def test_each_pair_of_question_and_answer_has_its_cluster():
    numbers = np.arange(100, dtype=np.int64)
    ids = mix(numbers, 3).view(np.int64)
    columns = {"question_id": np.repeat(ids, 100), "answer_id": np.tile(ids, 100)}
    members = with_nulls(MEMBERS, {name: pa.array(values) for name, values in columns.items()})
    known = with_nulls(
        EARLIER, {**{name: members[name] for name in columns}, "cluster_id": pa.array(np.arange(10_000))}
    )
    left = known.set_column(5, EARLIER.field("oldest_seen"), pa.array([day(1)] * 10_000, TIME))
    assert place_earlier(members, left, day(2))["cluster_id"].to_pylist() == list(range(10_000))
    assert QUESTIONS.field("first_seen").type == TIME
