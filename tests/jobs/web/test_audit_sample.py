"""The draw of given answers for people to judge."""

import collections
import datetime
import json
import random

import pytest

from jobs.web.audit_sample import FILE, TODAY, AuditSample
from schemas.errors import QprError


class Clock:
    def __init__(self):
        self.now = datetime.datetime(2026, 10, 1, 12, tzinfo=datetime.UTC)

    def __call__(self):
        return self.now

    def next_day(self):
        self.now += datetime.timedelta(days=1)


@pytest.fixture
def clock():
    return Clock()


def drawn(folder):
    path = folder / FILE
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def offer(sample, number):
    sample.offer({"question": str(number), "certificate": "c"})


def test_a_day_is_drawn_when_it_is_over(tmp_path, clock):
    sample = AuditSample(tmp_path, 2, now=clock)
    for number in range(5):
        offer(sample, number)
    assert sample.save() == 0
    assert drawn(tmp_path) == []
    clock.next_day()
    assert sample.save() == 2
    assert sample.save() == 0
    rows = drawn(tmp_path)
    assert len({row["request_id"] for row in rows}) == 2
    assert {row["question"] for row in rows} <= set("01234")
    assert sample.certificate_of(rows[0]["request_id"]) == "c"
    assert sample.certificate_of("unknown") is None


@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_is_set_back_by_a_day_draws_no_day_twice(tmp_path, clock, restarted):
    sample = AuditSample(tmp_path, 2, now=clock)
    added = 0
    for days in (0, 1, -1, 1):  # the second day begins, and is over only once
        clock.now += datetime.timedelta(days=days)
        for number in range(5):
            offer(sample, number)
        added += sample.save()
        sample = AuditSample(tmp_path, 2, now=clock) if restarted else sample
    assert added == 2
    clock.next_day()
    assert sample.save() == 2


def test_a_clock_that_was_a_year_ahead_ends_its_day(tmp_path, clock):
    clock.now += datetime.timedelta(days=365)
    sample = AuditSample(tmp_path, 2, now=clock)
    offer(sample, 1)
    clock.now -= datetime.timedelta(days=365)
    assert sample.save() == 1


def test_an_answer_of_the_next_day_ends_the_day_too(tmp_path, clock):
    sample = AuditSample(tmp_path, 3, now=clock)
    offer(sample, 1)
    clock.next_day()
    offer(sample, 2)
    assert sample.save() == 1
    assert [row["question"] for row in drawn(tmp_path)] == ["1"]


def test_all_answers_of_a_day_have_the_same_chance(tmp_path, clock):
    rng, counts = random.Random(3), collections.Counter()
    for run in range(400):
        folder = tmp_path / str(run)
        folder.mkdir()
        sample = AuditSample(folder, 2, now=clock, rng=rng)
        for number in range(8):
            offer(sample, number)
        clock.next_day()
        sample.save()
        counts.update(row["question"] for row in drawn(folder))
    assert sum(counts.values()) == 800
    assert all(70 <= counts[str(number)] <= 130 for number in range(8)), counts


def test_a_restart_continues_the_day(tmp_path, clock):
    sample = AuditSample(tmp_path, 2, now=clock)
    for number in range(3):
        offer(sample, number)
    sample.save()
    clock.next_day()
    again = AuditSample(tmp_path, 2, now=clock)
    assert again.save() == 2
    name = drawn(tmp_path)[0]["request_id"]
    assert AuditSample(tmp_path, 2, now=clock).certificate_of(name) == "c"


def test_a_day_whose_end_cannot_be_written_is_added_to_the_sample_once(tmp_path, clock):
    sample = AuditSample(tmp_path, 2, now=clock)
    offer(sample, 1)
    clock.next_day()
    (tmp_path / TODAY).mkdir()  # as any failure to write
    for _ in range(2):
        with pytest.raises(OSError, match=TODAY):
            sample.save()
    assert drawn(tmp_path) == []
    (tmp_path / TODAY).rmdir()
    assert (sample.save(), sample.save()) == (1, 0)
    assert [row["question"] for row in drawn(tmp_path)] == ["1"]


def test_a_day_that_was_added_before_the_process_was_killed_is_not_added_again(tmp_path, clock):
    sample = AuditSample(tmp_path, 2, now=clock)
    offer(sample, 1)
    sample.save()
    before = (tmp_path / TODAY).read_bytes()
    clock.next_day()
    sample.save()
    (tmp_path / TODAY).write_bytes(before)
    again = AuditSample(tmp_path, 2, now=clock)
    assert again.save() == 0
    assert [row["question"] for row in drawn(tmp_path)] == ["1"]


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_part_of_a_line_that_a_killed_process_left_does_not_end_the_next_one(tmp_path, clock, kept):
    sample = AuditSample(tmp_path, 3, now=clock)
    for number in range(3):
        offer(sample, number)
    sample.save()
    before = (tmp_path / TODAY).read_bytes()
    clock.next_day()
    sample.save()
    expected = (tmp_path / FILE).read_bytes()
    first, second, _ = expected.splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(first + second[:kept])
    (tmp_path / TODAY).write_bytes(before)
    AuditSample(tmp_path, 3, now=clock).save()
    assert (tmp_path / FILE).read_bytes() == expected


@pytest.mark.parametrize(
    ("file", "content", "fault"),
    [
        (TODAY, "{", "is no draw of a day. Restore it, or remove it"),
        (TODAY, '{"day": "2026-10-01", "seen": -1, "rows": []}', "is no draw of a day"),
        (FILE, '{"request_id": "1", "certifi', "is no sample of answers. Restore it, or move it away"),
        (FILE, '{"request_id": 1}\n', "is no sample of answers. Restore it, or move it away"),
    ],
)
def test_damaged_files_are_refused(tmp_path, file, content, fault):
    (tmp_path / file).write_text(content)
    with pytest.raises(QprError, match=fault):
        AuditSample(tmp_path, 2)
