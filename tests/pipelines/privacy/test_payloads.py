import json

import pyarrow as pa
import pytest

from pipelines.privacy.payloads import Unreadable, object_in, protect_rows, protect_unreadable, texts_in
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey, as_text, hash_users
from pipelines.writing.rejects import reject
from schemas.tables import QA_LOG

KEY = UserKey(b"k" * 16)
ROW = {"question": "how", "answer": None, "answer_id": "a7", "user_id": "u-secret", "locale": "en"}
ROWS = pa.table({f.name: pa.array([ROW.get(f.name)], f.type) for f in QA_LOG})


def rows_of(users):
    return pa.table(
        {f.name: pa.array(users, f.type) if f.name == "user_id" else pa.nulls(len(users), f.type) for f in QA_LOG}
    )


def unreadable(*payloads, names=None, privacy=None, key=None, has_users=False, users=None):
    rejects = reject(pa.array(payloads, pa.string()), stage="read", reasons="invalid_json")
    rows = rows_of([None] * len(payloads) if users is None else users)
    found = protect_unreadable(Unreadable(rejects, rows), names or {}, privacy or Privacy(), key, has_users=has_users)
    assert found.schema == rejects.schema
    assert set(found["reason"].to_pylist()) <= {"invalid_json"}
    return found["payload"].to_pylist()


def test_a_stored_row_has_a_hash_in_place_of_its_user_or_nothing():
    assert "user_id" not in protect_rows(ROWS, Privacy(), None).column_names
    [row] = protect_rows(ROWS, Privacy(), KEY).to_pylist()
    assert len(row.pop("user_id")) == 16
    assert row == {name: ROW.get(name) for name in QA_LOG.names if name != "user_id"}


def test_a_stored_row_has_no_texts_where_users_are_counted():
    [row] = protect_rows(ROWS, Privacy(min_users=2), None).to_pylist()
    assert {name for name, value in row.items() if value is not None} == {"answer_id", "locale"}


@pytest.mark.parametrize(
    ("payload", "names"),
    [
        ('{"question": ["x"], "user_id": "u-secret"}', {}),
        ('{"q": ["x"], "session": "u-secret", "user_id": 5}', {"question": "q", "user_id": "session"}),
        ('{"question": {"user_id": "u-secret"}, "user_id": ["u-secret"], "client": "u-secret"}', {}),
    ],
    ids=["plain", "mapped", "nested"],
)
def test_an_unreadable_object_loses_its_user_and_columns_that_are_not_read(payload, names):
    [stored] = unreadable(payload, names=names)
    assert "u-secret" not in stored
    assert "client" not in stored
    assert "u-secret" not in unreadable(payload, names=names, key=KEY)[0]


def test_the_other_values_of_an_unreadable_object_stay():
    payload = json.dumps({"question": ["x"], "answer": "yes", "user_id": 12})
    assert json.loads(*unreadable(payload)) == {"answer": "yes"}
    assert json.loads(*unreadable(payload, key=KEY, users=["12"])).keys() == {"answer", "user_id"}


@pytest.mark.parametrize(("name", "names"), [("session", {"user_id": "session"}), ("user_id", {"user_id": "session"})])
def test_a_user_is_hashed_as_the_reader_reads_it_under_the_name_in_the_payload(name, names):
    payload = json.dumps({"question": ["x"], "answer": "yes", name: 12.5})
    expected = as_text(hash_users(pa.array(["12.50"]), KEY))[0].as_py()
    assert json.loads(*unreadable(payload, names=names, key=KEY, users=["12.50"])) == {"answer": "yes", name: expected}
    assert json.loads(*unreadable(payload, names=names, key=KEY, users=[None])) == {"answer": "yes"}


def test_a_character_that_is_no_utf8_and_a_number_that_is_not_finite_are_stored_as_json():
    payload = (
        r'{"question": "where \ud83d", "locale": "\ud83d\ude00", "confidence": 1e999, "timestamp": NaN, '
        r'"user_id": "\ude00"}'
    )
    [stored] = unreadable(payload, key=KEY)
    shown = {"question": r"where \ud83d", "locale": "\U0001f600", "confidence": None, "timestamp": None}
    assert json.loads(stored, parse_constant=pytest.fail) == shown
    assert object_in(r'{"\ud83d": ["\ude00", {"a": "\ud83d"}]}') == {r"\ud83d": [r"\ude00", {"a": r"\ud83d"}]}


def test_a_line_that_names_the_column_of_users_in_any_way_is_stored_as_its_length():
    for line in ("{'who': 'u-secret'}", "{who: u-secret}", "user_id=u-secret", '"who":"u-secret"}'):
        assert unreadable(line, names={"user_id": "who"}) == [json.dumps({"characters": len(line)})]
    assert unreadable("how, whoever", names={"user_id": "who"}) == ["how, whoever"]


@pytest.mark.parametrize("line", ['{"question": "x", "user_id": "u-secret", bro', "how,u-secret", "[5]"])
def test_of_a_line_that_is_no_object_the_length_stays(line):
    assert unreadable(line, has_users=True) == [json.dumps({"characters": len(line)})]


def test_lines_of_a_file_without_users_stay_unless_users_are_counted():
    lines = ["how,who", '{"question": "x", bro', '{"question": [1]}']
    assert unreadable(*lines) == lines
    assert all(list(json.loads(line)) == ["characters"] for line in unreadable(*lines, privacy=Privacy(min_users=2)))
    assert unreadable() == []


@pytest.mark.parametrize(
    "payload",
    [
        '{"question": "a", "question": ["x"]}',
        '{"question": {"a": 1, "a": 2}}',
        r'{"question": "a", "q\u0075estion": 1}',
        '{"q": ' + "[" * 64 + "]" * 64 + "}",
        '{"q":' * 65 + "1" + "}" * 65,
        '{"q": ' + "[" * 5000,
    ],
    ids=["names", "nested", "escaped", "lists", "objects", "cut"],
)
def test_an_object_with_a_repeated_name_or_too_many_levels_is_none(payload):
    assert object_in(payload) is None


def test_numbers_of_an_object_have_their_digits_and_a_question_can_be_one():
    row = '{"question": 12.50, "rank": 1, "ok": true, "parts": [{"question": 7}]}'
    parts = [{"question": "7"}]
    assert object_in(row, is_raw=True) == {"question": "12.50", "rank": "1", "ok": True, "parts": parts}
    assert object_in(json.dumps({"q": r"wann \xf6ffnet"}), is_raw=True) is None
    assert [*texts_in(json.loads(row))] == ["12.5", "7"]


def test_an_object_of_64_levels_is_one():
    assert object_in('{"q": ' + "[" * 63 + "]" * 63 + "}") is not None


def test_a_line_whose_escapes_name_the_column_of_users_is_stored_as_its_length():
    line = r'{"user\u005fid": "u-secret", "question": "a", "question": ["x"]}'
    assert unreadable(line) == [json.dumps({"characters": len(line)})]


def test_names_of_fields_that_may_be_questions_are_texts():
    value = {"how far is it": 1, "größe": [2, {"question": 7, "rank": 3}], "ascii": "text"}
    assert [*texts_in(value)] == ["how far is it", "größe", "7", "text"]
