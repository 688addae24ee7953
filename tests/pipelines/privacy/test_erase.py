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
    payloads_replaced,
)
from pipelines.privacy.users import UserKey, as_text, hash_questions, hash_users
from pipelines.writing.rejects import MAX_PAYLOAD_CHARACTERS, MAX_RAW_CHARACTERS, json_objects, reject_rows
from schemas.tables import CLUSTERS, PAIRS, QUESTIONS, REJECTED
from schemas.text import key, question_id

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


def left_of(payload, erasure, stage="read"):
    """Return the payload after an erasure, its number of characters instead, or None if its row is removed."""
    found = erase_rejected(table(REJECTED, [{"stage": stage, "reason": "y", "payload": payload}]), erasure)
    stored = next(iter(found["payload"].to_pylist()), None)
    return len(payload) if stored == json.dumps({"characters": len(payload)}) else stored


QUOTED = erasure_of(['is the drug "zyxolin" bad', "Wann öffnet das Büro von Zoë?"], [], None)


@pytest.mark.parametrize(
    "payload",
    [
        '"is the drug ""zyxolin"" bad",ask,one,cell',
        '{"q": "is the drug \\u201czyxolin\\u201d bad", bro',
        r"wann \xf6ffnet das b\xfcro von zo\xeb,montags",
        r'{"q": "{\\"wann \\\\u00f6ffnet das",',
        '{"answer": ["x"], "question": "Is the drug',
        '"is the drug ""z',
        "Wann öffnet das Büro von Zoe",
        r'{"question": "wann \\xf6ffnet das b\\xfcro von zo\\xeb"}',
    ],
    ids=[
        "quotes",
        "typographic",
        "bytes",
        "escaped twice",
        "cut",
        "cut in quotes",
        "cut before an accent",
        "bytes in an object",
    ],
)
def test_of_a_line_that_may_have_a_question_or_a_part_of_it_the_length_stays(payload):
    assert left_of(payload, QUOTED) in (len(payload), None)
    assert left_of(payload, Erasure(frozenset())) == payload


@pytest.mark.parametrize("payload", ["how do i pay,who", "the drug,zyxolin,bad", '{"question": "is it a drug, bro}'])
def test_a_line_without_a_question_stays_as_it_is(payload):
    assert left_of(payload, QUOTED) == payload


@given(st.text("ab é\u0301", min_size=1).filter(key), st.text('ab é\u0301,"', max_size=6), st.text(max_size=4))
def test_no_beginning_of_a_question_stays_at_the_end_of_a_line(question, before, after):
    erasure = erasure_of([question], [], None)
    line = f"{before}[{question}{after}"
    for end in range(len(before) + 2, len(line) + 1):
        shown = key(line[len(before) + 1 : end])
        stays = left_of(line[:end], erasure) == line[:end]
        assert not (stays and any(map(str.isalnum, shown))), ascii(line[:end])


def test_a_line_with_the_hash_of_a_user_is_removed():
    [user] = erasure_of([], ["u7"], KEY).user_hashes
    payload = json.dumps({"question": r"wo \xf6", "user_id": user})
    assert left_of(payload, erasure_of([], ["u7"], KEY)) is None
    assert left_of(payload, erasure_of([], ["u8"], KEY)) == payload


def test_of_a_line_whose_end_can_have_the_hash_of_a_user_the_length_stays():
    line = "x" * MAX_RAW_CHARACTERS
    assert left_of(line, erasure_of(["who"], ["u7"], KEY)) == MAX_RAW_CHARACTERS
    scrubbed = f"x [email] {'x' * 900}"  # of an address with over 90 characters
    assert left_of(scrubbed, erasure_of(["who"], ["u7"], KEY)) == len(scrubbed)
    assert left_of(scrubbed, erasure_of(["who"], [], KEY)) == scrubbed
    assert left_of(line[1:], erasure_of(["who"], ["u7"], KEY)) == line[1:]
    assert left_of(line, erasure_of(["who"], [], KEY)) == line


@pytest.mark.parametrize("number", ["7700123", "12.50", "true"])
def test_a_number_in_a_row_that_cannot_be_read_can_be_a_question(number):
    asked, other = f'{{"q": {number}, "answer": ["see"]}}', f'{{"question": "how", "events": {number}}}'
    erasure = erasure_of([number], [], None)
    assert left_of(asked, erasure) == (asked if number == "true" else None)
    assert left_of(other, erasure, stage="coherence") == other


def test_a_question_that_was_too_long_to_be_kept_is_erased_by_its_key_or_its_user():
    text = "my doctor says zanthorium is in my blood " * 300
    user = as_text(hash_users(pa.array(["u7"]), KEY))
    rows = pa.table({"question": [text], "answer": ["see"], "user_id": user})
    before = reject_rows(rows, pa.array(["too_long"])).select(REJECTED.names)
    assert erase_rejected(before, erasure_of(["how"], ["u8"], KEY)).equals(before)
    for erasure in (erasure_of([text.upper()], [], None), erasure_of([], ["u7"], KEY)):
        assert len(erase_rejected(before, erasure)) == 0
        former = json_objects(rows)[0].as_py()[:MAX_PAYLOAD_CHARACTERS]  # as earlier releases stored it
        assert left_of(former, erasure, stage="validate") == MAX_PAYLOAD_CHARACTERS


def test_replaced_payloads_are_counted_once():
    lines = ('"is the drug ""zyxolin"" bad"', "him", "{}")
    rows = [{"stage": "read", "reason": "y", "payload": line} for line in lines]
    before = table(REJECTED, rows)
    after = erase_rejected(before, QUOTED)
    assert payloads_replaced(before, after) == 1
    assert erase_rejected(after, QUOTED).equals(after)


def test_a_question_is_erased_as_it_was_asked_and_with_its_personal_data_replaced():
    assert erasure_of(["Is jo@example.org you?", "?"], [], None).keys == {"is jo@example.org you", "is [email] you"}
