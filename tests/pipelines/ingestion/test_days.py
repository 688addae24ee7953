import collections
import datetime
import os
import re

import pyarrow as pa
import pytest

from pipelines.graphs.ingest import read_day
from pipelines.graphs.settings import IngestConfig
from pipelines.ingestion.days import (
    ADDED,
    COUNTS,
    Day,
    DayFile,
    is_of_earlier_release,
    merge_day,
    off_date_counts,
    read_day_file,
    read_waiting,
    seal_rows,
)
from pipelines.intermediate import ASKED, USER
from pipelines.privacy.users import UserKey
from pipelines.reading.sources import expand
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.manifest import File, Manifest
from schemas.artifacts.writer import write_file
from schemas.errors import QprError

DAY = datetime.date(2026, 11, 20)
STAMPS = ('"2026-11-20T08:00:00Z"', '"2026-11-21T08:00:00Z"', '"2026-11-01T08:00:00Z"', "null")


def asked(*rows):
    """Return ASKED of (question, answer, events, day of the month or None)."""
    times = [None if day is None else datetime.datetime(2026, 11, day, 12, tzinfo=datetime.UTC) for *_, day in rows]
    columns = {
        "question_id": pa.array([ord(row[0][0]) for row in rows], pa.int64()),
        "key": pa.array([row[0] for row in rows]),
        "text": pa.array([row[0] for row in rows]),
        "answer_id": pa.array([len(row[1]) for row in rows], pa.int64()),
        "answer": pa.array([row[1] for row in rows]),
        "log_answer_id": pa.nulls(len(rows), pa.string()),
        "events": pa.array([row[2] for row in rows], pa.int64()),
        "first_seen": pa.array(times, ASKED.field("first_seen").type),
        "last_seen": pa.array(times, ASKED.field("first_seen").type),
    }
    return pa.table(columns).cast(ASKED)


def times(*days):
    """Return noon of days of the month or None."""
    stamps = [None if day is None else datetime.datetime(2026, 11, day, 12, tzinfo=datetime.UTC) for day in days]
    return pa.chunked_array([stamps], ASKED.field("first_seen").type)


def test_rows_of_other_days_are_counted_alike_in_any_batches(tmp_path):
    rows = [f'{{"question": "how do I pay", "answer": "x", "timestamp": {time}}}\n' for time in STAMPS]
    found = []
    for files in (["".join(rows)], rows):
        counts = collections.Counter()
        for number, text in enumerate(files):
            (tmp_path / f"{number}.jsonl").write_text(text)
            [source] = expand([str(tmp_path / f"{number}.jsonl")])
            for part in read_day(source, IngestConfig(), DAY):
                counts.update(part.value.counts if getattr(part, "tag", "") == "written" else {})
        found.append([counts[name] for name in ("rows_stamped", "rows_off_date", "rows_far_off_date")])
    assert found == [[3, 2, 1]] * 2


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


def test_a_day_of_an_earlier_release_has_no_ids_of_answers(tmp_path):
    rows = merge_day(asked(("a", "x", 2, 20), ("b", "x", 1, None)))
    assert set(ADDED) <= set(rows.column_names)
    content = to_parquet(rows.drop_columns([*ADDED]), COUNTS)
    file = write_file(str(tmp_path / "run"), "asked/part", content, table=COUNTS, rows=len(rows))
    [(table, read)] = read_day_file(DayFile(str(tmp_path), file), None)
    assert (table, read) == (COUNTS, rows)
    key = UserKey(b"a-long-secret-key")
    waiting = rows.append_column(USER, pa.array([1, None], USER.type))
    sealed = seal_rows(waiting.drop_columns([*ADDED]), key)
    assert read_waiting(sealed, key, name="waiting/part", rows=2).equals(waiting)


def test_a_day_whose_counts_were_cut_off_is_named_with_the_command_that_makes_it_again(tmp_path):
    rows = merge_day(asked(("a", "x", 2, 20)))
    file = write_file(str(tmp_path / "run"), "asked/part", to_parquet(rows, COUNTS), table=COUNTS, rows=len(rows))
    day = Day(DAY, str(tmp_path), Manifest.model_construct(files=[file]))
    assert not is_of_earlier_release(day)
    place = tmp_path / file.path
    place.write_bytes(place.read_bytes()[:-4])
    with pytest.raises(QprError, match=f"^{re.escape(str(place))}: .* `qpr ingest` with --date 2026-11-20$"):
        is_of_earlier_release(day)


@pytest.mark.parametrize(("url", "absolute"), [("w/day", f"{os.getcwd()}/w/day"), ("memory://w/day", "memory://w/day")])
def test_files_of_a_day_have_urls_that_hold_in_any_folder(url, absolute):
    file = File(path="asked/part", table="asked", bytes=1, rows=1, sha256="0" * 64)
    assert Day(DAY, url, Manifest.model_construct(files=[file])).files == [DayFile(absolute, file)]


def test_rows_of_other_days_are_counted():
    found = off_date_counts(times(*[20] * 2, *[21] * 3, *[18] * 4, *[None] * 5), DAY)
    assert found == {"rows_stamped": 9, "rows_off_date": 7, "rows_far_off_date": 4}


@pytest.mark.parametrize(
    ("first", "off", "far"),
    [
        ("2026-11-18 23:59:59", 1, 1),
        ("2026-11-19 00:00:00", 1, 0),
        ("2026-11-20 00:00:00", 0, 0),
        ("2026-11-21 00:00:00", 1, 0),
        ("2026-11-22 00:00:00", 1, 1),
    ],
)
def test_a_day_begins_at_midnight(first, off, far):
    time = datetime.datetime.fromisoformat(f"{first}+00:00")
    found = off_date_counts(pa.chunked_array([[time]], ASKED.field("first_seen").type), DAY)
    assert found == {"rows_stamped": 1, "rows_off_date": off, "rows_far_off_date": far}


@pytest.mark.parametrize("empty", [asked(("a", "x", 1, 20)).slice(0, 0)])
def test_no_row_is_no_count(empty):
    assert set(off_date_counts(empty["first_seen"], DAY).values()) == {0}
    assert len(merge_day(empty)) == 0


def test_rows_of_ignored_answers_are_carried_by_the_places_of_the_dataset():
    counters = {"rows_read": 9, "rows_kept": 1, "ignored_answer_0": 2, "ignored_answer_1": 3, "ignored_answer_3": 4}
    own = {"validation": {"ignored_answers": ["Okay.", "Sorry.", "Hm", "Gone"]}}
    manifest = Manifest.model_construct(configuration=own, counters=counters)
    day = Day(DAY, "daily", manifest)
    assert day.carried(["New", "sorry.", "OKAY.", "okay."]) == {
        "rows_read": 9,
        "ignored_answer_1": 3,
        "ignored_answer_2": 2,
    }
    assert day.carried([]) == {"rows_read": 9}
