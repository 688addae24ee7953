"""Pair model with its threshold, and the groups that result from its probabilities.

probabilities of pairs -> LinkModel.groups -> the group of every row
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol

import numpy as np

from pipelines.linkage.comparison.agreement_features import SMALL_LOG
from pipelines.linkage.comparison.word_differences import DifferenceWeights
from pipelines.linkage.scoring.agglomeration import agglomerate
from schemas.ragged import pairs_in_runs


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
        threshold: minimum mean probability between two groups that are merged; with ``precision`` the lowest one.
        cosine: whether the last features are `cosine_features.COSINES`, from an encoder.
        least_of_two: minimum probability of a group of two, which depends on a single pair.
        agreement: whether `agreement_features.AGREEMENT` are among the features, from the neighbours of each question.
        words_too: whether `agreement_features.AGREEMENT_OF_WORDS` are too, from neighbours by words.
        alignment: whether `word_alignment.ALIGNED` are too, from the encoder's vectors of single words.
        precision: minimum of the estimated share of paraphrases among the kept pairs of a log, which decides its
            threshold; None: the threshold is the same in each log.
        threshold_of_small: threshold of a log of fewer than `SMALL_LOG` questions, whose few pairs allow no estimate;
            None: no other one.
        differences: weights of the words by which two questions differ; their sum is the last feature. None: it is not.
        words: model of the words alone, for answers without a neighbour of another answer, and for those with too many
            questions to compare in pairs; None: this model.
    """

    pairs: Probability
    threshold: float
    cosine: bool = False
    least_of_two: float = 0.0
    agreement: bool = False
    words_too: bool = False
    alignment: bool = False
    precision: float | None = None
    threshold_of_small: float | None = None
    differences: DifferenceWeights | None = None
    words: LinkModel | None = None

    def for_log(self, questions: int) -> LinkModel:
        """Return the model with its threshold for a log of this number of questions."""
        small = self.threshold_of_small
        return self if small is None or questions >= SMALL_LOG else self.with_threshold(small)

    def with_threshold(self, threshold: float) -> LinkModel:
        """Return the model with another threshold of all groups, for one log."""
        return dataclasses.replace(
            self, threshold=threshold, least_of_two=threshold, precision=None, threshold_of_small=None
        )

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
        of_intent: (R,) bool, whether the row's answer is an intent; None: no row's is.
        expected: (R,) int64 expected number of paraphrases among the pairs of each row with others of its answer, in
            millionths; a pair counts at one of its rows. None: not estimated.
    """

    group: np.ndarray
    confidence: np.ndarray
    of_intent: np.ndarray | None = None
    expected: np.ndarray | None = None


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


def in_millionths(row: np.ndarray, probability: np.ndarray, pairs: np.ndarray | int = 1, *, rows: int) -> np.ndarray:
    """Return the (rows,) sums of probabilities, each times its number of pairs; exact, so the same in any order.

    Args:
        row: (P,) the row at which each probability counts.
        probability: (P,) in [0, 1].
        pairs: (P,) number of pairs with this probability.
        rows: number of rows.
    """
    sums = np.zeros(rows, np.int64)
    np.add.at(sums, row, np.rint(probability * 1e6).astype(np.int64) * pairs)
    return sums


def expected_within(group: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Return `Linked.expected` of the pairs within the groups; other pairs count for none."""
    first, counts = np.unique(group, return_index=True, return_counts=True)[1:]
    return in_millionths(first, confidence[first], pairs_in_runs(counts), rows=len(group))
