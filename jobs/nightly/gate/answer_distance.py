"""Distance of a day's answers from those of the days before, by their counts.

counts of the days before -> usual_mix -> UsualMix; a day, UsualMix -> compare_day -> DayDistance

The share of new answers is compared apart, with that of each of the last days before among the days before it. In a log
that grows, later days repeat the answers of earlier ones, so that a day before has fewer answers than the new one that
the others of them lack: the distance of all answers together refused harmless days of facts. A frequent new answer is
in both figures: in such a log one that many rows get, as in an outage, changes the share of new ones little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import rel_entr

from schemas.arrays import Float64s, Int64s
from schemas.statistics.binomial import lower_tail

_DAYS_OF_EXCEPTION: Final = 14
"""Minimum number of days before of which the most unusual is left out: it can be a fault that a higher limit let pass.
In fewer days it can be the only one of its weekday. Of four or five late days without the one with most new answers a
help desk that gets new answers was refused on 8 of 84 harmless nights, and on 2 with all of them."""

MOST_BINS: Final = 100
"""Maximum number of bins: with one for each of 20,000 answers a harmless day of 300 rows is at distance .97, with
shared ones at .16. An answer with a hundredth of the rows of a day is frequent."""

EVENTS_OF_BIN: Final = 20
"""Events of a day for each bin, on average; rare answers share one, else chance alone would make small days distant."""

_LATE_DAYS: Final = 7
"""Maximum number of days whose new answers are counted: earlier ones have fewer days before them."""

FEWEST_NEW: Final = 0.02
"""Least usual share of new answers: without it a help desk that adds one answer a week, which gets 3 % of the rows, was
refused on each of these days."""

_CHANCE: Final = 0.05
"""Probability below which new answers are more than chance: of days of 40 rows twice as many were refused without."""


class Counts(NamedTuple):
    """Events of a day by answer.

    Attributes:
        answers: (n,) ids of answers, ascending.
        events: (n,) number of events of each.
    """

    answers: Int64s
    events: Int64s


class UsualMix(NamedTuple):
    """Answers of the days before.

    Attributes:
        total: of all of them together.
        distance: of the most distant of them from the others, in [0, 1].
        new: share of events with an answer that no day before has, of the last of them, in [0, 1].
    """

    total: Counts
    distance: float
    new: float


class DayDistance(NamedTuple):
    """Distance of a day from the days before.

    Attributes:
        mix: distance of its answers, but for rare new ones, in [0, 1].
        new: share of its events with an answer that they lack.
        of_new: distance of this share from the usual one, in [0, 1]; 0 if it is no larger, or maybe by chance.
    """

    mix: float
    new: float
    of_new: float

    def excess(self, usual: float) -> float:
        """Return the figure that has a limit: `mix` beyond the usual distance, or `of_new` if it is larger."""
        return max(self.mix - usual, self.of_new or -1)


def usual_mix(days: Sequence[Counts]) -> UsualMix:
    """Return the answers of the days before; of many of them the most unusual one is left out.

    Args:
        days: at least two, ascending by date.
    """
    total, new = together(days), sorted(_new_shares(days))
    distances = sorted(distance(day, _without(total, day)) for day in days)
    place = -1 if len(days) < _DAYS_OF_EXCEPTION else -2
    return UsualMix(total, distances[place], new[place])


def compare_day(day: Counts, before: UsualMix) -> DayDistance:
    """Return the distance of a day from the days before; that from days without rows is 0."""
    if not len(before.total.answers):
        return DayDistance(0.0, 0.0, 0.0)
    mix, new = distance(day, before.total), _new_share(day, before.total.answers)
    return DayDistance(mix, new, _distance_of_new(new, before.new, int(day.events.sum())))


def distance(day: Counts, before: Counts) -> float:
    """Return the distance of the answers of a day from those of other days; without rows on one side 0.

    The most frequent answers, by the mean of their shares on the day and before, have a bin each; all others share one.
    So an answer that is rare before and frequent on the day has its own bin. Rare answers that the other days lack
    count as an equal share of both: where nearly all are new, the distance of the few others by themselves is chance.
    """
    rows = int(day.events.sum())
    is_compared = np.isin(day.answers, before.answers) | (day.events >= max(EVENTS_OF_BIN, rows / MOST_BINS))
    compared = Counts(day.answers[is_compared], day.events[is_compared])
    if not len(compared.answers) or not len(before.answers):
        return 0.0
    bins = int(np.clip(compared.events.sum() // EVENTS_OF_BIN, 1, MOST_BINS))
    answers, of_day, of_before = shares(compared, before)
    order = np.lexsort((answers, -of_day - of_before))
    frequent, others = order[:bins], order[bins:]
    binned = (np.append(of[frequent], of[others].sum()) for of in (of_day, of_before))
    return math.sqrt(compared.events.sum() / rows) * _jensen_shannon(*binned)


def together(days: Sequence[Counts]) -> Counts:
    """Return the events of several days by answer."""
    return summed(np.concatenate([day.answers for day in days]), np.concatenate([day.events for day in days]))


def shares(day: Counts, before: Counts) -> tuple[Int64s, Float64s, Float64s]:
    """Return all answers, and the share of each on the day and on the days before."""
    answers = np.union1d(day.answers, before.answers)
    both = np.zeros((2, len(answers)))
    for row, counts in zip(both, (day, before), strict=True):
        row[np.searchsorted(answers, counts.answers)] = counts.events / max(counts.events.sum(), 1)
    return answers, both[0], both[1]


def summed(answers: Int64s, events: Int64s) -> Counts:
    """Return the events by distinct answer."""
    distinct, place = np.unique(answers, return_inverse=True)
    return Counts(distinct, np.bincount(place, weights=events, minlength=len(distinct)).astype(np.int64))


def _new_shares(days: Sequence[Counts]) -> list[float]:
    """Return for each of the last days the share of its events with an answer that no day before it has."""
    numbers = np.repeat(np.arange(len(days)), [len(day.answers) for day in days])
    _, first = np.unique(np.concatenate([day.answers for day in days]), return_index=True)
    events = np.concatenate([day.events for day in days])
    new = np.bincount(numbers[first], weights=events[first], minlength=len(days))
    shares_of_days = new / np.maximum([day.events.sum() for day in days], 1)
    return list(map(float, shares_of_days[max(len(days) - _LATE_DAYS, len(days) // 2) :]))


def _new_share(day: Counts, answers: Int64s) -> float:
    return float(day.events[~np.isin(day.answers, answers)].sum() / max(day.events.sum(), 1))


def _distance_of_new(new: float, usual: float, events: int) -> float:
    """Return the distance of a share of new answers from the usual one, 0 if it is not larger by more than chance."""
    usual = max(usual, FEWEST_NEW)
    if new <= usual:
        return 0.0
    # the usual share does not exclude one such event
    chance = lower_tail(events - round(new * events), events, 1 - max(usual, 1 / events))
    return _jensen_shannon(np.array([new, 1 - new]), np.array([usual, 1 - usual])) if chance < _CHANCE else 0.0


def _jensen_shannon(left: Float64s, right: Float64s) -> float:
    """Return the distance of two rows of shares; scipy's is no number where they differ by rounding alone."""
    middle = (left + right) / 2
    bits = float(rel_entr(left, middle).sum() + rel_entr(right, middle).sum()) / math.log(2)
    return math.sqrt(min(max(bits / 2, 0.0), 1.0))


def _without(total: Counts, day: Counts) -> Counts:
    """Return the events of all days but one."""
    events = total.events.copy()
    events[np.searchsorted(total.answers, day.answers)] -= day.events
    return Counts(total.answers[events > 0], events[events > 0])
