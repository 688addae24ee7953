import collections
import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import ASKED
from pipelines.questions.answer_texts import (
    MANY,
    current_texts,
    forms_of_ids,
    many_text_warnings,
    with_current_texts,
)
from schemas.tables import with_nulls

DAY = datetime.timedelta(days=1)


def asked(rows):
    """Return ASKED of (number of an answer id or None, text of the answer, rows, day of the month or None)."""
    ids, texts, events, days = zip(*rows, strict=True)
    times = [None if day is None else datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC) + day * DAY for day in days]
    known = {
        "answer_id": pa.array([-1 if number is None else number for number in ids], pa.int64()),
        "log_answer_id": pa.array([None if number is None else f"id {number}" for number in ids], pa.string()),
        "answer": pa.array(texts, pa.string()),
        "events": pa.array(events, pa.int64()),
        "last_seen": pa.array(times, ASKED.field("last_seen").type),
    }
    return with_nulls(ASKED, known)


def current(*rows):
    """Return the present texts of answer ids of these rows of `asked`, by the number of the id, and the counters."""
    forms = forms_of_ids(asked(rows))
    if not len(forms):
        return {}, {}
    texts, counts = current_texts(forms)
    return {int(row["log_answer_id"][3:]): row["answer"] for row in texts.to_pylist()}, counts


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([(1, "old", 90, 3), (1, "new", 2, 5)], "new"),  # edited: the old text has not been given for a day
        ([(1, "old", 90, 3), (1, "new", 2, 4.01)], "new"),
        ([(1, "old", 90, 3), (1, "new", 2, 4)], "old"),  # on the day of the change the most frequent one counts
        ([(1, "old", 90, 3), (1, "new", 2, 5), (1, "old", 1, 6)], "old"),  # the change was taken back
        ([(1, "often", 50, 9), (1, "seldom", 3, 9), (1, "typo", 1, 2)], "often"),  # it varies
        ([(1, "b", 3, 9), (1, "a", 1, 9), (1, "a", 2, 8)], "a"),
        ([(1, "often", 50, None), (1, "seldom", 3, None)], "often"),
        ([(1, "untimed", 50, None), (1, "timed", 3, 1)], "timed"),
        ([(1, "the only one", 50, 1), (2, "of another id", 3, 1)], None),
        ([(None, "old", 90, 3), (None, "new", 2, 5)], None),  # without ids the texts are different answers
    ],
)
def test_an_answer_id_has_the_most_frequent_of_the_texts_that_are_still_given(rows, text):
    found, _ = current(*rows)
    assert found == ({} if text is None else {1: text})
    assert current(*reversed(rows)) == current(*rows)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from("abc"), st.integers(1, 4), st.sampled_from([None, 1, 1.5, 2, 2.5, 9])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_the_present_text_is_that_of_a_plain_loop_in_any_division_of_the_rows(rows):
    expected = {}
    for number in {row[0] for row in rows}:
        events, last = collections.Counter(), {}
        for _, text, times, day in (row for row in rows if row[0] == number):
            events[text] += times
            last[text] = max(last.get(text, -99), -99 if day is None else day)
        if len(events) > 1:
            given_yet = [text for text in sorted(events) if last[text] >= max(last.values()) - 1]
            expected[number] = max(given_yet, key=events.get)
    assert current(*rows)[0] == expected
    parts = pa.concat_tables([forms_of_ids(asked([row])) for row in rows])
    assert current_texts(parts).texts.equals(current_texts(forms_of_ids(asked(rows))).texts)


def test_only_the_answers_of_the_ids_get_the_present_texts():
    table = asked([(1, "old", 9, 1), (2, "other", 9, 1), (None, "old", 9, 1)])
    texts = [current_texts(forms_of_ids(asked([(n, "old", 9, 1), (n, "new", 9, 5)]))).texts for n in (1, 3)]
    named = with_current_texts(table, texts, of="log_answer_id")
    assert named["answer"].to_pylist() == ["new", "other", "old"]
    assert named.schema == table.schema
    assert named.drop_columns("answer") == table.drop_columns("answer")
    assert with_current_texts(table, [], of="log_answer_id") is table


SKILL = [(1, f"{n} minutes", 2, None) for n in range(MANY)]
EDITED = [(2, "In the app", 9, None), *((2, f"In app {n}", 2, None) for n in range(MANY - 1))]
FEW = [(3, f"Text {n}", 1, None) for n in range(MANY - 1)]


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        (SKILL, {"many_texts_answers": 1, "many_texts_rows": 10}),
        ([*SKILL, *EDITED, *FEW], {"many_texts_answers": 1, "many_texts_rows": 10}),
        ([*SKILL, *((4, *row[1:]) for row in SKILL)], {"many_texts_answers": 2, "many_texts_rows": 20}),
        ([*EDITED, *FEW], {}),
        ([(5, None, 3, None)], {}),
        ([(None, *row[1:]) for row in SKILL], {}),
    ],
)
def test_ids_are_counted_whose_most_frequent_text_stands_for_at_most_half_of_their_rows(rows, counts):
    assert current(*rows)[1] == counts
    assert current(*rows[::-1])[1] == counts


def test_the_warning_names_the_option_that_compares_the_texts():
    counters = {"many_texts_answers": 1, "many_texts_rows": 10}
    [warning] = many_text_warnings(counters, {"answer": "reply"}, rows=200)
    assert warning.startswith("1 answer id with 5.0 % of the rows has 5 or more texts each")
    assert warning.endswith("--column answer_id=reply")
    assert many_text_warnings(counters, {}, rows=200)[0].endswith("--column answer_id=answer")
    assert many_text_warnings(counters, {}, rows=201) == many_text_warnings({}, {}, rows=9) == []
