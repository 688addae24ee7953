"""Drift of the answer mix: the distance of a day's answers from those of the days before.

new days, days before -> answer_mix -> Mix: the most distant new day, and the usual distance of the days before

Distance: Jensen-Shannon, the root of the divergence in bits (Lin 1991; Endres and Schindelin 2003 show that it is a
metric), 0 for equal shares and 1 for disjoint ones. It is defined where an answer is new, which the population
stability index is not. Each day before is compared with the others of them in the same way; so weekdays, chance and a
usual share of new answers are in the figure that a new day is compared with. Answers of the days before that have the
same text count as one: a renaming is a drift on its first day, when it can be a broken column, and not afterwards.
"""

from __future__ import annotations

import collections
import datetime
import functools
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.nightly.gate.answer_distance import MOST_BINS, Counts, DayDistance, compare_day, shares, summed, usual_mix
from pipelines.ingestion.days import Day, read_day_counts
from schemas.arrays import Int64s
from schemas.artifacts.concurrent_reads import read_each

DAYS: Final = 28
"""Maximum number of days before: whole weeks, and so few that the work of a night stays that of its day."""

FEWEST_DAYS: Final = 7
"""Minimum number of days before: with fewer a weekday would be new."""


class Mix(NamedTuple):
    """Distance of the most distant new day.

    Attributes:
        date: of that day.
        distance: of its answers, but for rare new ones, from those of the days before, in [0, 1].
        usual: distance of the most distant of the days before, but for an exception.
        new: share of its events with an answer that no day before has.
        moved: text of the answer whose share changed most.
        share_before: share of that answer on the days before.
        share: its share on the day.
        is_renamed: whether the same text has another id, on the day before if the answer is new, or on the day if it
            is gone.
        usual_new: usual share of such events.
        distance_of_new: distance of both shares, in [0, 1]; 0 if that of the day is no larger, or maybe by chance.
    """

    date: datetime.date
    distance: float
    usual: float
    new: float
    moved: str
    share_before: float
    share: float
    is_renamed: bool = False
    usual_new: float = 0.0
    distance_of_new: float = 0.0

    @property
    def excess(self) -> float:
        """Return the distance beyond the usual one, or that of the share of new answers if it is larger."""
        return DayDistance(self.distance, self.new, self.distance_of_new).excess(self.usual)


def answer_mix(fresh: Sequence[Day], before: Sequence[Day]) -> Mix | None:
    """Return the distance of the most distant new day; None without a new day or with too few days before.

    Args:
        fresh: days that the version before does not have.
        before: the other days of the window, ascending; the last `DAYS` of them are compared.

    Raises:
        QprError: a daily table is damaged.
    """
    if not fresh or len(before) < FEWEST_DAYS:
        return None
    counts = [*read_each(counts_of_day, before[-DAYS:], lambda day: day.bytes)]
    ids = ids_of_equal_texts(before[-DAYS:], counts)
    counts = [with_ids(day, ids) for day in counts]
    usual = usual_mix(counts)
    compared = [(day, counted := with_ids(counts_of_day(day), ids), compare_day(counted, usual)) for day in fresh]
    day, counted, far = max(compared, key=lambda each: each[2].excess(usual.distance))
    answer, share_before, share = most_moved(counted, usual.total)
    text = _text_of(answer, [day, *reversed(before[-DAYS:])])
    others = [before[-1]] if share_before == 0 else [day] if share == 0 else []
    return Mix(
        date=day.date,
        distance=far.mix,
        usual=usual.distance,
        new=far.new,
        moved=text,
        share_before=share_before,
        share=share,
        is_renamed=_has_text(others, text),
        usual_new=usual.new,
        distance_of_new=far.of_new,
    )


def counts_of_day(day: Day) -> Counts:
    """Return the events of a day by answer.

    Raises:
        QprError: its table is damaged.
    """
    tables = [*read_day_counts(day, ["answer_id", "events"])]  # texts are most of the bytes of up to 29 days
    if not tables:
        return Counts(np.array([], np.int64), np.array([], np.int64))
    whole = pa.concat_tables(tables)
    return summed(whole["answer_id"].to_numpy(), whole["events"].to_numpy())


def ids_of_equal_texts(days: Sequence[Day], counts: Sequence[Counts]) -> dict[int, int]:
    """Return for each answer whose most frequent text has another id too the smallest id with this text.

    Args:
        days: before.
        counts: of each. Only answers that are frequent on one day and missing on another can be renamed ones that
            matter; without two of them no text is read.

    Raises:
        QprError: a daily table is damaged.
    """
    answers, days_of = np.unique(np.concatenate([day.answers for day in counts]), return_counts=True)
    frequent = [day.answers[day.events * MOST_BINS >= day.events.sum()] for day in counts]
    changing = np.intersect1d(answers[days_of < len(counts)], np.concatenate(frequent))
    if len(changing) < 2:
        return {}
    texts = _frequent_texts(changing, days)
    smallest: dict[str, int] = {}
    for answer in sorted(texts):
        smallest.setdefault(texts[answer], answer)
    return {answer: smallest[text] for answer, text in texts.items() if smallest[text] != answer}


def with_ids(day: Counts, ids: Mapping[int, int]) -> Counts:
    """Return the events of a day by answer, some of which count as others."""
    answers = day.answers.copy()
    for answer, other in ids.items():
        answers[answers == answer] = other
    return summed(answers, day.events)


def most_moved(day: Counts, before: Counts) -> tuple[int, float, float]:
    """Return the answer whose share changed most, its share on the days before, and on the day."""
    answers, of_day, of_before = shares(day, before)
    place = int(np.argmax(np.abs(of_day - of_before)))
    return int(answers[place]), float(of_before[place]), float(of_day[place])


def _has_text(days: Sequence[Day], text: str) -> bool:
    """Return whether an answer of these days has this text."""
    tables = (rows for day in days for rows in read_day_counts(day, ["answer"]))
    return any(pc.any(pc.equal(rows["answer"], text)).as_py() for rows in tables)


def _text_of(answer: int, days: Sequence[Day]) -> str:
    """Return the first text of an answer; the first of these days that has it is read."""
    for day in days:
        for rows in read_day_counts(day, ["answer_id", "answer"]):
            texts = rows.filter(pc.equal(rows["answer_id"], answer))["answer"]
            if len(texts):
                return str(texts[0].as_py())
    return ""


def _frequent_texts(answers: Int64s, days: Sequence[Day]) -> dict[int, str]:
    """Return the most frequent text of some answers of these days."""
    events: collections.Counter[tuple[int, str]] = collections.Counter()
    for of_day in read_each(functools.partial(_events_of_texts, answers), days, lambda day: day.bytes):
        events.update(of_day)
    rarest_first = sorted(events, key=lambda form: (events[form], form))
    return dict(rarest_first)


def _events_of_texts(answers: Int64s, day: Day) -> collections.Counter[tuple[int, str]]:
    """Return the events of some answers of a day, by answer and text."""
    events: collections.Counter[tuple[int, str]] = collections.Counter()
    for rows in read_day_counts(day, ["answer_id", "answer", "events"]):
        of_answers = rows.filter(pc.is_in(rows["answer_id"], pa.array(answers)))
        for answer, text, count in zip(*(column.to_pylist() for column in of_answers.columns), strict=True):
            events[answer, text] += count
    return events
