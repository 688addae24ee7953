"""Probability that two questions are paraphrases, by learned weights and numpy alone.

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
"""After so many trees a pair that is settled is left."""

SETTLED: Final = 6.0
"""A logit this far from 0 is settled: the probability is within .0025 of 0 or 1."""

_ROWS: Final = 2_048  # pairs whose masks fit a second-level cache


@dataclasses.dataclass(frozen=True)
class Logistic:
    """A calibrated logistic regression on features and their bends.

    Attributes:
        knots: (F, K) where each feature's slope may change; feature f becomes f and max(f - knot, 0) for each knot.
        weights: (F * (K + 1),) in that order, feature by feature.
        bias: the logit where all of these are 0.
    """

    knots: np.ndarray
    weights: np.ndarray
    bias: float

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return the probability of each pair."""
        logits = np.empty(len(features))
        weights = self.weights.astype(np.float32)
        for start in range(0, len(features), _ROWS):  # a matrix product would round otherwise for other rows beside
            rows = slice(start, start + _ROWS)
            logits[rows] = (self.bend(features[rows]) * weights).sum(axis=1)
        return _sigmoid(logits + self.bias)

    def bend(self, features: np.ndarray) -> np.ndarray:
        """Return (P, F * (K + 1)) float32: each feature and its hinges."""
        hinges = np.maximum(features[:, :, None] - self.knots[None], 0)
        return np.concatenate([features[:, :, None], hinges], axis=2).reshape(len(features), -1).astype(np.float32)


class Stage(NamedTuple):
    """Some of a model's trees, as tables.

    Attributes:
        masks: for each feature (thresholds + 1, T) uint16: leaves left over when so many thresholds are exceeded.
        leaves: (T, 16) what each leaf adds to the logit, leftmost first.
    """

    masks: tuple[np.ndarray, ...]
    leaves: np.ndarray


@dataclasses.dataclass(frozen=True)
class Boosted:
    """Gradient-boosted trees of at most 16 leaves.

    A tree is walked without branching: each feature rules out the leaves behind the splits it fails, and the leftmost
    leaf that no feature rules out is the one (QuickScorer, Lucchese et al. 2015). What a feature rules out depends only
    on which thresholds it passes, so one row of a table a feature holds the masks of all trees.

    A pair whose logit is `SETTLED` after a stage keeps it: most pairs of an answer are nothing alike or nearly equal,
    and the first trees say so.

    Attributes:
        thresholds: for each feature its split points over all trees, ascending.
        stages: the trees in the order in which they were learned.
        bias: the logit before any tree.
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
    """Return how many thresholds each value exceeds; None where no tree asks."""
    return np.searchsorted(points, values, side="left") if len(points) else None


def _of_trees(stage: Stage, passed: list[np.ndarray | None]) -> np.ndarray:
    """Return the sum of what a stage's trees add to each logit."""
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
    """Turn trees into tables.

    Args:
        trees: each with lists ``feature``, ``threshold``, ``left``, ``right`` and ``value`` over its nodes, the root
            first; a leaf's ``left`` is -1. A pair goes left where its feature is at most the threshold.
        features: how many there are.
        bias: the logit before any tree.

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
    """Return the masks of all trees for each number of ``points`` a feature exceeds."""
    table = np.full((len(points) + 1, trees), _ALL, np.uint16)
    for threshold, number, mask in splits:
        table[np.searchsorted(points, np.float32(threshold)) + 1 :, number] &= np.uint16(mask & _ALL)
    return table


def _lay_out(tree: dict[str, list[Any]], node: int, leaves: list[float]) -> list[tuple[int, float, int]]:
    """Append the leaves below ``node`` from the left; return for each split which leaves are left when it is failed."""
    if tree["left"][node] < 0:
        leaves.append(tree["value"][node])
        return []
    first = len(leaves)
    below = _lay_out(tree, tree["left"][node], leaves)
    ruled_out = (1 << len(leaves)) - (1 << first)
    below += _lay_out(tree, tree["right"][node], leaves)
    return [*below, (tree["feature"][node], tree["threshold"][node], ~ruled_out)]
