import json

import pyarrow as pa
import pytest

from pipelines.privacy.suppression import Suppression
from pipelines.privacy.users import UserKey, hash_questions, hash_users
from pipelines.writing.rejects import reject
from schemas.text import key as key_of

KEY = UserKey(b"the key of the nights")
SECRET, FOREIGN = "Who is Zibeline?", "Wo ist der Bahnhof von München?"


@pytest.fixture
def suppression():
    questions = hash_questions(pa.array([key_of(SECRET), key_of(FOREIGN)]), KEY).to_pylist()
    return Suppression(frozenset(questions), frozenset(hash_users(pa.array(["zoe"]), KEY).to_pylist()), KEY)


def test_rows_of_the_question_in_any_wording_and_of_the_user_are_removed(suppression):
    rows = pa.table(
        {
            "question": [SECRET, "who is ZIBELINE", "how do i pay", "how do i pay", None],
            "user_id": ["ann", None, "zoe", None, "bob"],
        }
    )
    assert suppression.remove_rows(rows).to_pylist() == [
        {"question": "how do i pay", "user_id": None},
        {"question": None, "user_id": "bob"},
    ]


def test_rows_in_any_script_and_of_several_chunks_are_compared(suppression):
    questions = [[FOREIGN.upper(), "où est la gare", None], [], ["how do i pay", SECRET, "ваш адрес"]]
    rows = pa.table(
        {
            "question": pa.chunked_array(questions, pa.string()),
            "user_id": pa.chunked_array([["ann", "José", "bob"], ["zoe", "ann", "дан"]], pa.string()),
        }
    )
    left = suppression.remove_rows(rows)
    assert left["question"].to_pylist() == ["où est la gare", None, "ваш адрес"]
    assert len(suppression.remove_rows(rows.slice(0, 0))) == 0


def test_unreadable_rows_are_removed_by_any_text_in_them_and_lines_lose_theirs(suppression):
    payloads = [
        json.dumps({"question": ["x", SECRET]}),
        json.dumps({"q": {"deep": SECRET.lower()}, "who": 1}),
        json.dumps({"question": ["x"], "who": "zoe"}),
        json.dumps({SECRET: 1, "who": "ann"}),
        json.dumps({"question": ["x"], "who": "ann"}),
        f'{{"question": "{SECRET}"',
    ]
    rejects = reject(pa.array(payloads), stage="read", reasons=pa.array(["a", "b", "c", "k", "d", "e"]))
    left = suppression.remove_unreadable(rejects, "who")
    assert left["payload"].to_pylist() == [payloads[4], json.dumps({"characters": len(payloads[5])})]
    assert left["reason"].to_pylist() == ["d", "e"]
    assert len(suppression.remove_unreadable(rejects.slice(0, 0), "who")) == 0
