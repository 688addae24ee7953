"""Lines for a person about the questions that were read for an index."""

import pytest

from jobs.workflows.index_counters import answer_warnings, check_readable, input_notes, reject_reasons
from schemas.errors import QprError


@pytest.mark.parametrize(
    ("counters", "beginnings"),
    [
        ({"questions_read": 9, "questions_rejected": 0, "rows_without_answer": 0}, []),
        (
            {"questions_rejected": 3, "rejected_read_bad_json": 1, "rejected_validate_no_word": 2},
            ["not indexed, and in the index's table rejected: 3 rows (1 bad_json, 2 no_word)"],
        ),
        (
            {"rejected_merge_other_answer": 1},
            ["in the index's table rejected: 1 row with another answer to a question than the one indexed"],
        ),
        (
            {"unreadable_cluster_id": 1, "unreadable_events": 2},
            [
                "cluster_id: 1 value cannot be read as a 64-bit integer; the rows are indexed without",
                "events: 2 values cannot be read as a whole number from 0 to 2**53; the rows are indexed without",
            ],
        ),
        ({"questions_read": 4, "rows_without_answer": 2}, ["no answer in 2 rows of tables; `qpr answer` abstains"]),
        ({"questions_read": 3, "rows_without_answer": 2}, []),  # a list of questions
    ],
)
def test_each_kind_of_input_that_is_not_in_the_index_has_a_line(counters, beginnings):
    notes = list(input_notes(counters))
    assert len(notes) == len(beginnings)
    assert all(note.startswith(beginning) for note, beginning in zip(notes, beginnings, strict=True))


def test_placeholders_and_many_entities_have_a_warning_each():
    assert list(answer_warnings({"questions_read": 2})) == []
    counters = {"questions_read": 2, "rows_with_placeholder": 1, "html_entities_answer": 2}
    placeholders, entities = answer_warnings(counters)
    assert "in 1 row of tables; it would be given" in placeholders
    assert "in the questions of 0.0 % of the rows and in the answers of 100.0 %" in entities


def test_rows_that_were_read_and_merged_are_no_reasons():
    counters = {"rejected_validate_no_word": 1_000, "rejected_read_bad_json": 1, "rejected_merge_other_answer": 4}
    assert reject_reasons(counters) == " (1 bad_json, 1,000 no_word)"
    assert reject_reasons({"rejected_merge_other_answer": 4, "questions_read": 5}) == ""


def test_only_rows_that_cannot_be_read_count_against_the_limit():
    many = {"questions_read": 100, "rejected_read_bad_json": 10, "rejected_validate_no_word": 80}
    check_readable(many, ["a.jsonl"], 0.1)
    check_readable({"questions_read": 100, "rejected_validate_no_word": 80}, ["a.jsonl"], 0.0)
    with pytest.raises(QprError, match=r"^10 of 100 rows rejected, .* 0\.09 allows\. Most were read_bad_json"):
        check_readable(many, ["a.jsonl"], 0.09)
