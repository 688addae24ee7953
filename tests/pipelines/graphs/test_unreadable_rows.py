"""Rejected rows of logs: valid JSON, and one hash for all rows of a user, readable or not."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.graphs.from_logs import read_asked
from pipelines.privacy.settings import Privacy
from pipelines.privacy.suppression import Suppression
from pipelines.privacy.users import UserKey, as_text, hash_users
from pipelines.questions.settings import Validation
from pipelines.reading import jsonl
from pipelines.reading.sources import expand

KEY = UserKey(b"the key of this test")


def rejected(path, privacy=None, key=KEY, suppression=None):
    """Return reason and payload of each rejected row."""
    [source] = expand([str(path)])
    written = [*read_asked(source, {}, Validation(), privacy or Privacy(), key, suppression)]
    tables = [part.value for part in written if getattr(part, "tag", "") == "rejects"]
    return [
        (row["reason"], json.loads(row["payload"], parse_constant=pytest.fail))
        for table in tables
        for row in table.to_pylist()
    ]


def suppression_of(*users):
    return Suppression(frozenset(), frozenset(hash_users(pa.array(users), KEY).to_pylist()), KEY)


@pytest.mark.parametrize(
    ("written", "read"),
    [("12.50", "12.50"), ("true", "true"), ("1e2", "1e2"), (str(2**70), str(2**70)), ('"\\u007a"', "z")],
)
def test_all_rejected_rows_of_a_user_in_json_lines_have_one_hash(tmp_path, written, read):
    path = tmp_path / "log.jsonl"
    rows = ('{"question": ["q"], "answer": "x", "user_id": %s}', '{"question": "q", "answer": null, "user_id": %s}')
    path.write_text("".join(row % written + "\n" for row in rows))
    assert {payload["user_id"] for _, payload in rejected(path)} == {
        as_text(hash_users(pa.array([read]), KEY))[0].as_py()
    }
    assert len(rejected(path)) == 2
    assert rejected(path, suppression=suppression_of(read)) == []


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (pa.array([123.0, 123.0]), "123"),
        (pa.array([0.5, 0.5], pa.float16()), "0.5"),
        (pa.array([True, True]), "true"),
        (pa.array([7, 7], pa.uint64()), "7"),
        (pa.array([7, 7]).dictionary_encode(), "7"),
        (pa.array([0, 0], pa.date32()), "1970-01-01"),
        (pa.array(["u", "u"], pa.string_view()), "u"),
    ],
)
def test_all_rejected_rows_of_a_user_in_parquet_have_one_hash(tmp_path, stored, read):
    path = tmp_path / "log.parquet"
    questions = pa.array([b"\xff bad", b"how do I pay"])
    pq.write_table(pa.table({"question": questions, "answer": ["x", None], "user_id": stored}), path)
    assert {payload["user_id"] for _, payload in rejected(path)} == {
        as_text(hash_users(pa.array([read]), KEY))[0].as_py()
    }
    assert len(rejected(path)) == 2
    assert rejected(path, suppression=suppression_of(read)) == []


@pytest.mark.parametrize("user", ['{"user_id": "u1"}', r'{"\u0075ser_id": 7}'])
@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_row_is_stored_alike_before_and_after_those_with_a_user(tmp_path, monkeypatch, user, place):
    monkeypatch.setattr(jsonl, "BATCH_ROWS", 2)
    path = tmp_path / "log.jsonl"
    rows = ['{"question": "how do I pay", "answer": "In the app"}'] * 4
    rows.insert(place, '{"question": "my name is Ann", "answer":')
    rows.insert(place, '{"question": ["my name is Ann"], "answer": "x", "note": "Ann"}')
    path.write_text("\n".join([*rows, user]))
    stored = dict(rejected(path))
    assert (stored["invalid_json"], stored["wrong_type"]) == ({"characters": 40}, {"answer": "x"})
    path.write_text("\n".join(rows[place + 1 : place + 2] + rows[:place] + ['{"answer": "x", "user_id": null}']))
    [source] = expand([str(path)])
    [unread] = [part.value for part in read_asked(source, {}, Validation(), Privacy()) if is_read_reject(part)]
    assert unread["payload"].to_pylist() == ['{"question": "my name is Ann", "answer":']


def is_read_reject(part):
    return getattr(part, "tag", "") == "rejects" and part.value["stage"][0].as_py() == "read"


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize(
    "row",
    [
        r'{"question": "where is it \ud83d", "answer": "x", "user_id": "u1"}',
        r'{"question": "where is it", "answer": ["y"], "locale": "\ud83d", "user_id": "u1"}',
        r'{"question": "where is it", "answer": "x", "user_id": "u\ud83d"}',
        r'{"question": "where is it \ud83d", "answer": "x"}',
        r'{"question": "where is it \ud83d", "answer": "x", "confidence": NaN, "timestamp": 1e999, "user_id": "u1"}',
    ],
)
def test_a_row_with_half_a_character_is_rejected_alone(tmp_path, row, key):
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"question": "how do I pay", "answer": "In the app", "user_id": "u1"}}\n{row}\n')
    [(reason, payload)] = rejected(path, key=key)
    assert reason in ("invalid_utf8", "wrong_type")
    assert payload["question"].startswith("where is it")
    assert ("user_id" in payload) == (key is not None and '"u1"' in row)
    assert rejected(path, privacy=Privacy(min_users=2), key=key)[-1][1].keys() == {"characters"}
    assert len(rejected(path, suppression=suppression_of("u2"))) == 1


def test_numbers_that_are_not_finite_are_missing_values(tmp_path):
    path = tmp_path / "log.parquet"
    columns = {
        "question": pa.array([b"how do I pay", b"how do I pay", b"\xff"]),
        "answer": pa.array([math.nan, 1.0, 2.0]),
        "answer_id": pa.array([math.inf, -math.inf, math.nan]),
        "user_id": pa.array([1.0, math.nan, math.nan]),
    }
    pq.write_table(pa.table(columns), path)
    assert [reason for reason, _ in rejected(path)] == ["missing_answer", "invalid_utf8"]
    assert [payload.get("answer") for _, payload in rejected(path)] == [None, "2"]


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize(
    ("row", "stored"),
    [
        (
            '{"question": "mail jo@b.org", "question": ["x"], "answer": "y"}',
            '{"question": "mail [email]", "question": ["x"], "answer": "y"}',
        ),
        *(
            tuple('{"question":' + "[" * depth + f'"{text}"' + "]" * depth + "}" for text in ("a@b.org", "[email]"))
            for depth in (100, 460, 480, 900)
        ),
    ],
    ids=["repeated", "100", "460", "480", "900"],
)
def test_an_object_with_a_repeated_name_or_many_levels_is_scrubbed_as_a_line(tmp_path, row, stored, key):
    path = tmp_path / "log.jsonl"
    path.write_text(row + "\n")
    [source] = expand([str(path)])
    written = [*read_asked(source, {}, Validation(), Privacy(), key, None)]
    [table] = [part.value for part in written if getattr(part, "tag", "") == "rejects"]
    assert table["payload"].to_pylist() == [stored[:1000]]
    length = json.dumps({"characters": len(row[:1000])})
    written = [*read_asked(source, {}, Validation(), Privacy(), KEY, suppression_of("zoe"))]
    [table] = [part.value for part in written if getattr(part, "tag", "") == "rejects"]
    assert table["payload"].to_pylist() == [length]
