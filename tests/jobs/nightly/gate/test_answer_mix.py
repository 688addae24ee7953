import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.nightly.gate.answer_mix import answer_mix
from jobs.nightly.gate.evidence import mix_of
from pipelines.ingestion.days import Day
from pipelines.intermediate import ASKED
from schemas.artifacts import storage
from schemas.artifacts.manifest import Erased, Source
from schemas.artifacts.table_files import read_rows
from schemas.artifacts.writer import Output

FIRST = datetime.date(2026, 11, 1)
POPULAR = 1 / np.arange(1, 41) ** 0.8
POPULAR /= POPULAR.sum()


@pytest.fixture
def day(memory):
    """Return a function that publishes a daily table with these numbers of events by answer."""

    def publish(number, events, texts=None):
        url = storage.join(memory, "daily", f"{number:03}")
        answers = list(events)
        rows = pa.table(
            {
                "question_id": pa.array(answers, pa.int64()),
                "key": [f"question {n}" for n in answers],
                "text": [f"question {n}" for n in answers],
                "answer_id": pa.array(answers, pa.int64()),
                "answer": [(texts or {}).get(n, f"answer {n}") for n in answers],
                "log_answer_id": pa.nulls(len(answers), pa.string()),
                "events": pa.array(events.values(), pa.int64()),
                "first_seen": pa.nulls(len(answers), ASKED.field("first_seen").type),
                "last_seen": pa.nulls(len(answers), ASKED.field("last_seen").type),
            }
        ).cast(ASKED)
        with Output(url, "day") as output:
            sink = pa.BufferOutputStream()
            pq.write_table(rows, sink)
            content = sink.getvalue().to_pybytes()
            file = output.write("asked/one.parquet", content, table="asked", rows=len(rows))
            manifest = output.publish([file], inputs=[], configuration={}, counters={})
        return Day(FIRST + datetime.timedelta(days=number), url, manifest)

    return publish


def drawn(seed, shares=POPULAR, *, events=1000, first=0):
    counts = np.random.default_rng(seed).multinomial(events, shares)
    return {first + answer: int(n) for answer, n in enumerate(counts) if n}


def test_a_usual_day_is_no_further_than_those_before_and_a_shifted_one_is(day):
    before = [day(n, drawn(n)) for n in range(10)]
    usual = answer_mix([day(10, drawn(10))], before)
    assert usual.excess < 0.05
    shifted = POPULAR * 0.7
    shifted[25] += 0.3
    far = answer_mix([day(11, drawn(11)), day(12, drawn(12, shifted))], before)
    assert far.date == FIRST + datetime.timedelta(days=12)  # the most distant of the new days
    assert far.excess > 0.2
    assert far.usual == usual.usual
    assert (far.moved, far.share > 0.28, far.share_before < 0.05) == ("answer 25", True, True)


def test_a_share_of_new_answers_that_every_day_has_is_usual(day):
    def with_new(number):
        return drawn(number, events=800) | drawn(number, events=200, first=1000 * (number + 1))

    before = [day(n, with_new(n)) for n in range(8)]
    assert answer_mix([day(8, with_new(8))], before).excess < 0.05
    renamed = answer_mix([day(9, drawn(9, first=90_000))], before)
    assert renamed.new == 1
    assert renamed.excess > 0.4


def test_fewer_than_seven_days_before_are_not_compared(day):
    days = [day(n, drawn(n)) for n in range(8)]
    assert answer_mix(days[-1:], days[1:-1]) is None
    assert answer_mix(days[-1:], days[:-1]) is not None
    assert answer_mix([], days) is None


def test_new_days_are_those_that_the_version_before_lacks(day, memory):
    days = [day(n, drawn(n)) for n in range(8)]
    with Output(f"{memory}/dataset", "dataset") as output:
        inputs = [Source(url=one.url, digest=one.manifest.digest) for one in days[:7]]
        file = output.write("questions/one", b"1", table="questions")
        manifest = output.publish([file], inputs=inputs, configuration={}, counters={})
    assert mix_of(days, manifest).date == days[7].date
    assert mix_of(days[:7], manifest) is None
    assert mix_of(days, None) is None
    assert mix_of(days[5:], manifest) is None
    assert mix_of(days[5:], manifest, days[:5]) == mix_of(days, manifest)
    assert mix_of(days[:7], manifest, [days[7]]) is None  # a day that left the window is not new


def test_a_day_that_questions_were_erased_from_is_not_new(day, memory):
    days = [day(n, drawn(n)) for n in range(8)]
    old = Erased(digest="e" * 64, on=FIRST)
    days[0] = days[0]._replace(manifest=days[0].manifest.model_copy(update={"erased": [old]}))
    with Output(f"{memory}/dataset", "dataset") as output:
        digests = [old.digest, *(one.manifest.digest for one in days[1:])]
        inputs = [Source(url=one.url, digest=digest) for one, digest in zip(days, digests, strict=True)]
        file = output.write("questions/one", b"1", table="questions")
        manifest = output.publish([file], inputs=inputs, configuration={}, counters={})
    assert mix_of(days, manifest) is None


def test_only_the_columns_that_are_compared_are_read(day, monkeypatch):
    days = [day(n, drawn(n)) for n in range(8)]
    read = []

    def recorded(content, schema, *, columns, **others):
        read.append(columns)
        return read_rows(content, schema, columns=columns, **others)

    monkeypatch.setattr("pipelines.ingestion.days.read_rows", recorded)
    assert answer_mix(days[-1:], days[:-1]).moved.startswith("answer ")
    assert read == [*8 * [["answer_id", "events"]], ["answer_id", "answer"]]


def test_an_answer_whose_text_has_another_id_is_renamed(day):
    before = [day(n, drawn(n)) for n in range(8)]
    events = drawn(9)
    new_id = {50: events.pop(0), **events}
    assert answer_mix([day(9, new_id, {50: "answer 0"})], before).is_renamed
    smaller_id = {-50: drawn(9)[0], **events}  # of two equal moves that of the smaller id is named
    assert answer_mix([day(10, smaller_id, {-50: "answer 0"})], before).is_renamed
    assert not answer_mix([day(11, new_id)], before).is_renamed
    assert not answer_mix([day(12, drawn(12))], before).is_renamed


def test_a_growing_log_is_no_drift_and_new_answers_of_half_the_rows_are(day):
    draw = np.random.default_rng(3)
    rows, growing = np.arange(200), []
    for number in range(16):
        rows = np.concatenate([rows, 1000 * (number + 1) + np.arange(20), draw.choice(rows, 80)])
        growing.append(rows[-100:])
    counted = [dict(zip(*map(np.ndarray.tolist, np.unique(one, return_counts=True)), strict=True)) for one in growing]
    days = [day(n, events) for n, events in enumerate(counted)]
    for n in range(8, 16):
        assert answer_mix(days[n : n + 1], days[:n]).excess < 0.05
    half_new = {answer + 500_000 * (answer % 2): events for answer, events in counted[-1].items()}
    mix = answer_mix([day(20, half_new)], days[:-1])
    assert mix.excess == mix.distance_of_new > 0.2
    assert mix.new > 0.45
    assert 0.15 < mix.usual_new < 0.25


@pytest.mark.parametrize("since", [9, 14, 19])  # days with the new id: all but one, half, one
def test_a_renaming_that_was_published_is_no_drift_on_later_days(day, since):
    def with_new_id(number):
        events = drawn(number)
        return {50: events.pop(0), **events} if number >= since else events

    before = [day(n, with_new_id(n), {50: "answer 0"}) for n in range(8, 20)]
    mix = answer_mix([day(20, with_new_id(20), {50: "answer 0"})], before)
    assert mix.usual < 0.1  # .27 to .35 with two answers in place of one
    assert mix.distance < 0.1
    assert mix.new == 0
    shifted = POPULAR * 0.8
    shifted[25] += 0.2
    assert answer_mix([day(21, drawn(21, shifted))], before).excess > 0.1


def test_an_answer_of_the_days_before_that_has_a_new_id_again_is_a_drift(day):
    before = [day(n, drawn(n) if n < 6 else {50: drawn(n).pop(0), **drawn(n)}, {50: "answer 0"}) for n in range(12)]
    events = drawn(12)
    renamed = answer_mix([day(12, {60: events.pop(0), **events}, {60: "answer 0"})], before)
    assert renamed.excess > 0.2
    assert renamed.is_renamed


def test_a_fault_that_was_let_pass_hides_no_other_from_14_days_on(day):
    faulty = POPULAR * 0.75
    faulty[25] += 0.25
    before = [day(n, drawn(n, faulty if n == 5 else POPULAR)) for n in range(14)]
    same = day(14, drawn(14, faulty))
    assert answer_mix([same], before).excess > 0.15
    assert answer_mix([same], before[1:]).excess < 0  # 13 days can have a weekday only once
    assert answer_mix([day(15, drawn(15))], before).excess < 0.05


def test_a_lasting_change_that_was_let_pass_twice_is_usual(day):
    changed = POPULAR * 0.75
    changed[25] += 0.25
    days = [day(n, drawn(n, changed if n >= 14 else POPULAR)) for n in range(17)]
    assert answer_mix(days[14:15], days[:14]).excess > 0.15
    assert answer_mix(days[16:], days[:16]).excess < 0
