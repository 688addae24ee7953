import pytest

from pipelines.summary.value_notes import idle_filter, value_notes


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
    assert value_notes({"rows_read": 5}) == []
    counters = {"unreadable_timestamp": 3, "ambiguous_timestamp": 2, "unreadable_confidence": 1}
    assert [note.split(":")[0] for note in value_notes(counters)] == ["confidence", "timestamp", "timestamp"]
    assert value_notes({"rejected_read_invalid_utf8": 1_500})[0].startswith("1,500 rows without valid UTF-8")
