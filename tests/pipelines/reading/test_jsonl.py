import gzip
import json
import re

import pytest

from pipelines.reading import batches
from pipelines.reading.lines import MAX_ROW_BYTES
from pipelines.reading.reader import check_header, column_names, read
from pipelines.reading.sources import expand
from schemas.errors import QprError
from tests.support.read_files import COLUMNS, read_all, source_of


def lines_file(folder, *lines):
    return source_of(folder, b"\n".join(lines))


def read_lines(folder, *lines, names=None):
    return read_all(lines_file(folder, *lines), names=names)


def test_values_become_the_required_types(tmp_path):
    rows, rejected = read_lines(
        tmp_path,
        b'{"question": "a", "answer_id": 42, "timestamp": 0, "confidence": 0.5, "more": [1]}\r',
        b'{"question": "b", "answer_id": true, "timestamp": "1970-01-01T00:00:00Z", "confidence": "0.5"}',
        b"  ",
        b'{"question": null, "answer_id": "", "confidence": NaN}',
        b'{"question": 1.50}',
    )
    assert [(r["question"], r["answer_id"], r["confidence"]) for r in rows] == [
        ("a", "42", 0.5),
        ("b", "true", 0.5),
        (None, None, None),  # the empty id is no id
        ("1.50", None, None),  # a number as text keeps its digits
    ]
    assert rows[0]["timestamp"] == rows[1]["timestamp"] is not None
    assert rows[2]["timestamp"] is None
    assert rejected == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"question": "a"', "invalid_json"),
        (b"question: a", "invalid_json"),
        (b'{"question": "a"}{"question": "b"}', "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b'["a"]', "not_an_object"),
        (b"null", "not_an_object"),
        (b'"a"', "not_an_object"),
        (b'{"question": "\xff"}', "invalid_utf8"),
        (rb'{"question": "\ud800 a"}', "invalid_utf8"),
        (rb'{"question": "a\u0000"}', "nul_byte"),
        (b'{"question": "a\0"}', "nul_byte"),
        (b'{"question": ["a"]}', "wrong_type"),
        (b'{"question": "a", "confidence": {}}', "wrong_type"),
        (b'{"question": "' + b"x" * MAX_ROW_BYTES + b'"}', "row_too_long"),
    ],
)
def test_a_line_that_is_no_row_is_rejected_with_its_reason_and_its_neighbours_are_kept(tmp_path, line, reason):
    rows, rejected = read_lines(tmp_path, b'{"question": "before"}', line, b'{"question": "after"}')
    assert [row["question"] for row in rows] == ["before", "after"]
    assert rejected == [(reason, line[:1000].decode("utf-8", "backslashreplace"))]


def test_surrogates_in_pairs_are_one_character(tmp_path):
    rows, rejected = read_lines(tmp_path, rb'{"question": "\ud83d\ude00"}')
    assert (rows[0]["question"], rejected) == ("😀", [])


def test_a_flaw_in_an_unused_column_does_no_harm(tmp_path):
    rows, rejected = read_lines(tmp_path, rb'{"question": "a", "more": "\ud800\u0000", "deep": {"x": []}}')
    assert (rows[0]["question"], rejected) == ("a", [])


def test_columns_are_read_under_the_names_given(tmp_path):
    rows, _ = read_lines(tmp_path, b'{"prompt": "a", "question": "b"}', names={"question": "prompt"})
    assert rows[0]["question"] == "a"


def test_batches_are_bounded_in_rows_and_in_bytes(tmp_path, monkeypatch):
    line = json.dumps({"question": "x" * 84}).encode()  # 100 bytes and a line end
    source = lines_file(tmp_path, *[line] * 50_000)
    monkeypatch.setattr("pipelines.reading.jsonl.BATCH_ROWS", 20_000)
    assert max(batch.rows.num_rows for batch in read(source, COLUMNS)) <= 20_000
    monkeypatch.setattr("pipelines.reading.jsonl.BATCH_BYTES", 1_200_000)
    sizes = [batch.rows.num_rows for batch in read(source, COLUMNS)]
    assert (max(sizes) <= 12_000, sum(sizes)) == (True, 50_000)
    assert batches.BATCH_ROWS == 65_536


def test_the_header_check_looks_at_the_keys_of_the_first_rows(tmp_path):
    good = lines_file(tmp_path, b"broken", b'{"answer_id": 1}', b'{"question": "a"}')
    check_header(good, COLUMNS)
    late = lines_file(tmp_path, *[b'{"prompt": "a"}'] * 100, b'{"question": "a"}')
    with pytest.raises(QprError, match=r"no column question; there are prompt\. .*--column question=prompt"):
        check_header(late, COLUMNS)
    check_header(late, COLUMNS, {"question": "prompt"})


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"[", "invalid_json"),
        (b"\n" * 10_000 + b"{}", "they are blank"),
        (b'[{"question": "a"}]', "not_an_object"),
        (b"question\n1", "invalid_json, not_an_object"),
        (b'{"question": "' + b"a" * MAX_ROW_BYTES, "row_too_long"),
    ],
)
def test_a_file_without_an_object_is_explained_before_the_run(tmp_path, content, found):
    with pytest.raises(
        QprError, match=rf"none of the first lines is a JSON object \({found}\)\. Write one object per line"
    ):
        check_header(lines_file(tmp_path, content), COLUMNS)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_without_a_row_is_copied_again_or_left_out(tmp_path, content):
    file = tmp_path / "log.jsonl.gz"
    file.write_bytes(gzip.compress(content))  # a day without rows, packed: more than 0 bytes
    (source,) = expand([str(file)])
    with pytest.raises(QprError, match=r"log\.jsonl\.gz: the file has no row\. Copy it again or leave it out$"):
        check_header(source, COLUMNS)


@pytest.mark.parametrize("first", [b"{}", b'{"ask": null}'])
def test_the_fields_of_objects_are_columns_and_the_objects_are_not(tmp_path, first):
    source = lines_file(tmp_path, first, b'{"ask": {"text": "how do I pay?", "by": {"id": 7}}, "n": "1"}')
    assert sorted(column_names(source)) == ["ask.by.id", "ask.text", "n"]
    for question in ({}, {"question": "ask"}):
        with pytest.raises(QprError, match=r"there are ask\.text, ask\.by\.id, n\. Add: --column question=ask\.text$"):
            check_header(source, COLUMNS, question)
    check_header(source, COLUMNS, {"question": "ask.text", "answer_id": "ask.by.id"})


def test_fields_are_read_a_key_with_full_stops_first_and_other_values_are_rejected(tmp_path):
    rows = [
        {"ask": {"text": "a", "by": {"id": 7}}},
        {"ask.text": "b", "ask": {"text": "c", "by": {"id": None}}},
        {"ask": {"text": "d", "by": "x"}},
        {"ask": None},
        {"ask": {"text": {"de": "e"}}},
        {"ask": [{"text": "f"}]},
        {"ask.by": {"id": "9"}, "ask": {"text": "g"}},
    ]
    source = lines_file(tmp_path, *(json.dumps(row).encode() for row in rows))
    [batch] = read(source, COLUMNS, {"question": "ask.text", "answer_id": "ask.by.id"})
    assert batch.rows["question"].to_pylist() == ["a", "b", "d", None, None, "g"]
    assert batch.rows["answer_id"].to_pylist() == ["7", None, None, None, None, "9"]
    assert batch.rejects["reason"].to_pylist() == ["wrong_type"]
    assert json.loads(batch.rejects["payload"][0].as_py()) == rows[4]


def test_an_optional_column_of_objects_is_an_error_that_proposes_a_field(tmp_path):
    source = lines_file(tmp_path, b'{"question": "a", "timestamp": {"$date": "2026-11-20T00:00:00Z"}}')
    step = "no column timestamp; there are question, timestamp.$date. Add: --column 'timestamp=timestamp.$date'"
    with pytest.raises(QprError, match=re.escape(step)):
        check_header(source, COLUMNS)
    check_header(lines_file(tmp_path, b'{"question": "a", "timestamp.$date": "2026-11-20"}'), COLUMNS)
    [batch] = read(source, COLUMNS, {"timestamp": "timestamp.$date"})
    assert batch.rows["timestamp"].to_pylist()[0].day == 20


def test_a_field_that_only_a_late_object_has_is_found(tmp_path):
    rows = [b'{"question": "a", "user": {"name": "id"}}'] * 200
    source = lines_file(tmp_path, *rows, b'{"question": "a", "user": {"\\u0069d": "7"}}')
    [batch] = read(source, COLUMNS, {"answer_id": "user.id"})
    assert batch.has("answer_id")
    [batch] = read(lines_file(tmp_path, *rows), COLUMNS, {"answer_id": "user.id"})
    assert not batch.has("answer_id")
    in_list = b'{"question": "a", "user": {"ids": [null, "7"]}}'
    for path, has in (("user.ids[1]", True), ("user.ids[0]", False), ("user.ids[-1]", True)):
        [batch] = read(lines_file(tmp_path, *rows, in_list), COLUMNS, {"answer_id": path})
        assert batch.has("answer_id") == has


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {},
            "no column question; there are ask, id. Of lists (ask) single values are columns: ask[0] is the first "
            "value, ask[-1] the last, ask[0].FIELD a field of an object. Add, with one of them for NAME: --column q",
        ),
        (
            {"question": "ask"},
            "column ask is one of lists. Name one value of each, such as --column 'question=ask[0]', the",
        ),
    ],
)
def test_a_column_of_lists_is_not_suggested(tmp_path, question, message):
    source = lines_file(tmp_path, b'{"ask": null}', b'{"ask": ["how do I pay?"], "id": 7}', b'{"ask": []}')
    with pytest.raises(QprError, match=re.escape(message)) as raised:
        check_header(source, COLUMNS, question)
    assert "question=ask " not in str(raised.value)


def test_values_of_lists_are_read_by_place_as_of_the_messages_of_a_language_model(tmp_path):
    def logged(*texts, reply):
        messages = [{"role": "user", "content": text} for text in texts]
        return {"request": {"messages": messages}, "response": {"choices": [{"message": {"content": reply}}]}}

    rows = [logged("be kind", "how do I pay?", reply="by card"), logged("hi", reply=None), logged(reply="yes")]
    rows += [{"request": {"messages[-1].content": "a"}, "response": {"choices": {"0": "b"}}}, {"request": []}]
    source = lines_file(tmp_path, *(json.dumps(row).encode() for row in rows))
    names = {"question": "request.messages[-1].content", "answer_id": "response.choices[0].message.content"}
    check_header(source, COLUMNS, names)
    [batch] = read(source, COLUMNS, names)
    assert batch.rows["question"].to_pylist() == ["how do I pay?", "hi", None, "a", None]
    assert batch.rows["answer_id"].to_pylist() == ["by card", None, "yes", None, None]
    assert batch.has("answer_id")
    with pytest.raises(
        QprError, match=r"no column request\.messages\[0\];.*'question=request\.messages\[0\]\.content'"
    ):
        check_header(source, COLUMNS, {"question": "request.messages[0]"})


@pytest.mark.parametrize(
    "path", ["a[", "a[]", "a[x]", "a[0", "a[0]b", "a[0].", "a[1]", "a[-2]", "a[0][1]", "b[0]", "a[9999999999]"]
)
def test_a_name_that_no_object_has_a_value_for_is_missing(tmp_path, path):
    source = lines_file(tmp_path, b'{"a": [["how do I pay?"]], "b": {"0": "c"}}')
    with pytest.raises(QprError, match=re.escape(f"no column {path}; there are a, b.0. ")):
        check_header(source, COLUMNS, {"question": path})
    check_header(source, COLUMNS, {"question": "a[0][-1]"})
    [batch] = read(source, COLUMNS, {"question": "a[0][-1]"})
    assert batch.rows["question"].to_pylist() == ["how do I pay?"]


def test_a_line_of_very_deep_objects_has_no_field_beyond_the_limit_but_it_can_be_read(tmp_path):
    row = {"question": "a"}
    for _ in range(100):
        row = {"a": row}
    source = lines_file(tmp_path, json.dumps(row).encode())
    assert column_names(source) == []
    [batch] = read(source, COLUMNS, {"question": ".".join("a" * 100) + ".question"})
    assert batch.rows["question"].to_pylist() == ["a"]


def test_a_file_with_few_objects_among_texts_is_read(tmp_path):
    check_header(lines_file(tmp_path, b'{"question": {"text": "a"}}', b'{"question": "how do I pay?"}'), COLUMNS)
