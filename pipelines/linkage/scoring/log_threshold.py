"""Threshold of a log, the lowest at which the kept pairs of a sample of its answers are expected to be precise.

Probabilities of the pairs of some answers -> Sample -> first_answers -> choose_threshold -> threshold
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from pipelines.linkage.scoring.agglomeration import agglomerate
from schemas.hashing import uniform
from schemas.ragged import sizes_of_runs, starts_of_runs

PAIRS: Final = 50_000
"""Approximate number of pairs of questions of the sampled answers."""

MARGIN: Final = 2.0
"""Number of pairs below `last_place` per pair of the sample, by expectation; a few answers may have most of them."""

STEP: Final = 0.01
HIGHEST: Final = 0.95
"""Distance of two thresholds that are tried, and the highest. With steps of .05 a log lost recall by rounding up."""

_SALT: Final = "linkage"


class Sample(NamedTuple):
    """Pairs of some answers with their probabilities.

    Attributes:
        place: (A,) float64 hash of each answer in [0, 1); ascending after `first_answers`.
        effort: (A,) number of pairs of its questions, also of those that are not compared.
        answer: (P,) number of each pair's answer, ascending.
        left: (P,) place of a question among those of its answer.
        right: (P,) that of the other.
        probability: (P,) that both ask the same.
    """

    place: np.ndarray
    effort: np.ndarray
    answer: np.ndarray
    left: np.ndarray
    right: np.ndarray
    probability: np.ndarray


def place_of(answers: np.ndarray) -> np.ndarray:
    """Return a hash in [0, 1) of each answer id."""
    return uniform(answers, _SALT)


def last_place(pairs: int) -> float:
    """Return the hash below which the answers of a log have `PAIRS` pairs together, with a wide margin.

    Each part of a log takes only answers below it, so that all parts together compare little more than the sample.

    Args:
        pairs: number of pairs of all answers of the log.
    """
    return MARGIN * PAIRS / max(pairs, 1)


def first_places(place: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """Return the numbers of the answers with the lowest hashes that have `PAIRS` pairs together, or of all answers.

    The first answers of the first answers of some parts are the first answers of the whole.

    Args:
        place: (A,) hash of each answer.
        effort: (A,) number of its pairs.
    """
    order = np.argsort(place, kind="stable")
    return order[: int(np.searchsorted(np.cumsum(effort[order]), PAIRS)) + 1]


def first_answers(samples: Iterable[Sample]) -> Sample:
    """Return the pairs of the answers with the lowest hashes, about `PAIRS`; no answer is divided."""
    every = list(samples)
    if not every:
        none, no_rows = np.zeros(0), np.zeros(0, np.int64)
        return Sample(none, no_rows, no_rows, no_rows, no_rows, none)
    before = np.cumsum([0, *(len(sample.place) for sample in every)])
    place, effort = (np.concatenate([sample[column] for sample in every]) for column in (0, 1))
    answer = np.concatenate([sample.answer + first for sample, first in zip(every, before[:-1], strict=True)])
    left, right, probability = (np.concatenate([sample[column] for sample in every]) for column in (3, 4, 5))
    chosen = first_places(place, effort)
    number = np.full(len(place), -1)
    number[chosen] = np.arange(len(chosen))
    order = np.argsort(number[answer], kind="stable")
    order = order[number[answer][order] >= 0]
    return Sample(place[chosen], effort[chosen], number[answer][order], left[order], right[order], probability[order])


def choose_threshold(sample: Sample, *, lowest: float, precision: float) -> float:
    """Return the lowest threshold at which the pairs of the groups have at least this mean probability.

    The estimate rises with the threshold, so few of the thresholds are tried; without any pair it is ``lowest``.

    Args:
        sample: pairs of a log.
        lowest: lowest threshold.
        precision: estimated share of paraphrases among the kept pairs, at least.
    """
    steps = np.append(np.arange(lowest, HIGHEST - STEP / 2, STEP), HIGHEST).round(6)
    starts = starts_of_runs(sample.answer)
    sizes = sizes_of_runs(starts, len(sample.answer))
    if not len(starts):
        return float(steps[0])
    rows = np.maximum.reduceat(np.maximum(sample.left, sample.right), starts) + 1
    first = np.repeat(np.cumsum(rows) - rows, sizes)
    left, right = sample.left + first, sample.right + first

    def is_precise(threshold: float) -> bool:
        group = agglomerate(left, right, sample.probability, rows=int(rows.sum()), threshold=threshold)
        kept = sample.probability[group[left] == group[right]]
        return not len(kept) or float(kept.mean()) >= precision

    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if is_precise(float(steps[middle])):
            high = middle
        else:
            low = middle + 1
    return float(steps[low])
