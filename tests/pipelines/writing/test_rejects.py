import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import MEMBERS, REJECTS
from pipelines.writing import rejects
from pipelines.writing.rejects import (
    MAX_PAYLOAD_CHARACTERS,
    json_objects,
    json_strings,
    reject,
    reject_members,
    reject_rows,
)
from schemas.text import hash64, key

awkward = st.text() | st.text('"\\\n\t\r\b\f\x00\x1f\x7f\u2028/{}:,é😀')
rows = st.lists(st.tuples(awkward | st.none(), st.integers(-(2**63), 2**63 - 1) | st.none(), awkward), max_size=8)


@given(rows)
def test_a_payload_is_the_row_as_json_without_its_nulls(rows):
    names = ("question", "events", 'odd "name"')
    kinds = (pa.string(), pa.int64(), pa.string())
    columns = {n: pa.array([row[i] for row in rows], kinds[i]) for i, n in enumerate(names)}
    expected = [{n: v for n, v in zip(names, row, strict=True) if v is not None} for row in rows]
    assert [json.loads(text) for text in json_objects(pa.table(columns)).to_pylist()] == expected
    chunked = {n: pa.chunked_array([a.slice(0, 1), a.slice(1)], a.type) for n, a in columns.items()}
    assert json_objects(pa.table(chunked)).to_pylist() == json_objects(pa.table(columns)).to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rejects, "_AT_ONCE", 3)
        assert json_objects(pa.table(columns)).equals(json_objects(pa.table(chunked)))
        assert [json.loads(text) for text in json_objects(pa.table(columns)).to_pylist()] == expected


def test_a_row_of_nulls_is_an_empty_object():
    assert json_objects(pa.table({"a": pa.nulls(2, pa.string()), "b": pa.nulls(2, pa.int64())})).to_pylist() == [
        "{}",
        "{}",
    ]


def test_numbers_are_numbers():
    assert json_objects(pa.table({"x": pa.array([0.25, None])})).to_pylist() == ['{"x": 0.25}', "{}"]


@given(st.lists(awkward | st.none(), max_size=8))
def test_json_strings_read_back(texts):
    written = json_strings(pa.array(texts, pa.string())).to_pylist()
    assert [w if w is None else json.loads(w) for w in written] == texts


def test_one_reason_serves_all_rows_or_each_has_its_own():
    payloads = pa.array(["a", "b"])
    one = reject(payloads, stage="size", reasons="single_question", scores=pa.array([0.5, None]))
    assert one.schema.equals(REJECTS)
    assert one.to_pylist() == [
        {"shard_key": hash64("a"), "stage": "size", "reason": "single_question", "score": 0.5, "payload": "a"},
        {"shard_key": hash64("b"), "stage": "size", "reason": "single_question", "score": None, "payload": "b"},
    ]
    each = reject(payloads, stage="read", reasons=pa.array(["x", "y"]), shard_keys=pa.array([1, 2]))
    assert each["reason"].to_pylist() == ["x", "y"]
    assert each["shard_key"].to_pylist() == [1, 2]


@pytest.mark.parametrize("length", [MAX_PAYLOAD_CHARACTERS, MAX_PAYLOAD_CHARACTERS + 1])
def test_a_payload_is_cut_at_the_limit(length):
    [payload] = reject(pa.array(["é" * length]), stage="read", reasons="x")["payload"].to_pylist()
    assert payload == "é" * MAX_PAYLOAD_CHARACTERS


@pytest.mark.parametrize("length", [9_970, MAX_PAYLOAD_CHARACTERS, MAX_PAYLOAD_CHARACTERS + 1, 100_000])
def test_the_payload_of_a_member_is_a_whole_object_with_a_cut_answer(length):
    question, answers = '"' * MAX_PAYLOAD_CHARACTERS, ["é" * length + end for end in ("a", "b", "a")]
    members = pa.Table.from_pylist(
        [{"question_id": 1, "text": question, "answer": answer, "cluster_id": 7} for answer in answers], schema=MEMBERS
    )
    payloads = reject_members(members, stage="linkage", reason="no_paraphrase")["payload"].to_pylist()
    rows = [json.loads(payload) for payload in payloads]
    assert [row["question"] for row in rows] == [question] * 3
    assert [row["answer"] for row in rows] == [answer[:MAX_PAYLOAD_CHARACTERS] for answer in answers]
    assert all(("answer_hash" in row) == (length >= MAX_PAYLOAD_CHARACTERS) for row in rows)
    assert rows[0] == rows[2] != rows[1]


def test_the_payload_of_a_row_is_a_whole_object_with_cut_texts():
    start = "é" * MAX_PAYLOAD_CHARACTERS
    texts = [start, f"{start}A ", f"{start}a", None]
    rows = pa.table({"question": texts, "answer": texts[::-1], "user_id": ["u"] * 4})
    payloads = reject_rows(rows, pa.array(["x", "too_long", "too_long", "x"]))["payload"].to_pylist()
    found = [json.loads(payload) for payload in payloads]
    cut = [text and text[:MAX_PAYLOAD_CHARACTERS] for text in texts]
    assert [row.get("question") for row in found] == [row.get("answer") for row in found[::-1]] == cut
    of_key = str(hash64(key(texts[1])))
    assert [row.get("question_key_hash") for row in found] == [None, of_key, of_key, None]
    assert [row.get("answer_key_hash") for row in found] == [None, of_key, of_key, None]
    assert {row["user_id"] for row in found} == {"u"}
    few = pa.table({"question": ["é"], "answer": ["x"]})
    assert reject_rows(few, pa.array(["x"])).equals(reject(json_objects(few), stage="validate", reasons="x"))


def test_nothing_is_rejected_from_nothing():
    assert reject(pa.array([], pa.string()), stage="read", reasons="x").schema.equals(REJECTS)


def test_a_batch_without_rejected_rows_makes_no_payloads(monkeypatch):
    monkeypatch.setattr(rejects, "json_objects", None)
    none = reject_rows(pa.table({"question": ["a", "b"]}), pa.nulls(2, pa.string()))
    assert none.equals(REJECTS.empty_table())
