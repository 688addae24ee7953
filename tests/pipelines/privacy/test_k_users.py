import collections
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import ASKED, ENOUGH, USER
from pipelines.privacy.k_users import limit_answers, limit_day, limit_users
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey
from schemas.tables import with_nulls

KEY = UserKey(b"k" * 16)
ROWS = st.lists(
    st.tuples(
        st.integers(1, 4),  # question
        st.sampled_from(["a", "b"]),  # wording
        st.integers(1, 2),  # answer
        st.integers(1, 5),  # events
        st.sampled_from([None, 0, 1, 2, 2**64 - 1]),  # user
    ),
    max_size=20,
)


def asked(rows):
    columns = {
        "question_id": [q for q, *_ in rows],
        "key": [f"question {q}" for q, *_ in rows],
        "text": [f"{text} {q}" for q, text, *_ in rows],
        "answer_id": [answer for _, _, answer, *_ in rows],
        "answer": [f"answer {answer}" for _, _, answer, *_ in rows],
        "events": [events for *_, events, _ in rows],
    }
    return with_nulls(ASKED, columns).append_column(USER, pa.array([user for *_, user in rows], USER.type))


def repeated(rejects):
    """Return each rejected row as often as it stands for a log row."""
    places = np.repeat(np.arange(len(rejects)), rejects["rows"].to_numpy())
    return rejects.drop_columns("rows").take(pa.array(places))


def expected(rows, least, most):
    """Return events by question, wording and answer, and rejected rows by reason and question, with dicts."""
    users = collections.defaultdict(set)
    for q, *_, user in rows:
        users[q] |= {user} - {None}
    kept, rejected, of_user = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    for q, text, answer, events, user in rows:
        if least > 1 and len(users[q]) < least:
            rejected["too_few_users", q] += events
        elif user is None or most is None:
            kept[q, text, answer] += events
        else:
            of_user[q, user][text, answer] += events
    for (q, _), forms in of_user.items():
        left = most
        for (text, answer), events in sorted(forms.items(), key=lambda item: (-item[1], item[0])):
            kept[q, text, answer] += min(left, events)
            rejected["too_many_of_user", q] += max(events - left, 0)
            left = max(left - events, 0)
    return +kept, +rejected


@given(rows=ROWS, least=st.integers(1, 3), most=st.sampled_from([None, 1, 3]), seed=st.randoms(use_true_random=False))
def test_rows_are_kept_and_rejected_as_by_counting_users_in_sets(rows, least, most, seed):
    privacy = Privacy(min_users=least, max_events_of_user=most)
    found = limit_users(asked(rows), privacy, KEY)
    assert found.asked.schema == ASKED
    kept = collections.Counter()
    for row in found.asked.to_pylist():
        kept[row["question_id"], row["text"][0], row["answer_id"]] += row["events"]
    rejected = collections.Counter((row["reason"], row["shard_key"]) for row in repeated(found.rejects).to_pylist())
    assert (kept, rejected) == expected(rows, least, most)
    shuffled = rows.copy()
    seed.shuffle(shuffled)
    again = limit_users(asked(shuffled), privacy, KEY)
    for one, other in zip(found, again, strict=True):
        assert sorted(map(str, one.to_pylist())) == sorted(map(str, other.to_pylist()))


@given(rows=ROWS, most=st.integers(1, 6), least=st.integers(1, 3))
def test_a_user_has_a_maximum_of_an_answer_and_is_still_one_of_those_who_asked(rows, most, least):
    privacy = Privacy(min_users=least, max_answer_events_of_user=most)
    limited = limit_answers(asked(rows), privacy, KEY)
    given_of, left_of = collections.Counter(), collections.Counter()
    for _, _, answer, events, user in rows:
        given_of[answer, user] += events
    for row in limited.asked.to_pylist():
        left_of[row["answer_id"], row["user"]] += row["events"]
    for case, events in given_of.items():
        assert left_of[case] == (events if case[1] is None else min(events, most))
    assert len(repeated(limited.rejects)) == given_of.total() - left_of.total()
    assert {(row["question_id"], row["user"]) for row in limited.asked.to_pylist()} == {(r[0], r[-1]) for r in rows}
    found = limit_users(limited.asked, privacy, KEY)
    assert sum(found.asked["events"].to_pylist()) + len(repeated(found.rejects)) == left_of.total()
    assert set(found.asked["question_id"].to_pylist()) <= {
        q for q, least_of in users_of(rows).items() if least_of >= least
    }


def users_of(rows):
    """Return the number of distinct users of each question, 1 at least."""
    return {q: max(len({row[-1] for row in rows if row[0] == q} - {None}), 1) for q in {row[0] for row in rows}}


def test_the_rows_of_an_answer_that_count_are_those_of_the_most_frequent_wordings():
    rows = [(1, "a", 1, 2, 7), (1, "b", 1, 3, 7), (2, "a", 1, 3, 7), (3, "a", 2, 9, 7), (1, "a", 1, 4, None)]
    limited = limit_answers(asked(rows), Privacy(max_answer_events_of_user=4), KEY)
    of_user = limited.asked.filter(pc.is_valid(limited.asked["user"]))
    assert sorted((row["text"], row["events"]) for row in of_user.to_pylist()) == [
        ("a 1", 0),
        ("a 2", 1),
        ("a 3", 4),
        ("b 1", 3),
    ]
    reasons = [(row["reason"], row["shard_key"], row["score"]) for row in repeated(limited.rejects).to_pylist()]
    assert collections.Counter(reasons) == {
        ("too_many_of_user_and_answer", 1, 2): 2,
        ("too_many_of_user_and_answer", 2, 3): 2,
        ("too_many_of_user_and_answer", 3, 9): 5,
    }


def test_a_payload_holds_no_text_and_a_keyed_hash_only_with_a_key():
    rows = [(1, "a", 1, 2, 7), (1, "b", 1, 1, 8)]
    for key in (None, KEY):
        rejects = repeated(limit_users(asked(rows), Privacy(min_users=3), key).rejects).to_pylist()
        assert [(row["stage"], row["reason"], row["score"]) for row in rejects] == [("privacy", "too_few_users", 2)] * 3
        payload = json.loads(rejects[0]["payload"])
        assert payload.pop("rows") == 3
        assert (len(payload.get("question", "")) == 16) == (key is not None)
        assert set(payload) <= {"question"}


@pytest.mark.parametrize("privacy", [Privacy(), Privacy(min_users=5, max_events_of_user=1)], ids=["off", "on"])
def test_rows_without_a_column_of_users_stay(privacy):
    plain = asked([(1, "a", 1, 2, None)]).drop_columns(USER.name)
    found = limit_users(plain, privacy, None)
    assert found.asked is plain
    assert not len(found.rejects)


def test_rows_of_few_users_of_a_day_wait_and_enough_users_of_any_day_admit_a_question():
    key = KEY
    asked = pa.Table.from_pylist(
        [
            {"question_id": 1, "key": "a", "text": "a", "answer_id": 1, "answer": "x", "events": 2, "user": user}
            for user in (1, 2, None)
        ]
        + [{"question_id": 2, "key": "b", "text": "b", "answer_id": 1, "answer": "x", "events": 1, "user": 1}],
        ASKED.append(USER),
    )
    limited, waiting = limit_day(asked, Privacy(min_users=2), key)
    assert (limited.asked["text"].to_pylist(), waiting["text"].to_pylist()) == (["a"] * 3, ["b"])
    assert len(limited.rejects) == 0
    assert len(repeated(limit_day(asked, Privacy(min_users=2), None)[0].rejects)) == 1  # nothing waits without a key

    def admitted(others, *, enough=False):
        rows = [{**waiting.to_pylist()[0], "user": user} for user in (1, *others)]
        table = pa.Table.from_pylist(rows, ASKED.append(USER))
        table = table.append_column(ENOUGH, pa.array([False] * len(others) + [enough]))
        found = limit_users(table, Privacy(min_users=3), key)
        assert sum(found.asked["events"].to_pylist()) + len(repeated(found.rejects)) == len(rows)
        return len(found.asked)

    assert (admitted([2]), admitted([1, 2]), admitted([2, None])) == (0, 0, 0)
    assert admitted([2, 3]) == 3
    assert admitted([2], enough=True) == 2


@pytest.mark.parametrize("privacy", [Privacy(min_users=2), Privacy(max_events_of_user=5)])
def test_any_number_of_rows_of_one_user_and_question_is_one_rejected_row(privacy):
    rejects = limit_users(asked([(1, "a", 1, 10**12, 7)]), privacy, KEY).rejects
    assert len(rejects) == 1
    assert rejects["rows"].to_pylist() == [10**12 - (privacy.max_events_of_user or 0)]
