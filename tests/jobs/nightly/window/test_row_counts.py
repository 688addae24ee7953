import datetime
from types import SimpleNamespace

import pyarrow as pa
import pytest

from jobs.nightly.window import row_counts
from jobs.nightly.window.row_counts import warn_of_unusual_rows

FIRST = datetime.date(2025, 11, 1)


def day_of(n, rows=2000, rejected=0, share_with_id=0.0, is_old=False, **reasons):
    counters = {"rows_read": rows, "rows_rejected": rejected, **reasons}
    date = FIRST + datetime.timedelta(days=n)
    manifest = SimpleNamespace(counters=counters)
    url = f"daily/date={date}"
    return SimpleNamespace(date=date, url=url, manifest=manifest, share_with_id=share_with_id, is_old=is_old)


@pytest.fixture(autouse=True)
def releases(monkeypatch):
    """Read the release of a day from its attribute, as these days have no files."""
    monkeypatch.setattr(row_counts, "is_of_earlier_release", lambda day: day.is_old)


@pytest.fixture
def warned(monkeypatch, capsys):
    """Return a function that gives the warnings of the last of some days."""
    monkeypatch.setattr(row_counts, "_share_with_id", lambda day: day.share_with_id)

    def warnings(*days):
        warn_of_unusual_rows("w", [days[-1].date], days)
        return capsys.readouterr().err.splitlines()

    return warnings


def usual(days=8, **values):
    return [day_of(n, rows=2000 + 100 * (n % 3), **values) for n in range(days)]


def test_a_day_like_those_before_is_no_warning(warned):
    assert warned(*usual(), day_of(8, rows=1300, rejected=20)) == []


def test_a_drop_of_which_half_was_copied_is_a_warning(warned):
    assert warned(*usual(), day_of(8, rows=900)) == [
        "warning: 2025-11-09: 900 rows, and at least 2,000 on each of the 8 days before. If the drop is not complete, "
        "copy it again and run the night of this day again"
    ]
    assert warned(*usual(6), day_of(6, rows=900)) == []  # too few days before to compare with


def test_a_drop_that_came_twice_is_a_warning(warned):
    [warning] = warned(*usual(), day_of(8, rows=4400))
    assert "4,400 rows, and at most 2,200 on each of the 8 days before" in warning


def test_more_rejected_rows_than_usual_are_a_warning_with_their_reason(warned):
    reasons = {"rejected_read_invalid_json": 150, "rejected_filters_no_answer": 10}
    assert warned(*usual(rejected=20), day_of(8, rejected=160, **reasons)) == [
        "warning: 2025-11-09: 8.0 % of the rows are rejected, and at most 1.0 % on each of the 8 days before. 150 of "
        "them: read invalid json. The table rejected of daily/date=2025-11-09 has them"
    ]


def test_a_day_that_lost_its_answer_ids_is_a_warning(warned):
    [warning] = warned(day_of(0, share_with_id=1.0), day_of(1))
    assert "no row has an answer id, unlike 2025-11-01" in warning
    assert "--column answer_id=NAME" in warning
    assert warned(day_of(0), day_of(1)) == []


def test_days_of_an_earlier_release_without_answer_ids_are_a_warning_with_the_command_that_reads_them(warned):
    old, new = [day_of(n, is_old=True) for n in range(2)], [day_of(n, share_with_id=0.1) for n in (2, 3)]
    assert warned(*old, *new) == [
        "warning: 2 days ingested by an earlier release, without the ids of answers, the first 2025-11-01: some "
        "questions keep the old text of an edited answer. Run `qpr ingest --warehouse w --from 2025-11-01 --to "
        "2025-11-02` with the options of this night to read the days again"
    ]
    assert warned(*old, day_of(2)) == []  # the log has no ids


@pytest.mark.parametrize(("ids", "number"), [("a--", 0), ("a-b", 1)])
def test_answer_ids_of_the_minority_of_a_day_are_not_missed(monkeypatch, capsys, ids, number):
    def read(day, columns):
        found = ids if day.date == FIRST else "--"
        return [
            pa.table({name: pa.array([{"-": None}.get(one, one)], pa.string()) for name in columns}) for one in found
        ]

    monkeypatch.setattr(row_counts, "read_day_counts", read)
    warn_of_unusual_rows("w", [day_of(1).date], [day_of(0), day_of(1)])
    assert len(capsys.readouterr().err.splitlines()) == number
