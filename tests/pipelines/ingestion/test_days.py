import datetime

import pyarrow as pa
import pytest

from pipelines.ingestion.days import merge_day, off_date_counts
from pipelines.intermediate import ASKED

DAY = datetime.date(2026, 11, 20)


def asked(*rows):
    """Return ASKED of (question, answer, events, day of the month or None)."""
    times = [None if day is None else datetime.datetime(2026, 11, day, 12, tzinfo=datetime.UTC) for *_, day in rows]
    columns = {
        "question_id": pa.array([ord(row[0][0]) for row in rows], pa.int64()),
        "key": pa.array([row[0] for row in rows]),
        "text": pa.array([row[0] for row in rows]),
        "answer_id": pa.array([len(row[1]) for row in rows], pa.int64()),
        "answer": pa.array([row[1] for row in rows]),
        "events": pa.array([row[2] for row in rows], pa.int64()),
        "first_seen": pa.array(times, ASKED.field("first_seen").type),
        "last_seen": pa.array(times, ASKED.field("first_seen").type),
    }
    return pa.table(columns).cast(ASKED)


def test_counts_of_a_day_are_sums_in_one_order():
    rows = [("a", "x", 2, 20), ("b", "x", 1, None), ("a", "x", 3, 21), ("a", "yy", 1, 20)]
    merged = merge_day(asked(*rows))
    assert merged == merge_day(asked(*reversed(rows)))
    assert sorted(zip(*(merged[c].to_pylist() for c in ("text", "answer", "events")), strict=True)) == [
        ("a", "x", 5),
        ("a", "yy", 1),
        ("b", "x", 1),
    ]
    [row] = [row for row in merged.to_pylist() if row["events"] == 5]
    assert (row["first_seen"].day, row["last_seen"].day) == (20, 21)


def test_rows_of_other_days_are_counted():
    found = off_date_counts(asked(("a", "x", 2, 20), ("b", "x", 3, 21), ("c", "x", 4, 18), ("d", "x", 5, None)), DAY)
    assert found == {"rows_stamped": 9, "rows_off_date": 7, "rows_far_off_date": 4}


def test_a_day_is_in_universal_time():
    late = datetime.datetime(2026, 11, 20, 23, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=-2)))
    table = asked(("a", "x", 1, 20)).set_column(6, "first_seen", pa.array([late], ASKED.field("first_seen").type))
    table = table.set_column(7, "last_seen", table["first_seen"])
    assert off_date_counts(table, DAY)["rows_off_date"] == 1


@pytest.mark.parametrize("empty", [asked(("a", "x", 1, 20)).slice(0, 0)])
def test_no_row_is_no_count(empty):
    assert set(off_date_counts(empty, DAY).values()) == {0}
    assert len(merge_day(empty)) == 0
