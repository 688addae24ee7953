import io
import itertools
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.artifacts.content_digest import content_digest, rows_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.tables import TABLES

SCHEMA = pa.schema(
    {"id": pa.int64(), "text": pa.string(), "score": pa.float64(), "ids": pa.list_(pa.int64()), "on": pa.bool_()}
)
ROW = st.tuples(
    st.none() | st.integers(-3, 3),
    st.none() | st.sampled_from(["", "a", "1:a", "~", "é", "ab"]),
    st.none() | st.sampled_from([0.0, -0.0, 0.1, 0.1 + 2**-54]),
    st.none() | st.lists(st.none() | st.integers(0, 11), max_size=3),
    st.none() | st.booleans(),
)


def table(rows):
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


@given(st.lists(ROW, max_size=20), st.lists(st.integers(0, 20), max_size=4), st.randoms())
def test_order_and_layout_do_not_matter(rows, cuts, shuffler):
    shuffled = rows[:]
    shuffler.shuffle(shuffled)
    bounds = [0, *sorted(cuts), len(rows)]
    parts = [table(shuffled[a:b]) for a, b in itertools.pairwise(bounds)]
    parts[0] = parts[0].select(SCHEMA.names[::-1]).replace_schema_metadata({"written": "elsewhere"})
    assert rows_digest(parts) == rows_digest([table(rows)])


@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=6))
def test_two_tables_have_an_equal_digest_only_if_their_rows_are_equal(one, two):
    # repr tells -0.0 from 0.0 and shows every bit of a float
    assert (rows_digest([table(one)]) == rows_digest([table(two)])) == (
        sorted(map(repr, one)) == sorted(map(repr, two))
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ([{"a": "x", "b": "y"}], [{"a": "xy", "b": ""}]),  # where a value ends
        ([{"a": ["1", "2"]}], [{"a": ["12"]}]),
        ([{"a": []}], [{"a": None}]),
        ([{"a": ""}], [{"a": None}]),
        ([{"a": "x"}], [{"b": "x"}]),  # what a column is called
        ([{"a": "x"}], [{"a": "x"}] * 2),  # how often
        ([{"a": "x"}] * 2 + [{"a": "y"}], [{"a": "x"}] + [{"a": "y"}] * 2),
    ],
)
def test_what_must_not_be_confused_is_not(one, two):
    assert rows_digest([pa.Table.from_pylist(one)]) != rows_digest([pa.Table.from_pylist(two)])


def test_a_dictionary_column_is_worth_its_values_and_a_slice_its_rows():
    plain = pa.table({"a": ["x", "y", "x", None], "b": [["1"], [], None, ["2", "3"]]})
    coded = plain.set_column(0, "a", plain["a"].dictionary_encode())
    assert rows_digest([coded]) == rows_digest([plain])
    assert rows_digest([plain.slice(1, 2)]) == rows_digest([pa.table({"a": ["y", "x"], "b": [[], None]}, plain.schema)])


def test_more_rows_than_a_batch_holds_are_all_counted():
    numbers = list(range(70_000))
    whole = rows_digest([pa.table({"n": numbers})])
    random.Random(0).shuffle(numbers)
    assert rows_digest([pa.table({"n": numbers})]) == whole
    assert rows_digest([pa.table({"n": numbers[1:]})]) != whole


def save(url, parts):
    output = Output(url, "dataset", overwrite=True)
    files = []
    for number, part in enumerate(parts):
        sink = io.BytesIO()
        pq.write_table(part, sink)
        path = f"rejected/{number}.parquet"
        files.append(output.write(path, sink.getvalue(), table="rejected", rows=len(part)))
    return output.publish(files, inputs=[], configuration={}, counters={})


def test_a_dataset_has_one_digest_a_table_whatever_its_files(memory):
    rows = [{"stage": "read", "reason": r, "score": s, "payload": "{}"} for r, s in (("a", None), ("b", 0.5), ("a", 1))]
    tables = [pa.Table.from_pylist(part, TABLES["rejected"]) for part in (rows, rows[2:], rows[:2])]
    one, two = save(f"{memory}/one", tables[:1]), save(f"{memory}/two", tables[1:])
    first, second = (content_digest(open_dataset(f"{memory}/{name}")) for name in ("one", "two"))
    assert one.digest != two.digest
    assert first == second
    assert list(first) == list(TABLES)
    assert first["questions"] == first["pairs"] != first["rejected"]  # both are empty
    assert all(len(digest) == 64 for digest in first.values())


def test_a_damaged_file_has_no_digest(tmp_path):
    url = str(tmp_path / "dataset")
    save(url, [pa.Table.from_pylist([{"stage": "a", "reason": "b", "payload": "c"}], TABLES["rejected"])])
    [file] = read_manifest(url).files
    with open(f"{url}/{file.path}", "r+b") as damaged:
        damaged.write(b"X")
    with pytest.raises(QprError, match="does not match the manifest's sha256"):
        content_digest(open_dataset(url))
