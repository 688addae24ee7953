import dataclasses
import datetime
import json
import math
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.reading.lines import MAX_ROW_BYTES
from pipelines.reading.parquet import divide_parquet
from pipelines.reading.reader import check_header, read
from pipelines.reading.sources import expand
from schemas.errors import QprError, WrongColumnsError
from tests.support.read_files import COLUMNS, read_all


def table_file(folder, **columns):
    pq.write_table(pa.table(columns), folder / "x.parquet", row_group_size=1000)
    return expand([str(folder / "x.parquet")])[0]


def read_columns(source, names=None):
    rows, rejected = read_all(source, names=names)
    return rows, [(reason, json.loads(payload)) for reason, payload in rejected]


def not_utf8(*values, kind):
    offsets = pa.array([0, *(sum(map(len, values[: i + 1])) for i in range(len(values)))], pa.int32())
    return pa.Array.from_buffers(kind, len(values), [None, offsets.buffers()[1], pa.py_buffer(b"".join(values))])


TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.dictionary(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("kind", TEXT_TYPES)
def test_text_is_read_from_every_type_that_holds_it(tmp_path, kind):
    texts = pa.array(["ä", None, "b", ""]).cast(pa.string())
    stored = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    rows, rejected = read_columns(table_file(tmp_path, question=stored, answer_id=stored))
    assert [(row["question"], row["answer_id"]) for row in rows] == [("ä", "ä"), (None, None), ("b", "b"), ("", None)]
    assert rejected == []


def test_numbers_and_times_become_the_required_types(tmp_path):
    noon = datetime.datetime(2024, 3, 1, 12)
    rows, _ = read_columns(
        table_file(
            tmp_path,
            question=[True],
            answer_id=[42],
            timestamp=pa.array([noon], pa.timestamp("ns")),
            confidence=pa.array([1], pa.int8()),
        )
    )
    expected = {"question": "true", "answer_id": "42", "timestamp": noon.replace(tzinfo=datetime.UTC), "confidence": 1}
    assert rows == [expected]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_rows_with_unusable_text_are_rejected_one_by_one(tmp_path, kind):
    texts = not_utf8(b"fine", b"bad \xff", b"nul \0", b"last", kind=kind)
    rows, rejected = read_columns(table_file(tmp_path, question=texts, answer_id=list("abcd")))
    assert [row["question"] for row in rows] == ["fine", "last"]
    assert [reason for reason, _ in rejected] == ["invalid_utf8", "nul_byte"]
    assert rejected[0][1] == {"question": "bad \\xff", "answer_id": "b"}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ({"answer_id": pa.array([12.5, 3.0])}, {"answer_id": "12.5"}),
        ({"answer_id": pa.array([3.0, 12.5])}, {"answer_id": "3"}),
        ({"answer_id": pa.array([True, False])}, {"answer_id": "true"}),
        ({"answer_id": pa.array([math.nan, 1])}, {"answer_id": None}),
        ({"confidence": pa.array([math.inf, 1])}, {"confidence": None}),
        ({"confidence": pa.array([0.5, math.nan])}, {"confidence": 0.5}),
        ({"timestamp": pa.array([10**12, 0], pa.timestamp("s"))}, {"timestamp": None}),
        ({"timestamp": pa.array([0, 10**12], pa.timestamp("s"))}, {"timestamp": "1970-01-01 00:00:00.000"}),
        ({"timestamp": pa.array([1_700_000_000, 0])}, {"timestamp": 1_700_000_000}),
    ],
)
def test_a_payload_is_json_with_the_values_as_they_are_read(tmp_path, stored, shown):
    def refuse(constant):
        raise AssertionError(constant)

    source = table_file(tmp_path, question=not_utf8(b"\xff", b"fine", kind=pa.string()), **stored)
    [payload] = next(iter(read(source, COLUMNS))).rejects["payload"].to_pylist()
    assert json.loads(payload, parse_constant=refuse) == {"question": "\\xff", **shown}


def test_a_long_text_is_rejected_with_its_start(tmp_path):
    (batch,) = read(table_file(tmp_path, question=["x" * (MAX_ROW_BYTES + 1), "y" * MAX_ROW_BYTES]), COLUMNS)
    assert batch.rows.num_rows == 1
    assert batch.rejects["reason"].to_pylist() == ["row_too_long"]
    assert len(batch.rejects["payload"][0].as_py()) == 1000


def test_a_time_in_bytes_that_are_not_utf8_is_a_flaw_too(tmp_path):
    rows, rejected = read_columns(
        table_file(tmp_path, question=["a", "b"], timestamp=not_utf8(b"\xff", b"0", kind=pa.string()))
    )
    assert ([row["question"] for row in rows], rejected[0][0]) == (["b"], "invalid_utf8")


def test_only_required_columns_are_read_and_two_may_come_from_one(tmp_path):
    source = table_file(tmp_path, prompt=["a"], junk=pa.array([[1]]))
    rows, _ = read_columns(source, {"question": "prompt", "answer_id": "prompt"})
    assert (rows[0]["question"], rows[0]["answer_id"]) == ("a", "a")


def test_batches_are_bounded_and_keep_the_order(tmp_path):
    texts = [f"question {i}" for i in range(100_000)]
    batches = list(read(table_file(tmp_path, question=texts), COLUMNS))
    assert max(batch.rows.num_rows for batch in batches) <= 65_536
    assert [text for batch in batches for text in batch.rows["question"].to_pylist()] == texts


@pytest.mark.parametrize("kind", TEXT_TYPES)
def test_batches_are_bounded_in_bytes_of_text_too(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("pipelines.reading.parquet.BATCH_BYTES", 100)
    texts = pa.array(["a" * 60, None, "b" * 40, "c" * 101, "d" * 60, "e" * 60]).cast(pa.string())
    stored = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    batches = list(read(table_file(tmp_path, question=stored, answer_id=range(6)), COLUMNS))
    assert [batch.rows["question"].to_pylist() for batch in batches] == [
        ["a" * 60, None, "b" * 40],
        ["c" * 101],
        ["d" * 60],
        ["e" * 60],
    ]
    assert [name for batch in batches for name in batch.rows["answer_id"].to_pylist()] == list("012345")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"prompt": ["a"]}, r"no column question; there are prompt\. .*--column question=prompt"),
        ({"question": pa.array([["a"]])}, r"column question holds list<.*>, which cannot be read as string"),
        (
            {"question": ["a"], "confidence": pa.array([[1]])},
            r"confidence holds list.*double\. Name one value of each, such as --column 'confidence=confidence\[0\]'",
        ),
        (
            {"question": ["a"], "confidence": pa.array([{"x": 1}])},
            r"no column confidence; there are question, confidence\.x\. Add: --column confidence=confidence\.x$",
        ),
        ({"question": ["a"], "timestamp": [True]}, r"timestamp holds bool, which cannot be read as timestamp"),
    ],
)
def test_columns_that_do_not_fit_are_explained_before_the_run_and_in_it(tmp_path, columns, message):
    source = table_file(tmp_path, **columns)
    with pytest.raises(WrongColumnsError, match=message):
        check_header(source, COLUMNS)
    with pytest.raises(QprError, match=message):
        list(read(source, COLUMNS))


def test_a_truncated_or_foreign_file_is_named(tmp_path):
    source = table_file(tmp_path, question=["a"] * 1000)
    whole = (tmp_path / "x.parquet").read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-1], b"PAR1", b"question\na\n"):
        (tmp_path / "x.parquet").write_bytes(content)
        with pytest.raises(QprError, match=r"x\.parquet: not a complete Parquet file"):
            check_header(source, COLUMNS)


def test_a_damaged_page_is_an_error_with_the_row(tmp_path):
    source = table_file(tmp_path, question=[f"question {i * 7919}" for i in range(5000)])
    whole = bytearray((tmp_path / "x.parquet").read_bytes())
    whole[4:4000] = b"\xff" * 3996
    (tmp_path / "x.parquet").write_bytes(whole)
    with pytest.raises(QprError, match=r"x\.parquet: the Parquet data is broken after about row 0 "):
        list(read(source, COLUMNS))


@pytest.mark.parametrize("part_bytes", [1, 9_000, 20_000, 1 << 26])
def test_a_file_is_divided_between_row_groups_and_no_row_is_lost_or_read_twice(tmp_path, monkeypatch, part_bytes):
    monkeypatch.setattr("pipelines.reading.parquet.PART_BYTES", part_bytes)
    source = table_file(tmp_path, question=[f"question {n:04}" for n in range(5_500)])  # groups of 1,000, a last of 500
    parts = list(divide_parquet(source))
    with pq.ParquetFile(source.url) as file:
        sizes = [file.metadata.row_group(group).total_byte_size for group in range(6)]
    of_parts = [sum(sizes[slice(*part.groups)]) for part in parts]
    assert all(size >= part_bytes for size in of_parts[:-1])
    assert all(size - sizes[part.groups[1] - 1] < part_bytes for size, part in zip(of_parts, parts, strict=True))
    assert len(parts) == {1: 6, 1 << 26: 1}.get(part_bytes, len(parts))
    read_apart = [row for part in parts for row in read_columns(part)[0]]
    assert read_apart == read_columns(source)[0]


def test_a_file_without_rows_is_one_part(tmp_path):
    assert len(list(divide_parquet(table_file(tmp_path, question=pa.array([], pa.string()))))) == 1


def test_a_damaged_page_in_a_later_part_is_an_error_with_the_row_of_the_file(tmp_path):
    source = table_file(tmp_path, question=[f"question {n:04}" for n in range(3_000)])
    with pq.ParquetFile(source.url) as file:
        start = file.metadata.row_group(2).column(0).dictionary_page_offset
    content = bytearray((tmp_path / "x.parquet").read_bytes())
    content[start : start + 40] = bytes(40)
    (tmp_path / "x.parquet").write_bytes(content)
    assert len(list(read(dataclasses.replace(source, groups=(0, 2)), COLUMNS))) > 0
    with pytest.raises(QprError, match="broken after about row 2000"):
        list(read(dataclasses.replace(source, groups=(2, 3)), COLUMNS))


def test_two_columns_of_one_name_matter_only_where_one_is_required(tmp_path):
    columns = [pa.array(["a"]), pa.array(["1"]), pa.array(["2"])]
    pq.write_table(pa.table(columns, names=["question", "x", "x"]), tmp_path / "x.parquet")
    [source] = expand([str(tmp_path / "x.parquet")])
    assert [batch.rows["question"].to_pylist() for batch in read(source, COLUMNS)] == [["a"]]
    with pytest.raises(WrongColumnsError, match=r"two columns have the name 'x'\. Rename one"):
        check_header(source, COLUMNS, {"question": "x"})


def test_columns_are_suggested_by_what_they_hold(tmp_path):
    pq.write_table(pa.table({"n": [1], "c": ["how do I pay?"]}), tmp_path / "x.parquet")
    with pytest.raises(QprError, match=r"there are n, c\. Add: --column question=c$"):
        check_header(expand([str(tmp_path / "x.parquet")])[0], COLUMNS)


def test_columns_are_suggested_beside_values_that_python_cannot_hold(tmp_path):
    columns = {
        "t": pa.array([10**12], pa.timestamp("s")),
        "b": not_utf8(b"\xff", kind=pa.string()),
        "l": pa.array([["a"]]),
        "c": ["how do I pay?"],
    }
    with pytest.raises(QprError, match=r"there are t, b, l, c\. Add: --column question=c$"):
        check_header(table_file(tmp_path, **columns), COLUMNS)


def test_the_fields_of_structs_are_columns_and_lists_are_not_suggested(tmp_path):
    lists = "there are reply.texts. Of lists (reply.texts) single values are columns: reply.texts[0] is the first value"
    with pytest.raises(QprError, match=re.escape(lists)):
        check_header(table_file(tmp_path, reply=pa.array([{"texts": ["how do I pay?"]}])), COLUMNS)
    with pytest.raises(QprError, match=r"there are reply\.by\.id, reply\.text\. Add: --column question=reply\.text$"):
        check_header(table_file(tmp_path, reply=pa.array([{"by": {"id": 1}, "text": "how do I pay?"}])), COLUMNS)


def test_fields_of_structs_are_read_and_null_where_a_struct_is(tmp_path):
    rows = [{"text": "a", "by": {"id": 7}}, None, {"text": "b", "by": None}, {"text": "c\0", "by": {"id": 9}}]
    file = table_file(tmp_path, reply=pa.array(rows), other=pa.array([1, 2, 3, 4]))
    [batch] = read(file, COLUMNS, {"question": "reply.text", "answer_id": "reply.by.id"})
    assert batch.rows["question"].to_pylist() == ["a", None, "b"]
    assert batch.rows["answer_id"].to_pylist() == ["7", None, None]
    assert batch.rejects.to_pylist()[0]["reason"] == "nul_byte"
    assert json.loads(batch.rejects["payload"][0].as_py()) == {"question": "c\0", "answer_id": "9"}


def test_a_column_whose_name_has_full_stops_comes_before_a_field(tmp_path):
    file = table_file(tmp_path, ask=pa.array([{"text": "field"}]), **{"ask.text": ["column"]})
    [batch] = read(file, COLUMNS, {"question": "ask.text"})
    assert batch.rows["question"].to_pylist() == ["column"]


@pytest.mark.parametrize(
    ("kind", "further", "first", "last"),
    [
        (pa.list_, [None, "d", ""], [None, "d", None], [None, "d", None]),
        (pa.large_list, [None, "d", ""], [None, "d", None], [None, "d", None]),
        (lambda of: pa.list_(of, 2), ["de"], ["d"], ["e"]),
    ],
)
def test_values_of_lists_are_read_by_place_and_null_beyond_the_end(tmp_path, kind, further, first, last):
    of = pa.struct({"role": pa.string(), "content": pa.struct({"text": pa.string()})})
    turns = [texts and [{"role": "user", "content": {"text": text}} for text in texts] for texts in ["ab", *further]]
    rows = [{"turns": [] if row == "" else row} for row in turns]
    file = table_file(tmp_path, log=pa.array(rows, pa.struct({"turns": kind(of)})))
    names = {"question": "log.turns[0].content.text", "answer_id": "log.turns[-1].content.text"}
    check_header(file, COLUMNS, names)
    [batch] = read(file, COLUMNS, names)
    assert batch.rows["question"].to_pylist() == ["a", *first]
    assert batch.rows["answer_id"].to_pylist() == ["b", *last]
    [batch] = read(file, COLUMNS, {"question": "log.turns[1].role", "answer_id": "log.turns[-3].role"})
    assert batch.rows["question"].to_pylist() == [
        "user",
        *(("user" if row and len(row) > 1 else None) for row in further),
    ]
    assert set(batch.rows["answer_id"].to_pylist()) == {None}


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("turns[0]", r"there are n, turns, turns\[0\]\.role\. Add: --column 'question=turns\[0\]\.role'"),
        (
            "turns[0].text",
            r"there are n, turns\. Of lists \(turns\) single values are columns: turns\[0\] is the first",
        ),
        ("turns[]", "there are n, turns. Of"),
        ("turns[0].", "there are n, turns. Of"),
        ("n[0]", "there are n, turns. Of"),
    ],
)
def test_a_name_in_a_list_that_is_no_value_is_explained(tmp_path, path, there):
    file = table_file(tmp_path, n=[1], turns=pa.array([[{"role": "how do I pay?"}]]))
    with pytest.raises(QprError, match=rf"no column {re.escape(path)}; {there}"):
        check_header(file, COLUMNS, {"question": path})
