"""Statistics of verdicts: shares with bounds that hold at any time, slips and agreement.

verdicts, judged places, QueueIdentity -> tally -> Tally
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jobs.review.database.connection import Verdict
from jobs.review.opinions import ONE_OF, People, is_shared, opinion, opinions, outcome
from jobs.review.queues.interface import RIGHT, Place, QueueIdentity
from schemas.statistics.agreement import Agreement, specific_agreement
from schemas.statistics.binomial import upper_bound
from schemas.statistics.e_processes import clean_reviews_missing, mean_bound, share_bound


class Share(NamedTuple):
    """A share of right ones.

    Attributes:
        judged: number of items.
        right: number of right ones among them.
        share: of right ones; None without an item.
        bound: share that the items show, however often one looks.
    """

    judged: int
    right: int
    share: float | None
    bound: float


class Slips(NamedTuple):
    """Hidden repeats of one person.

    Attributes:
        repeats: number of items that a person judged twice.
        slips: number of those with another verdict, right or not, the second time.
        rate: share of slips; None without a repeat.
        at_most: upper bound of the rate, for one look.
    """

    repeats: int
    slips: int
    rate: float | None
    at_most: float


class Tally(NamedTuple):
    """The statistics of a queue.

    Attributes:
        judged: number of items with a verdict.
        counted: number of items before the first without one; only these are a random sample.
        all: share of right items.
        by_question: the same, each item weighted by its number of questions.
        missing: number of further right items until the claim is supported; 0: it is, None: too many are wrong.
        verdicts: number of counted items by outcome.
        strata: shares by kind and name of the stratum.
        slips: of hidden repeats.
        second_opinions: number of items that two people judged.
        agreement: of these, right items weighted for those that no second person judged.
        waiting: names of the items that wait for a further person.
        disagreements: names of the items on which people differ, and of slips.
        reviewers: number of verdicts of each person.
    """

    judged: int
    counted: int
    all: Share
    by_question: Share
    missing: int | None
    verdicts: Mapping[str, int]
    strata: Mapping[tuple[str, str], Share]
    slips: Slips
    second_opinions: int
    agreement: Agreement
    waiting: list[str]
    disagreements: list[str]
    reviewers: Mapping[str, int]


def tally(
    verdicts: Sequence[Verdict], places: Mapping[str, Place], source: QueueIdentity, *, claim: float, error: float
) -> Tally:
    """Return the statistics of verdicts.

    Args:
        verdicts: in the order of time.
        places: of all judged items.
        source: of the queue.
        claim: share to show.
        error: chance that a bound is ever false; of the bound of slips, that it is false at one look.
    """
    grouped = opinions(verdicts)
    outcomes = {item: outcome(people, shared=is_shared(item, source.seed)) for item, people in grouped.items()}
    ordered = counted_items(grouped, places)
    right = np.array([outcomes[item].verdict == RIGHT for item in ordered], bool)
    strata: dict[tuple[str, str], list[bool]] = collections.defaultdict(list)
    for item, value in zip(ordered, right.tolist(), strict=True):
        for entry in places[item].strata.items():
            strata[entry].append(value)
    size = np.array([places[item].size for item in ordered], float)
    # Requests stand for those to come, and only a dataset's clusters are all there are.
    population = max(source.items, len(ordered)) if source.kind == "clusters" else None
    return Tally(
        judged=len(grouped),
        counted=len(ordered),
        all=_share(right.tolist(), error, population),
        by_question=_by_question(right, size, source, error, population),
        missing=clean_reviews_missing(int(right.sum()), int((~right).sum()), claim, error, population),
        verdicts=collections.Counter(outcomes[item].verdict for item in ordered),
        strata={entry: _share(values, error) for entry, values in sorted(strata.items())},
        slips=_slips(grouped, error),
        second_opinions=sum(len(people) > 1 for people in grouped.values()),
        agreement=_agreement(grouped, source.seed),
        waiting=[item for item, result in outcomes.items() if result.waits],
        disagreements=[item for item, people in grouped.items() if _differ(people)],
        reviewers=collections.Counter(verdict.reviewer for verdict in verdicts),
    )


def counted_items(judged: Mapping[str, object], places: Mapping[str, Place]) -> list[str]:
    """Return the judged items before the first gap of the order.

    A gap can be an item that somebody left because it was hard, so that the items after it are no random sample.
    """
    of_place = {places[item].place: item for item in judged}
    counted: list[str] = []
    while len(counted) in of_place:
        counted.append(of_place[len(counted)])
    return counted


def _share(values: Sequence[bool], error: float, population: int | None = None) -> Share:
    judged, right = len(values), sum(values)
    bound = share_bound(right, judged - right, error, population)
    return Share(judged, right, right / judged if judged else None, bound)


def _by_question(
    right: np.ndarray, size: np.ndarray, source: QueueIdentity, error: float, population: int | None
) -> Share:
    """Return the share of the questions in right items.

    An item's loss is its share of the largest size if it is wrong, otherwise 0; the mean loss of the whole queue times
    ``largest * items / questions`` is the share of the questions in wrong items.
    """
    if not len(right):
        return Share(0, 0, None, 0.0)
    mean = mean_bound(1 - np.where(right, 0, size) / source.largest, error, population)
    bound = max(1 - (1 - mean) * source.largest * source.items / source.questions, 0.0)
    share = float(size[right].sum() / size.sum())
    return Share(int(size.sum()), int(size[right].sum()), share, min(bound, share))


def _slips(grouped: Mapping[str, People], error: float) -> Slips:
    twice = [verdicts[:2] for people in grouped.values() for verdicts in people.values() if len(verdicts) > 1]
    slips = sum((first.verdict == RIGHT) != (second.verdict == RIGHT) for first, second in twice)
    rate = slips / len(twice) if twice else None
    return Slips(len(twice), slips, rate, upper_bound(slips, len(twice), error))


def _agreement(grouped: Mapping[str, People], seed: int) -> Agreement:
    counts = collections.Counter[tuple[bool, bool]]()
    for item, people in grouped.items():
        if len(people) < 2:
            continue
        first, second, *_ = [opinion(verdicts[:1]) == RIGHT for verdicts in people.values()]
        if not first:
            counts[first, second] += 1
        elif is_shared(item, seed):
            counts[first, second] += ONE_OF
    differ = counts[True, False] + counts[False, True]
    return specific_agreement(counts[True, True], differ, counts[False, False])


def _differ(people: People) -> bool:
    return len({verdict.verdict == RIGHT for verdicts in people.values() for verdict in verdicts}) > 1
