"""Scorers with learned weights: logistic regression and boosted trees, computed by numpy.

features -> Logistic or Boosted .probability -> (P,) float64
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Final

import numpy as np

from pipelines.linkage.scoring.tree_tables import ALL, MOST_LEAVES, Splits, Stage

TREES_A_STAGE: Final = 100
"""Number of trees after each of which no more trees are evaluated for settled pairs. Beyond 128 numbers, numpy adds in
another order than the compiled loop."""

SETTLED: Final = (-5.0, 6.0)
"""Logits of trees outside of which a pair is settled: by them its probability is within 0.007 of 0 or 0.0025 of 1. The
means of kept pairs contain hardly any of the former, but many of the latter."""

JOINED: Final = 128
"""Maximum number of rows of a table of several features; there are half as many tables as features, and most of them
fit into a second-level cache."""

_ROWS: Final = 4_096  # number of pairs looked up together; with fewer the calls of numpy take most of the time


@dataclasses.dataclass(frozen=True)
class Logistic:
    """Logistic regression on piecewise linear functions of the features.

    Attributes:
        knots: (F, K) values at which the slope of a feature changes; the inputs of a feature f are f and the hinges
            max(f - knot, 0).
        weights: (F * (K + 1),) weights of these inputs, feature by feature.
        bias: logit of a pair whose inputs are all 0.
    """

    knots: np.ndarray
    weights: np.ndarray
    bias: float

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002  # of `Probability`
        """Return the probability of each pair."""
        logits = np.empty(len(features))
        weights = self.weights.astype(np.float32)
        for start in range(0, len(features), _ROWS):  # a matrix product's rounding would depend on the other rows
            rows = slice(start, start + _ROWS)
            inputs = self.bend(np.ascontiguousarray(features[rows]))  # the order in memory is that of the sum
            logits[rows] = (inputs * weights).sum(axis=1)
        return sigmoid(logits + self.bias)

    def bend(self, features: np.ndarray) -> np.ndarray:
        """Return the (P, F * (K + 1)) float32 inputs: each feature and its hinges."""
        hinges = np.maximum(features[:, :, None] - self.knots[None], 0)
        return np.concatenate([features[:, :, None], hinges], axis=2).reshape(len(features), -1).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Boosted:
    """Gradient-boosted trees of at most 16 leaves.

    A tree is evaluated without branches (QuickScorer, Lucchese et al. 2015): each feature excludes the leaves on the
    left of all splits whose threshold it exceeds, and the result is the leftmost leaf that is not excluded. The leaves
    that a feature excludes depend only on the number of thresholds it exceeds. So each feature has one table, whose
    row of this number contains the masks of all trees; features with few thresholds have a table together.

    A pair whose logit is `SETTLED` after a stage is not evaluated further: most pairs of an answer have hardly a word
    in common or are nearly equal, and the first trees are enough for these.

    Attributes:
        stages: all trees, in the order in which they were fitted.
        features: number of features, F.
    """

    stages: tuple[Stage, ...]
    features: int

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002  # of `Probability`
        """Return the probability of each pair; for arguments and errors see `logits`."""
        return sigmoid(self.logits(features))

    def logits(self, features: np.ndarray) -> np.ndarray:
        """Return the (P,) log odds of each pair, of a settled one those after the stage in which it was settled.

        Args:
            features: (P, F) float32.

        Raises:
            ValueError: there is another number of features than in the trees.
        """
        if features.shape[1] != self.features:
            raise ValueError(f"pairs have {features.shape[1]} features; the trees compare {self.features}")
        logits = np.zeros(len(features))
        unsettled = np.arange(len(features))
        for stage in self.stages:
            stage.add(features, unsettled, logits)
            current = logits[unsettled]
            unsettled = unsettled[(current > SETTLED[0]) & (current < SETTLED[1])]
        return logits


@dataclasses.dataclass(frozen=True)
class BoostedWithDifferences:
    """Boosted trees, and after them `word_differences.DifferenceWeights`, whose score is the last feature.

    Attributes:
        trees: of all features but the last.
        scale: factor of their log odds, which are limited to `SETTLED`.
    """

    trees: Boosted
    scale: float

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002  # of `Probability`
        """Return the probability of each pair; for errors see `Boosted.logits`."""
        return sigmoid(self.scale * np.clip(self.trees.logits(features[:, :-1]), *SETTLED) + features[:, -1])


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Return the probabilities of log odds; beyond 30 they are those of 30, so that none is 0 or 1."""
    probability: np.ndarray = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return probability


def boosted(trees: list[dict[str, list[Any]]], features: int) -> Boosted:
    """Return the scorer of trees given as lists of nodes.

    Args:
        trees: each with lists ``feature``, ``threshold``, ``left``, ``right`` and ``value`` over its nodes, the root
            first; a leaf's ``left`` is -1. A pair goes left where its feature is at most the threshold.
        features: number of features.

    Raises:
        ValueError: a tree has more than `MOST_LEAVES` leaves.
    """
    splits: list[list[tuple[float, int, int]]] = [[] for _ in range(features)]
    leaves = np.zeros((len(trees), MOST_LEAVES))
    for number, tree in enumerate(trees):
        values: list[float] = []
        for feature, threshold, mask in _lay_out(tree, 0, values):
            splits[feature].append((threshold, number, mask))
        if len(values) > MOST_LEAVES:
            raise ValueError(f"tree {number} has {len(values)} leaves; at most {MOST_LEAVES} are possible")
        leaves[number, : len(values)] = values
    parts = itertools.pairwise([*range(0, len(trees), TREES_A_STAGE), len(trees)])
    stages = (Stage(_tables(splits, range(*part)), leaves[slice(*part)]) for part in parts)
    return Boosted(tuple(stages), features)


def _tables(splits: list[list[tuple[float, int, int]]], trees: range) -> tuple[Splits, ...]:
    """Return the splits of some trees; those given have threshold, number of the tree and mask, feature by feature."""
    tables = []
    for feature, of_all in enumerate(splits):
        of_feature = [split for split in of_all if split[1] in trees]
        points = np.unique(np.array([threshold for threshold, _, _ in of_feature], np.float32))
        masks = np.full((len(points) + 1, len(trees)), ALL, np.uint16)
        for threshold, number, mask in of_feature:
            masks[np.searchsorted(points, np.float32(threshold)) + 1 :, number - trees.start] &= np.uint16(mask & ALL)
        if of_feature:
            tables.append(Splits((feature,), (points,), masks))
    return _joined(tables)


def _joined(tables: list[Splits]) -> tuple[Splits, ...]:
    """Return the same splits in fewer tables of at most `JOINED` rows; a table of one feature may have more."""
    waiting, joined = sorted(tables, key=lambda table: len(table.masks)), []
    while waiting:
        table = waiting.pop()
        while fitting := [n for n, other in enumerate(waiting) if len(table.masks) * len(other.masks) <= JOINED]:
            table = table.joined(waiting.pop(fitting[-1]))
        joined.append(table)
    return tuple(joined)


def _lay_out(tree: dict[str, list[Any]], node: int, leaves: list[float]) -> list[tuple[int, float, int]]:
    """Append the values of the leaves below ``node`` from the left, and return its splits.

    Returns:
        feature, threshold and mask of each split; the mask has the leaves that remain if the feature exceeds the
        threshold.
    """
    if tree["left"][node] < 0:
        leaves.append(tree["value"][node])
        return []
    first = len(leaves)
    below = _lay_out(tree, tree["left"][node], leaves)
    ruled_out = (1 << len(leaves)) - (1 << first)
    below += _lay_out(tree, tree["right"][node], leaves)
    return [*below, (tree["feature"][node], tree["threshold"][node], ~ruled_out)]
