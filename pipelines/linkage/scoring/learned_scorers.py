"""Scorers with learned weights: logistic regression and boosted trees, computed by numpy.

features -> Logistic or Boosted .probability -> (P,) float64
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Final, NamedTuple

import numpy as np

MOST_LEAVES: Final = 16
_ALL: Final = (1 << MOST_LEAVES) - 1
STAGES: Final = (100, 200)
"""Numbers of trees after which no more trees are evaluated for settled pairs."""

SETTLED: Final = 6.0
"""Minimum absolute logit of a settled pair; its probability is within 0.0025 of 0 or 1."""

_ROWS: Final = 2_048  # number of pairs whose masks fit into a second-level cache


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

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return the probability of each pair."""
        logits = np.empty(len(features))
        weights = self.weights.astype(np.float32)
        for start in range(0, len(features), _ROWS):  # a matrix product's rounding would depend on the other rows
            rows = slice(start, start + _ROWS)
            logits[rows] = (self.bend(features[rows]) * weights).sum(axis=1)
        return _sigmoid(logits + self.bias)

    def bend(self, features: np.ndarray) -> np.ndarray:
        """Return the (P, F * (K + 1)) float32 inputs: each feature and its hinges."""
        hinges = np.maximum(features[:, :, None] - self.knots[None], 0)
        return np.concatenate([features[:, :, None], hinges], axis=2).reshape(len(features), -1).astype(np.float32)


class Stage(NamedTuple):
    """Part of a model's trees, as tables.

    Attributes:
        masks: for each feature (thresholds + 1, T) uint16 bit masks; row n has the leaves of each tree that are
            possible if the feature exceeds n thresholds.
        leaves: (T, 16) amount that each leaf adds to the logit, leftmost first.
    """

    masks: tuple[np.ndarray, ...]
    leaves: np.ndarray


@dataclasses.dataclass(frozen=True)
class Boosted:
    """Gradient-boosted trees of at most 16 leaves.

    A tree is evaluated without branches (QuickScorer, Lucchese et al. 2015): each feature excludes the leaves on the
    left of all splits whose threshold it exceeds, and the result is the leftmost leaf that is not excluded. The leaves
    that a feature excludes depend only on the number of thresholds it exceeds. So each feature has one table, whose
    row of this number contains the masks of all trees.

    A pair whose logit is `SETTLED` after a stage is not evaluated further: most pairs of an answer have hardly a word
    in common or are nearly equal, and the first trees are enough for these.

    Attributes:
        thresholds: for each feature the ascending split points of all trees.
        stages: all trees, in the order in which they were fitted.
        bias: logit before the first tree.
    """

    thresholds: tuple[np.ndarray, ...]
    stages: tuple[Stage, ...]
    bias: float

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return the probability of each pair."""
        logits = np.full(len(features), self.bias)
        unsettled = np.arange(len(features))
        passed = [_passed(points, features[:, column]) for column, points in enumerate(self.thresholds)]
        for stage in self.stages:
            for start in range(0, len(unsettled), _ROWS):
                rows = unsettled[start : start + _ROWS]
                logits[rows] += _of_trees(stage, [None if p is None else p[rows] for p in passed])
            unsettled = unsettled[np.abs(logits[unsettled]) < SETTLED]
        return _sigmoid(logits)


def _passed(points: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Return the number of thresholds that each value exceeds; None if no tree splits on the feature."""
    return np.searchsorted(points, values, side="left") if len(points) else None


def _of_trees(stage: Stage, passed: list[np.ndarray | None]) -> np.ndarray:
    """Return the amount that a stage's trees add to each logit."""
    rows = next((len(places) for places in passed if places is not None), 0)
    left_over = np.full((rows, len(stage.leaves)), _ALL, np.uint16)
    for places, table in zip(passed, stage.masks, strict=True):
        if places is not None:
            left_over &= table.take(places, axis=0)
    leaf = _LOWEST_BIT.take(left_over) + np.arange(len(stage.leaves)) * stage.leaves.shape[1]
    added: np.ndarray = stage.leaves.ravel().take(leaf).sum(axis=1)
    return added


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    probability: np.ndarray = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return probability


_LOWEST_BIT: Final = np.array([0, *((n & -n).bit_length() - 1 for n in range(1, 1 << 16))], np.int64)


def boosted(trees: list[dict[str, list[Any]]], features: int, bias: float) -> Boosted:
    """Return the scorer of trees given as lists of nodes.

    Args:
        trees: each with lists ``feature``, ``threshold``, ``left``, ``right`` and ``value`` over its nodes, the root
            first; a leaf's ``left`` is -1. A pair goes left where its feature is at most the threshold.
        features: number of features.
        bias: logit before the first tree.

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
    points = tuple(np.unique(np.array([t for t, _, _ in of_feature], np.float32)) for of_feature in splits)
    masks = [_table(of_feature, at, len(trees)) for of_feature, at in zip(splits, points, strict=True)]
    ends = [end for end in STAGES if end < len(trees)]
    parts = [slice(first, last) for first, last in itertools.pairwise([0, *ends, len(trees)])]
    cut = (Stage(tuple(np.ascontiguousarray(table[:, part]) for table in masks), leaves[part]) for part in parts)
    return Boosted(points, tuple(cut), bias)


def _table(splits: list[tuple[float, int, int]], points: np.ndarray, trees: int) -> np.ndarray:
    """Return the masks of all trees for each number of ``points`` that a feature can exceed."""
    table = np.full((len(points) + 1, trees), _ALL, np.uint16)
    for threshold, number, mask in splits:
        table[np.searchsorted(points, np.float32(threshold)) + 1 :, number] &= np.uint16(mask & _ALL)
    return table


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
