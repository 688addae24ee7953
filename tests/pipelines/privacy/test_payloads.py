import json

import pyarrow as pa
import pytest

from pipelines.privacy.payloads import protect_rows, protect_unreadable
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey
from pipelines.writing.rejects import reject
from schemas.tables import QA_LOG

KEY = UserKey(b"k" * 16)
ROW = {"question": "how", "answer": None, "answer_id": "a7", "user_id": "u-secret", "locale": "en"}
ROWS = pa.table({f.name: pa.array([ROW.get(f.name)], f.type) for f in QA_LOG})


def unreadable(*payloads, names=None, privacy=None, key=None, has_users=False):
    rejects = reject(pa.array(payloads, pa.string()), stage="read", reasons="invalid_json")
    found = protect_unreadable(rejects, names or {}, privacy or Privacy(), key, has_users=has_users)
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
    assert json.loads(*unreadable(payload, key=KEY)).keys() == {"answer", "user_id"}


@pytest.mark.parametrize("line", ['{"question": "x", "user_id": "u-secret", bro', "how,u-secret", "[5]"])
def test_of_a_line_that_is_no_object_the_length_stays(line):
    assert unreadable(line, has_users=True) == [json.dumps({"characters": len(line)})]


def test_lines_of_a_file_without_users_stay_unless_users_are_counted():
    lines = ["how,who", '{"question": "x", bro', '{"question": [1]}']
    assert unreadable(*lines) == lines
    assert all(list(json.loads(line)) == ["characters"] for line in unreadable(*lines, privacy=Privacy(min_users=2)))
    assert unreadable() == []
