"""Pair model with its threshold, and the groups it makes.

probabilities of pairs -> LinkModel.groups -> the group of every row
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol

import numpy as np

from pipelines.linkage.scoring.agglomeration import agglomerate


class Probability(Protocol):
    """What a kind of model must do."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability that each pair, a row of features of one of ``answers``, is one of paraphrases."""


@dataclasses.dataclass(frozen=True)
class LinkModel:
    """A model and where to cut.

    Attributes:
        pairs: gives a pair's features a probability.
        threshold: mean probability between two groups at which they are still one.
        cosine: whether figures of the encoder's cosine are the last features.
        least_of_two: probability that a group of two must have; one pair alone speaks for it.
    """

    pairs: Probability
    threshold: float
    cosine: bool = False
    least_of_two: float = 0.0

    def groups(self, left: np.ndarray, right: np.ndarray, probability: np.ndarray, *, rows: int) -> np.ndarray:
        """Return the smallest row of the group of each of ``rows`` rows, given the probability of pairs of them."""
        return agglomerate(
            left, right, probability, rows=rows, threshold=self.threshold, least_of_two=self.least_of_two
        )


class Linked(NamedTuple):
    """Which rows belong together.

    Attributes:
        group: (R,) int64, the first row of each row's group; a row alone is its own.
        confidence: (R,) mean probability of the candidate pairs within each row's group; 0 for a row alone.
    """

    group: np.ndarray
    confidence: np.ndarray


def mean_within(group: np.ndarray, left: np.ndarray, right: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return for each row the mean probability of the pairs within its group, 0 where there are none.

    Args:
        group: (R,) the first row of each row's group.
        left: (P,) rows.
        right: (P,) other rows.
        probability: (P,) of these pairs.
    """
    within = group[left] == group[right]
    name = group[left[within]]
    counts = np.bincount(name, minlength=len(group))
    mean = np.bincount(name, probability[within], len(group)) / np.maximum(counts, 1)
    of_row: np.ndarray = mean[group]
    return of_row
