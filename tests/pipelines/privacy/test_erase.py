import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.erase import (
    Erasure,
    erase_clusters,
    erase_pairs,
    erase_questions,
    erase_rejected,
    erasure_of,
)
from pipelines.privacy.users import UserKey, as_text, hash_questions, hash_users
from schemas.tables import CLUSTERS, PAIRS, QUESTIONS, REJECTED
from schemas.text import question_id

KEY = UserKey(b"k" * 16)
NAMES = [f"question {n}" for n in range(12)]
IDS = {name: question_id(name) for name in NAMES}


def table(schema, rows):
    return pa.table({f.name: pa.array([row.get(f.name) for row in rows], f.type) for f in schema})


def cluster(number, names):
    names = sorted(names, key=IDS.get)
    row = {"cluster_id": number, "answer_hash": 1, "split": "train", "size": len(names), "events": 3 * len(names)}
    return row | {"coherence": 0.5, "question_ids": [IDS[name] for name in names], "texts": names}


@given(
    names=st.permutations(NAMES),
    sizes=st.lists(st.integers(2, 5), max_size=4),
    erased=st.sets(st.sampled_from(NAMES), max_size=5),
)
def test_clusters_keep_their_other_questions_if_there_are_two(names, sizes, erased):
    parts = [names[sum(sizes[:n]) :][:size] for n, size in enumerate(sizes)]
    rows = [cluster(n, part) for n, part in enumerate(parts) if len(part) >= 2]
    events = {IDS[name]: 3 for name in erased}
    found = erase_clusters(table(CLUSTERS, rows), Erasure(frozenset(erased)), events)
    left = [(row["cluster_id"], [name for name in row["texts"] if name not in erased]) for row in rows]
    expected = [cluster(number, texts) for number, texts in left if len(texts) >= 2]
    assert found.to_pylist() == table(CLUSTERS, expected).to_pylist()


def test_a_cluster_keeps_an_event_for_each_question_that_is_left():
    rows = table(CLUSTERS, [cluster(1, NAMES[:3])])
    found = erase_clusters(rows, Erasure(frozenset(NAMES[:1])), {IDS[NAMES[0]]: 100})
    assert found["events"].to_pylist() == [2]


def test_other_questions_stay_and_those_left_alone_are_in_no_cluster():
    rows = [{"question_id": IDS[n], "key": n, "cluster_id": i, "split": "test"} for i, n in enumerate(NAMES[:4])]
    found = erase_questions(table(QUESTIONS, rows), Erasure(frozenset(NAMES[:1])), pa.array([1], pa.int64()))
    assert found["key"].to_pylist() == NAMES[1:4]
    assert found["cluster_id"].to_pylist() == [None, 2, 3]
    assert found["split"].to_pylist() == [None, "test", "test"]


def test_a_pair_is_removed_whichever_side_is_erased():
    pairs = [{"question_id_1": IDS[NAMES[a]], "question_id_2": IDS[NAMES[b]]} for a, b in [(0, 1), (1, 0), (1, 2)]]
    assert (
        erase_pairs(table(PAIRS, pairs), Erasure(frozenset(NAMES[:1]))).to_pylist()
        == table(PAIRS, pairs[2:]).to_pylist()
    )


@pytest.mark.parametrize(
    "payload",
    [
        '{"question": "Who paid, Zoe?", "answer": "x"}',
        '{"frage": "who  PAID, zoe"}',
        '{"question": ["Who paid, Zoe"]}',
        '{"Who paid, Zoe?": "x"}',
        '{"user_id": ["USER"]}',
        "garbled;WHO paid, zoe?;x",
        r'"question": "who paid,\u0020Zo\u0065?", garbled',
        '{"user_id": "USER"}',
        '{"question": "QUESTION", "rows": 3}',
        '{"question": "Who paid, Zoe?", "question": ["x"]}',
        '{"question": ' + "[" * 480 + '"Who paid, Zoe?"' + "]" * 480 + "}",
    ],
)
def test_a_rejected_row_that_names_it_is_removed(payload):
    user = as_text(hash_users(pa.array(["u7"]), KEY))[0].as_py()
    question = as_text(hash_questions(pa.array(["who paid, zoe"]), KEY))[0].as_py()
    payload = payload.replace("USER", user).replace("QUESTION", question)
    rows = [{"stage": "x", "reason": "y", "payload": text} for text in (payload, '{"question": "who paid"}', "zoe")]
    found = erase_rejected(table(REJECTED, rows), erasure_of(["who paid, Zoe"], ["u7"], KEY))
    assert found["payload"].to_pylist() == [row["payload"] for row in rows[1:]]
    if "rows" in json.loads(payload if payload.startswith("{") else "{}"):
        assert len(erase_rejected(table(REJECTED, rows), erasure_of(["who paid, Zoe"], ["u7"], None))) == 3


def test_a_question_is_erased_as_it_was_asked_and_with_its_personal_data_replaced():
    assert erasure_of(["Is jo@example.org you?", "?"], [], None).keys == {"is jo@example.org you", "is [email] you"}
