import json
import re

import pytest

from pipelines.reading import batches
from pipelines.reading.lines import MAX_ROW_BYTES
from pipelines.reading.reader import check_header, read
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
        (b"\n\n", "they are blank"),
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


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {},
            "no column question; there are ask, id. Objects and lists (ask) are not read. Make columns of their fields",
        ),
        ({"question": "ask"}, "column ask holds objects or lists, which are not read. Make columns of their fields"),
        ({"question": "ask.text"}, "no column ask.text; there are ask, id. Objects and lists (ask) are not read. Make"),
    ],
)
def test_a_column_of_objects_is_not_suggested_and_its_fields_are_no_columns(tmp_path, question, message):
    source = lines_file(tmp_path, b'{"ask": null}', b'{"ask": {"text": "how do I pay?"}, "id": 7}', b'{"ask": ["a"]}')
    with pytest.raises(QprError, match=re.escape(message)) as raised:
        check_header(source, COLUMNS, question)
    assert "question=ask " not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "path"), [("question", ".question.FIELD"), ("ask", ".ask.FIELD"), ("the ask", '.["the ask"].FIELD')]
)
def test_the_step_for_a_column_of_objects_names_the_column_of_the_file(tmp_path, name, path):
    source = lines_file(tmp_path, json.dumps({name: {"text": "how do I pay?"}}).encode())
    with pytest.raises(QprError, match=re.escape(f"jq -c '. + {{question: {path}}}' with the name of one")):
        check_header(source, COLUMNS)


def test_a_file_with_few_objects_among_texts_is_read(tmp_path):
    check_header(lines_file(tmp_path, b'{"question": {"text": "a"}}', b'{"question": "how do I pay?"}'), COLUMNS)
