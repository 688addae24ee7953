"""False refusals and detected faults of the gate's drift of the answer mix, on simulated logs.

Run: python -m benchmarks.pipelines.answer_mix --events 2000 --events 20000

A log is divided into 42 days. From the ninth on, each day is compared with those before it: as it is (``excess`` of
harmless days: a limit below the largest refuses one), and with a planted fault. Faults: a share of the rows gets one
answer ("one answer"), a share of the answers is renamed to ones that no day has ("new answers"), a random half of the
answers is missing ("half of the answers missing"), weekends have another mix in all weeks ("weekends", harmless). A
lasting change gives 20 % of the rows of each day from one on the same answer: its first days are compared with those
before, of which the later ones have it ("lasting change, day 2"). "After a published fault" is a day on which 20 % of
the rows get one answer, three days after another such day that was let pass. In a growing log a share of the rows of
each day has a new answer, and the others repeat answers of earlier days ("growing by 20%").
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import simulate
from jobs.nightly.gate.answer_distance import Counts, UsualMix, compare_day, together, usual_mix
from jobs.nightly.gate.answer_mix import DAYS
from schemas.arrays import Int64s
from schemas.text import hash64

NIGHTS = 42
FIRST = 8
"""Days before the first one that is compared; the gate needs 7."""

GROWTH = (0.05, 0.2, 0.5, 0.95)
"""Shares of the rows of a growing log that have a new answer each day."""

Fault = Callable[[Counts, np.random.Generator], Counts]


def days_of(log: str) -> list[Counts]:
    """Return the events of each day of a log by answer."""
    rows = pq.read_table(log, columns=["answer", "timestamp"])
    start = rows["timestamp"].cast(pa.int64()).to_numpy() // (24 * 3600 * 10**6)
    texts = rows["answer"].combine_chunks().dictionary_encode()
    ids = np.array([hash64(text) for text in texts.dictionary.to_pylist()], np.int64)
    answers = ids[texts.indices.to_numpy()]
    return [_counted(answers[start == day]) for day in np.unique(start)]


def one_answer(share: float) -> Fault:
    """Return a fault that gives a share of the rows one answer."""

    def plant(day: Counts, draw: np.random.Generator) -> Counts:
        taken = draw.binomial(day.events, share)
        events = day.events - taken
        events[draw.integers(len(events))] += taken.sum()
        return Counts(day.answers[events > 0], events[events > 0])

    return plant


def new_answers(share: float) -> Fault:
    """Return a fault that gives a share of the rows answers that no day has, as a renaming does."""

    def plant(day: Counts, draw: np.random.Generator) -> Counts:
        renamed = draw.random(len(day.answers)) < share
        answers = np.where(renamed, day.answers ^ 1, day.answers)
        order = np.argsort(answers)
        return Counts(answers[order], day.events[order])

    return plant


def missing(day: Counts, draw: np.random.Generator) -> Counts:
    """Return a day without half of its answers, drawn at random."""
    kept = draw.random(len(day.answers)) < 0.5
    return Counts(day.answers[kept], day.events[kept])


def weekends(days: Sequence[Counts]) -> Iterator[Counts]:
    """Yield the days, of which each sixth and seventh has only every other event of every third answer."""
    for number, day in enumerate(days):
        events = np.where((number % 7 >= 5) & (day.answers % 3 == 0), day.events // 2, day.events)
        yield Counts(day.answers[events > 0], events[events > 0])


def before(days: Sequence[Counts], night: int) -> UsualMix:
    """Return the answers of the days before a night."""
    return usual_mix(days[max(0, night - DAYS) : night])


def excess(day: Counts, earlier: UsualMix) -> float:
    """Return the figure of a day that the gate compares with its limit."""
    return compare_day(day, earlier).excess(earlier.distance)


def growing(nights: int, events: int, new: float, seed: int) -> list[Counts]:
    """Return days of which a share of the rows has a new answer, and the others have one of a random row before."""
    draw = np.random.default_rng([seed, nights, events])
    rows = np.zeros(0, np.int64)
    days = []
    for night in range(nights):
        fresh = draw.binomial(events, new) if night else events
        answers = 2 * (night * events + np.arange(fresh))  # even: `new_answers` makes odd ones
        rows = np.concatenate([rows, answers, draw.choice(rows, events - fresh) if night else rows])
        days.append(_counted(rows[-events:]))
    return days


def published(days: Sequence[Counts], nights: Sequence[int], seed: int) -> dict[str, list[float]]:
    """Return the excess of days of which earlier ones had a change that was let pass, by name, for each night."""
    excesses: dict[str, list[float]] = {f"lasting change, day {number}": [] for number in (1, 2, 3)}
    excesses["after a published fault, one answer, 20%"] = []
    frequent = together(days).answers[int(together(days).events.argmax())]
    for night in nights:
        draw = np.random.default_rng([seed, night])
        changed = [_with_answer(day, frequent, 0.2, draw) for day in days[night - 2 : night + 1]]
        for number in (1, 2, 3):
            earlier = before([*days[: night - number + 1], *changed[3 - number : 2]], night)
            excesses[f"lasting change, day {number}"].append(excess(changed[2], earlier))
        plant = one_answer(0.2)
        earlier = before([*days[: night - 3], plant(days[night - 3], draw), *days[night - 2 :]], night)
        excesses["after a published fault, one answer, 20%"].append(excess(plant(days[night], draw), earlier))
    return excesses


def planted(days: Sequence[Counts], faults: Mapping[str, Fault], seed: int) -> dict[str, list[float]]:
    """Return the excess of each night's day with a fault, by name."""
    nights = range(FIRST, len(days))
    earlier = [before(days, night) for night in nights]
    return {
        name: [
            excess(plant(days[night], np.random.default_rng([seed, night])), usual)
            for usual, night in zip(earlier, nights, strict=True)
        ]
        for name, plant in faults.items()
    }


def main(
    events: Annotated[list[int] | None, typer.Option(help="Rows of a day; repeatable.")] = None,
    limit: Annotated[float, typer.Option(help="Limit of the gate.")] = 0.1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the excess of harmless and of faulty days, and the share of them that the limit refuses."""
    report = Report(as_json=as_json, nights=NIGHTS, limit=limit, seed=seed, date=str(datetime.date.today()))
    faults: dict[str, Fault] = {f"one answer, {share:.0%}": one_answer(share) for share in (0.05, 0.1, 0.2, 0.3)}
    faults |= {f"new answers, {share:.0%}": new_answers(share) for share in (0.1, 0.2, 0.5, 1.0)}
    faults["half of the answers missing"] = missing
    for number in events or [2_000, 20_000]:
        with tempfile.TemporaryDirectory() as folder:
            log = simulate(folder, events=NIGHTS * number, seed=seed, options=("--days", NIGHTS))
            days = days_of(log)
        weekly = list(weekends(days))
        nights = range(FIRST, len(days))
        earlier = [before(days, night) for night in nights]
        small = [_sampled(days[night], 0.1, night) for night in nights]
        excesses = {
            "harmless": [excess(days[night], usual) for usual, night in zip(earlier, nights, strict=True)],
            "harmless, a tenth of the rows": [excess(day, usual) for usual, day in zip(earlier, small, strict=True)],
            "harmless, weekends": [excess(weekly[night], before(weekly, night)) for night in nights],
        }
        excesses |= published(days, nights, seed) | planted(days, faults, seed)
        for share in GROWTH:
            grown = planted(growing(NIGHTS, number, share, seed), {"harmless": lambda day, _: day} | faults, seed)
            excesses |= {f"growing by {share:.0%}, {name}": values for name, values in grown.items()}
        for name, values in excesses.items():
            report.row(
                rows_of_a_day=number,
                day=name,
                least=min(values),
                median=float(np.median(values)),
                most=max(values),
                refused=float(np.mean(np.array(values) > limit)),
            )


def _counted(answers: Int64s) -> Counts:
    return Counts(*np.unique(answers, return_counts=True))


def _with_answer(day: Counts, answer: int, share: float, draw: np.random.Generator) -> Counts:
    """Return a day on which one answer has a share of the rows of all others."""
    taken = draw.binomial(day.events, share)
    return together([Counts(day.answers, day.events - taken), Counts(np.array([answer]), np.array([taken.sum()]))])


def _sampled(day: Counts, share: float, seed: int) -> Counts:
    events = np.random.default_rng(seed).binomial(day.events, share)
    return Counts(day.answers[events > 0], events[events > 0])


if __name__ == "__main__":
    run(main)
