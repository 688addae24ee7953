"""Sample of the pairs of a log: those of the answers with the lowest hashes.

Pairs of some answers -> Sample -> first_answers -> Sample of the first answers of all parts of a log
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from schemas.hashing import uniform

_SALT: Final = "linkage"


class Sample(NamedTuple):
    """Pairs of some answers.

    Attributes:
        place: (A,) float64 hash of each answer in [0, 1); ascending after `first_answers`.
        effort: (A,) number of pairs of its questions, also of those that are not compared.
        answer: (P,) number of each pair's answer, ascending.
        left: (P,) place of a question among those of its answer.
        right: (P,) that of the other.
        values: (P,) probability that both ask the same, or (P, F) features of a model that is fitted to the sample.
    """

    place: np.ndarray
    effort: np.ndarray
    answer: np.ndarray
    left: np.ndarray
    right: np.ndarray
    values: np.ndarray


def place_of(answers: np.ndarray) -> np.ndarray:
    """Return a hash in [0, 1) of each answer id."""
    return uniform(answers, _SALT)


def first_places(place: np.ndarray, effort: np.ndarray, pairs: int) -> np.ndarray:
    """Return the numbers of the answers with the lowest hashes that have ``pairs`` pairs together, or of all answers.

    The first answers of the first answers of some parts are the first answers of the whole.

    Args:
        place: (A,) hash of each answer.
        effort: (A,) number of its pairs.
        pairs: approximate number of pairs of the sample.
    """
    order = np.argsort(place, kind="stable")
    return order[: int(np.searchsorted(np.cumsum(effort[order]), pairs)) + 1]


def first_answers(samples: Iterable[Sample], pairs: int) -> Sample:
    """Return the pairs of the answers with the lowest hashes, about ``pairs``; no answer is divided."""
    every = [sample for sample in samples if len(sample.place)]  # one without answers may lack the columns of features
    if not every:
        none, no_rows = np.zeros(0), np.zeros(0, np.int64)
        return Sample(none, no_rows, no_rows, no_rows, no_rows, none)
    before = np.cumsum([0, *(len(sample.place) for sample in every)])
    place, effort = (np.concatenate([sample[column] for sample in every]) for column in (0, 1))
    answer = np.concatenate([sample.answer + first for sample, first in zip(every, before[:-1], strict=True)])
    left, right, values = (np.concatenate([sample[column] for sample in every]) for column in (3, 4, 5))
    chosen = first_places(place, effort, pairs)
    number = np.full(len(place), -1)
    number[chosen] = np.arange(len(chosen))
    order = np.argsort(number[answer], kind="stable")
    order = order[number[answer][order] >= 0]
    return Sample(place[chosen], effort[chosen], number[answer][order], left[order], right[order], values[order])
