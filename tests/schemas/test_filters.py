"""Columns that filter: names, ids of rows, ends of validity."""

import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.filters import FilterColumns, checked_vary_by, read_ends, row_id, row_ids, row_suffix
from schemas.tables import INDEX_ROWS
from schemas.text import key, question_id

UTC = datetime.UTC
VALUE = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(st.lists(st.tuples(VALUE, VALUE, VALUE), min_size=1, max_size=6))
def test_ids_of_arrays_are_those_of_single_rows_and_differ_by_every_value(rows):
    questions, *columns = (pa.array(part, pa.string()) for part in zip(*rows, strict=True))
    keys = pa.array([key(text) for text in questions.to_pylist()], pa.string())
    ids = row_ids(keys, columns).to_pylist()
    assert ids == [row_id(question, row_suffix(values)) for question, *values in rows]
    assert len(set(ids)) == len({(key(question), *values) for question, *values in rows})
    assert row_ids(keys, []).to_pylist() == [question_id(question) for question, *_ in rows]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2026-11-23T10:00:00Z", datetime.datetime(2026, 11, 23, 10, tzinfo=UTC)),
        ("2026-11-23 10:00+02:00", datetime.datetime(2026, 11, 23, 8, tzinfo=UTC)),
        ("2026-11-23T10:00:00.123456789z", datetime.datetime(2026, 11, 23, 10, 0, 0, 123456, tzinfo=UTC)),
        ("2026-11-23 10:00:00.000000+0100", datetime.datetime(2026, 11, 23, 9, tzinfo=UTC)),
        (" 2026-11-23 ", datetime.datetime(2026, 11, 24, tzinfo=UTC)),  # through the end of the day
        ("", None),
        (None, None),
    ],
)
def test_ends_of_validity_are_read(text, end):
    ends = read_ends(pa.array([text], pa.string()))
    assert ends.times.to_pylist() == [end]
    assert ends.faults.to_pylist() == [None]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2026-11-23T10:00:00", "valid_until_without_zone"),
        ("2026-02-30", "unreadable_valid_until"),
        ("23.11.2026", "unreadable_valid_until"),
        ("20261123", "unreadable_valid_until"),
        ("never", "unreadable_valid_until"),
        ("9999-12-31", "unreadable_valid_until"),
        ("2026-11-23T25:00Z", "unreadable_valid_until"),
        ("٢٠٢٦-11-23", "unreadable_valid_until"),
    ],
)
def test_other_ends_have_a_fault(text, fault):
    ends = read_ends(pa.array(["2026-01-01", text], pa.string()))
    assert ends.times.is_valid().to_pylist() == [True, False]
    assert ends.faults.to_pylist() == [None, fault]


def test_names_are_sorted_and_checked():
    assert checked_vary_by(["tenant", "locale"]) == ("locale", "tenant")
    taken = [[name] for name in (*INDEX_ROWS.names, "valid_until", "vector", "question", "q")]
    for names in (*taken, ["a", "a"], [""], ["a b"], ["1st"], ["a=b"]):
        with pytest.raises(ValueError, match=r"twice|another meaning|no name"):
            checked_vary_by(names)
    assert not FilterColumns()
    assert [field.name for field in FilterColumns(("a",), "ends").fields] == ["valid_until", "a"]
