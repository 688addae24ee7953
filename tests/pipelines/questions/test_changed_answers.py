import random

import pyarrow as pa
import pytest

from pipelines.questions.changed_answers import (
    FEWEST,
    change_warnings,
    changed_answers,
    changes_as_json,
    merge_changes,
)
from pipelines.questions.row_filters import validate
from pipelines.questions.settings import Validation
from schemas.tables import QA_LOG, with_nulls

OLD, NEW = "It takes five days.", "It takes nine days."


def asked(rows):
    """Return ASKED of (question, answer, day of November or None)."""
    questions, answers, days = zip(*rows, strict=True)
    times = [None if day is None else f"2026-11-{day:02d} 10:00:00" for day in days]
    stamps = pa.array(times).cast(pa.timestamp("us")).cast(QA_LOG.field("timestamp").type)
    columns = {"question": pa.array(questions), "answer": pa.array(answers), "timestamp": stamps}
    return validate(with_nulls(QA_LOG, columns), Validation()).asked


def edited(questions=FEWEST):
    """Return rows of questions whose answer changed on the fourth, in any order."""
    rows = [(f"when does card {n} come", OLD if day < 4 else NEW, day) for n in range(questions) for day in range(1, 7)]
    return random.Random(0).sample(rows, len(rows))


def changes_of(rows):
    return merge_changes(changed_answers(asked(rows)))


def test_an_answer_that_follows_another_for_several_questions_has_changed():
    [change] = changes_of([*edited(), ("do you ship", "Yes.", 2)])
    assert changes_as_json([change]) == [{"old": OLD, "new": NEW, "questions": FEWEST, "date": "2026-11-04"}]
    assert change_warnings([change]) == [
        "an answer seems to have changed on 2026-11-04: 5 questions got 'It takes five days.' before and only "
        "'It takes nine days.' since. If the old one is out of date, add --ignore-answer 'It takes five days.'"
    ]


@pytest.mark.parametrize(
    "rows",
    [
        edited(FEWEST - 1),
        [*edited(), ("when does card 0 come", OLD, 5)],  # the old one was given again
        [*edited(), ("where is card 9", NEW, 1), ("where is card 9", OLD, 2)],  # the other way round
        [(question, answer, None) for question, answer, _ in edited()],
        [(question, answer, 4) for question, answer, _ in edited()],
        [("do you ship", f"Answer {day}.", day) for day in range(1, 9)],
        [("do you ship", "Yes.", 1)],
    ],
)
def test_answers_that_alternate_have_not_changed(rows):
    assert changes_of(rows) == []


def test_of_an_answer_that_changed_twice_the_last_change_counts():
    third = "It takes two days."
    rows = [
        (f"when does card {n} come", (OLD, NEW, third)[day // 2], day + 1) for n in range(FEWEST) for day in range(6)
    ]
    [change] = changes_of(rows)
    assert (change.old, change.new) == (NEW, third)


def test_shards_together_find_what_one_finds():
    rows = edited(40)
    parts = [[row for row in rows if int(row[0].split()[3]) % 7 == part] for part in range(7)]
    found = [change for part in parts if part for change in changed_answers(asked(part))]
    assert merge_changes(found) == changes_of(rows)
    assert merge_changes([]) == []


def test_many_changes_are_counted_and_long_answers_go_to_a_file():
    many = [(question + f" of {n}", f"{answer} {n}", day) for n in range(7) for question, answer, day in edited()]
    sentences = change_warnings(changes_of(many))
    assert len(sentences) == 6
    assert sentences[-1] == "2 other answers seem to have changed too"
    [long] = change_warnings(changes_of([(question, answer * 20, day) for question, answer, day in edited()]))
    assert long.endswith("add it to a file for --ignore-answer @FILE")


def test_of_an_outage_the_one_answer_in_place_of_all_is_the_one_to_ignore():
    down = "The service is down."
    rows = [
        (f"when does {thing} {n} come", f"A {thing} takes five days." if day < 4 else down, day)
        for thing in ("card", "letter", "parcel")
        for n in range(FEWEST)
        for day in range(1, 7)
    ]
    assert change_warnings(changes_of(rows)) == [
        "since 2026-11-04 15 questions that got 3 other answers get only 'The service is down.'. If that is no "
        "answer to them, as in an outage, add --ignore-answer 'The service is down.'"
    ]


def test_an_answer_with_the_same_text_and_another_id_is_none_to_ignore():
    rows = [
        (f"when does {thing} {n} come", f"A {thing} takes five days.", day)
        for thing in ("card", "letter")
        for n in range(FEWEST)
        for day in range(1, 7)
    ]
    questions, answers, days = zip(*rows, strict=True)
    times = pa.array([f"2026-11-{day:02d} 10:00:00" for day in days]).cast(pa.timestamp("us"))
    ids = [answer.split()[1] if day < 4 else None for answer, day in zip(answers, days, strict=True)]
    columns = {"question": pa.array(questions), "answer": pa.array(answers), "answer_id": pa.array(ids, pa.string())}
    columns["timestamp"] = times.cast(QA_LOG.field("timestamp").type)
    table = validate(with_nulls(QA_LOG, columns), Validation()).asked
    assert change_warnings(merge_changes(changed_answers(table))) == [
        "since 2026-11-04 2 answers of 10 questions have the same texts and another answer id, or none. Check the "
        "column answer_id of the files since then"
    ]
