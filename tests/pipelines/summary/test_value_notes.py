import pytest

from pipelines.summary.value_notes import (
    idle_filter,
    markup_warnings,
    text_warnings,
    value_warnings,
    varied_answer_warnings,
)


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ({}, None),
        ({"readable_confidence": 1, "unreadable_confidence": 9}, None),
        ({"unreadable_confidence": 9}, None),  # nothing filters by it
        ({"readable_confidence": 0, "unreadable_confidence": 1_000}, "none of 1,000 values in it is a number"),
        (
            {"readable_locale": 0},
            "it holds no value. Name another column with --column locale=NAME, or leave --locale out",
        ),
    ],
)
def test_a_filter_is_idle_if_no_value_of_its_column_was_read(counters, expected):
    found = idle_filter(counters)
    assert (found is None) == (expected is None)
    assert (expected or "") in (found or "")


def test_unread_rows_are_reported_kind_by_kind():
    assert value_warnings({"rows_read": 5}) == []
    counters = {"unreadable_timestamp": 3, "ambiguous_timestamp": 2, "unreadable_confidence": 1}
    assert [note.split(":")[0] for note in value_warnings(counters)] == ["confidence", "timestamp", "timestamp"]
    assert value_warnings({"rejected_read_invalid_utf8": 1_500})[0].startswith("1,500 rows without valid UTF-8")


def test_texts_with_html_entities_are_warned_of_with_their_shares():
    counters = {"rows_read": 3_001, "html_entities_question": 71, "html_entities_answer": 495}
    [found] = text_warnings(counters)
    assert "in the questions of 2.4 % of the rows and in the answers of 16.5 %. " in found
    assert found.endswith("html.unescape of Python for example")
    [one] = text_warnings({"rows_read": 100, "html_entities_answer": 1})
    assert "questions of 0.0 % of the rows" in one
    assert text_warnings({"rows_read": 101, "html_entities_answer": 1}) == text_warnings({}) == []


def test_questions_with_tags_and_texts_of_json_are_warned_of_with_their_shares():
    [tags, objects] = text_warnings({"rows_read": 200, "html_tags_question": 50, "json_answer": 2})
    assert tags.startswith("HTML tags such as </p> are in the questions of 25.0 % of the rows")
    assert objects.startswith("0.0 % of the questions and 1.0 % of the answers are JSON in a text")
    assert "fromjson of jq" in objects
    assert text_warnings({"rows_read": 201, "html_tags_question": 2, "json_question": 2}) == []


def test_answers_that_differ_in_html_alone_are_warned_of_by_their_share_of_questions_with_several():
    def counters(by_html, several):
        return {"questions_with_several_answers_by_html": by_html, "questions_with_several_answers": several}

    [found] = markup_warnings(counters(724, 1_736))
    assert found.startswith(
        "of 1,736 questions with several answers 724 have some that differ in HTML tags or entities"
    )
    assert "--column answer_id=NAME" in found
    assert len(markup_warnings(counters(5, 100))) == 1
    assert markup_warnings(counters(5, 101)) == markup_warnings(counters(4, 4)) == markup_warnings({}) == []


def test_answers_that_vary_from_row_to_row_are_warned_of_by_the_share_of_ambiguous_questions():
    def counters(unsettled, questions):
        judged = {"members_judged": questions - unsettled}
        return judged | {"questions": questions, "rejected_ambiguity_ambiguous": 3 * unsettled}

    [found] = varied_answer_warnings(counters(239, 324))
    assert found.startswith("of 324 questions 239 are rejected as ambiguous: they have several answers and none often")
    assert "a name, number, date or typing error makes another answer" in found
    assert found.endswith("--column answer_id=NAME")
    assert len(varied_answer_warnings(counters(5, 20))) == 1
    assert varied_answer_warnings(counters(5, 21)) == varied_answer_warnings(counters(4, 4)) == []
    assert varied_answer_warnings({}) == varied_answer_warnings({"questions": 9}) == []
    several = {"questions_with_several_answers": 239, "questions_with_several_answers_by_html": 239}
    assert varied_answer_warnings(counters(239, 324) | several) == []  # HTML is the cause
    kept = counters(239, 324) | {"members_judged": 400, "rejected_ambiguity_ambiguous": 0}
    assert varied_answer_warnings(kept) == []  # --min-answer-share 0 keeps all answers
