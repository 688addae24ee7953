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
        **{name: pa.array(times, ASKED.field(name).type) for name in ("first_seen", "last_seen")},
    }
    return with_nulls(ASKED, known)


def current(*rows):
    """Return the texts in place of those that are no longer given, by the number of the id, and the counters."""
    forms = forms_of_ids(asked(rows))
    if not len(forms):
        return {}, {}
    texts, counts = current_texts(forms)
    return {(int(row["log_answer_id"][3:]), row["old"]): row["answer"] for row in texts.to_pylist()}, counts


def given_from(text, first, last, rows=50):
    return [(1, text, rows // 2, first), (1, text, rows - rows // 2, last)]


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ([*given_from("old", 0, 3), (1, "new", 2, 5)], {"old": "new"}),  # edited
        ([*given_from("old", 0, 3), (1, "new", 1, 4.01)], {"old": "new"}),
        ([*given_from("old", 0, 3), (1, "new", 9, 4)], {}),  # it was edited less than a day ago
        ([*given_from("old", 0, 3), *given_from("new", 2, 5)], {"old": "new"}),  # both for a day
        ([*given_from("old", 0, 3), *given_from("new", 1.9, 5)], {}),  # it varied before
        ([*given_from("old", 0, 6.5), (1, "new", 9, 5)], {}),  # the edit was taken back
        ([(1, "old", 1, 0), (1, "new", 4, 5)], {}),  # half of four rows can be a chance
        ([(1, "old", 1, 0), (1, "new", 5, 5)], {"old": "new"}),
        ([*given_from("one", 0, 9), *given_from("two", 0, 7, rows=5), (1, "three", 9, 9)], {}),  # seldom before too
        ([*given_from("one", 0, 9), *given_from("two", 0, 7, rows=5), (1, "three", 35, 9)], {"two": "one"}),
        ([*given_from("often", 0, 9), (1, "typo", 1, 2)], {}),  # nothing began since
        ([*given_from("old", 0, 3), (1, "b", 9, 5), (1, "a", 9, 6)], {"old": "a"}),
        ([*given_from("old", 0, 3), *((1, f"new {n:02}", 2, 5) for n in range(19))], {"old": "new 00"}),
        ([*given_from("old", 0, 3), *((1, f"new {n:02}", 2, 5) for n in range(20))], {}),  # it has names in it
        ([(1, "often", 50, None), (1, "seldom", 3, None)], {}),
        ([(1, "untimed", 50, None), (1, "timed", 3, 1)], {"untimed": "timed"}),
        ([*given_from("the only one", 0, 1), (2, "of another id", 30, 9)], {}),
        ([(None, *row[1:]) for row in [*given_from("old", 0, 3), (1, "new", 2, 5)]], {}),  # of different answers
    ],
)
def test_a_text_that_ended_is_replaced_by_the_most_frequent_one_that_did_not(rows, texts):
    found, _ = current(*rows)
    assert found == {(1, old): new for old, new in texts.items()}
    assert current(*reversed(rows)) == current(*rows)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from("abc"), st.integers(1, 9), st.sampled_from([None, 1, 1.5, 2, 2.5, 9])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_the_present_texts_are_those_of_a_plain_loop_in_any_division_of_the_rows(rows):
    expected = {}
    for number in {row[0] for row in rows}:
        events, days = collections.Counter(), collections.defaultdict(list)
        for _, text, times, day in (row for row in rows if row[0] == number):
            events[text] += times
            days[text] += [] if day is None else [day]
        first, last = ({text: of(days[text], default=-99) for text in events} for of in (min, max))
        since = {
            text: sum(events[other] for other in events if other != text and first[other] >= last[text] - 1)
            for text in events
        }
        ended = [
            text
            for text in events
            if last[text] < max(last.values()) - 1
            and (1 - events[text] / (events.total() - since[text] + 1)) ** since[text] <= 0.05
        ]
        for old in ended:
            expected[number, old] = max(sorted(events.keys() - {*ended}), key=events.get)
    assert current(*rows)[0] == expected
    parts = pa.concat_tables([forms_of_ids(asked([row])) for row in rows])
    assert current_texts(parts).texts.to_pylist() == current_texts(forms_of_ids(asked(rows))).texts.to_pylist()
    table = asked(rows)
    named = with_current_texts(table, [current_texts(forms_of_ids(table)).texts], of="log_answer_id")
    assert named["answer"].to_pylist() == [expected.get((number, text), text) for number, text, *_ in rows]


def test_only_the_texts_of_the_ids_that_ended_are_replaced():
    table = asked([(1, "old", 9, 1), (2, "other", 9, 1), (None, "old", 9, 1), (2, "old", 9, 1), (1, "another", 9, 1)])
    texts = [current_texts(forms_of_ids(asked([(n, "old", 9, 1), (n, "new", 9, 5)]))).texts for n in (1, 3)]
    named = with_current_texts(table, texts, of="log_answer_id")
    assert named["answer"].to_pylist() == ["new", "other", "old", "old", "another"]
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
    end = ". If only names, numbers, dates or the wording differ, keep the ids"
    assert warning.endswith(f"--column answer_id=reply{end}")
    assert many_text_warnings(counters, {}, rows=200)[0].endswith(f"--column answer_id=answer{end}")
    assert many_text_warnings(counters, {}, rows=201) == many_text_warnings({}, {}, rows=9) == []


def test_texts_of_an_id_that_differ_in_html_alone_are_one():
    forms = ["Yes & no.", "<p>Yes &amp; no.</p>", "yes&nbsp;& no.", "<b>Yes</b> & no.", "Yes & no.<br>"]
    assert len(forms) == MANY
    assert current(*((1, form, 2, 0) for form in forms))[1] == {}
    others = [(2, f"<p>{form} {n}</p>", 2, 0) for n, form in enumerate(forms)]
    counts = {"many_texts_answers": 1, "many_texts_rows": 2 * MANY}
    assert current(*((1, form, 2, 0) for form in forms), *others)[1] == counts
