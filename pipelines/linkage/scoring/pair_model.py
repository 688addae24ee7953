"""Pair model with its threshold, and the groups that result from its probabilities.

probabilities of pairs -> LinkModel.groups -> the group of every row
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol

import numpy as np

from pipelines.linkage.scoring.agglomeration import agglomerate


class Probability(Protocol):
    """Interface of the models of match probability."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the (P,) probabilities that pairs are paraphrases.

        Args:
            features: (P, F) features of the pairs.
            answers: (P,) int64 number of each pair's answer.
        """


@dataclasses.dataclass(frozen=True)
class LinkModel:
    """A model of match probability and the thresholds of its groups.

    Attributes:
        pairs: model that computes the probability of a pair from its features.
        threshold: minimum mean probability between two groups that are merged.
        cosine: whether the last features are `cosine_features.COSINES`, from an encoder.
        least_of_two: minimum probability of a group of two, which depends on a single pair.
    """

    pairs: Probability
    threshold: float
    cosine: bool = False
    least_of_two: float = 0.0

    def groups(self, left: np.ndarray, right: np.ndarray, probability: np.ndarray, *, rows: int) -> np.ndarray:
        """Return the smallest row of each row's group; the arguments are those of `agglomeration.agglomerate`."""
        return agglomerate(
            left, right, probability, rows=rows, threshold=self.threshold, least_of_two=self.least_of_two
        )


class Linked(NamedTuple):
    """Group of each row.

    Attributes:
        group: (R,) int64 first row of each row's group; a single row is its own group.
        confidence: (R,) mean probability of the candidate pairs within each row's group; 0 for a single row.
    """

    group: np.ndarray
    confidence: np.ndarray


def mean_within(group: np.ndarray, left: np.ndarray, right: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return for each row the mean probability of the pairs within its group, 0 if there are none.

    Args:
        group: (R,) first row of each row's group.
        left: (P,) rows.
        right: (P,) other rows.
        probability: (P,) probability of each pair.
    """
    within = group[left] == group[right]
    name = group[left[within]]
    counts = np.bincount(name, minlength=len(group))
    mean = np.bincount(name, probability[within], len(group)) / np.maximum(counts, 1)
    of_row: np.ndarray = mean[group]
    return of_row
