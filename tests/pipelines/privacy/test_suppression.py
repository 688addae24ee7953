import json

import pyarrow as pa
import pytest

from pipelines.privacy.erase import erasure_of
from pipelines.privacy.payloads import Unreadable
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
        json.dumps({"q": {"deep": SECRET.lower()}}),
        json.dumps({"question": ["x"], "who": "zoe"}),
        json.dumps({SECRET: 1, "who": "ann"}),
        json.dumps({"question": ["x"], "who": "ann"}),
        r'{"question": "where \ud83d"}',
        f'{{"question": "{SECRET}"',
    ]
    rejects = reject(pa.array(payloads), stage="read", reasons=pa.array(["a", "b", "c", "k", "d", "f", "e"]))
    users = pa.array([None, None, "zoe", "ann", "ann", None, None])
    rows = pa.table({"question": pa.nulls(len(users), pa.string()), "user_id": users})
    left = suppression.remove_unreadable(Unreadable(rejects, rows))
    assert left.rejects["payload"].to_pylist() == [*payloads[4:6], json.dumps({"characters": len(payloads[6])})]
    assert left.rejects["reason"].to_pylist() == ["d", "f", "e"]
    assert left.rows["user_id"].to_pylist() == ["ann", None, None]
    empty = Unreadable(rejects.slice(0, 0), rows.slice(0, 0))
    assert suppression.remove_unreadable(empty) == empty


def test_an_unreadable_row_is_removed_by_the_question_and_user_that_were_read_of_it(suppression):
    cut = json.dumps({"question": SECRET, "answer": ["x" * 2000]})[:1000]
    rejects = reject(pa.array([cut] * 3), stage="read", reasons="wrong_type")
    rows = pa.table({"question": [SECRET, "how", "how"], "user_id": ["ann", "zoe", "ann"]})
    left = suppression.remove_unreadable(Unreadable(rejects, rows))
    assert left.rejects["payload"].to_pylist() == [json.dumps({"characters": 1000})]


@pytest.mark.parametrize("erased", ["my mail is jo@example.org please", "my mail is [email] please"])
def test_an_unreadable_row_is_removed_by_its_question_with_personal_data_replaced(erased):
    erasure = erasure_of([erased], [], KEY)
    questions = hash_questions(pa.array(sorted(erasure.keys)), KEY).to_pylist()
    suppression = Suppression(frozenset(questions), frozenset(), KEY)
    asked = "My mail is jo@example.org please!"
    rejects = reject(pa.array([json.dumps({"q": [asked]}), asked, "other"]), stage="read", reasons="wrong_type")
    rows = pa.table({"question": pa.array([None, asked, asked[:20]], pa.string()), "user_id": pa.nulls(3, pa.string())})
    left = suppression.remove_unreadable(Unreadable(rejects, rows))
    assert left.rejects["payload"].to_pylist() == [json.dumps({"characters": 5})]


def test_an_unreadable_row_whose_question_is_a_number_is_removed():
    erasure = erasure_of(["12.50"], [], KEY)
    questions = hash_questions(pa.array(sorted(erasure.keys)), KEY).to_pylist()
    payloads = ['{"q": 12.50, "answer": ["see"]}', '{"q": 12.5, "answer": ["see"]}']
    rows = pa.table({"question": pa.nulls(2, pa.string()), "user_id": pa.nulls(2, pa.string())})
    unreadable = Unreadable(reject(pa.array(payloads), stage="read", reasons="wrong_type"), rows)
    left = Suppression(frozenset(questions), frozenset(), KEY).remove_unreadable(unreadable)
    assert left.rejects["payload"].to_pylist() == payloads[1:]


def test_an_object_that_has_a_name_twice_becomes_its_length(suppression):
    payload = json.dumps({"question": SECRET})[:-1] + ', "question": ["x"]}'
    rows = pa.table({"question": pa.nulls(1, pa.string()), "user_id": pa.nulls(1, pa.string())})
    left = suppression.remove_unreadable(Unreadable(reject(pa.array([payload]), stage="read", reasons="x"), rows))
    assert left.rejects["payload"].to_pylist() == [json.dumps({"characters": len(payload)})]
