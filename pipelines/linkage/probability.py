"""How probable it is that two questions are paraphrases: learned weights, applied with numpy alone.

features -> Logistic or Boosted .probability -> (P,) float64
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Final

import numpy as np

MOST_LEAVES: Final = 16
_ALL: Final = (1 << MOST_LEAVES) - 1
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


@dataclasses.dataclass(frozen=True)
class Boosted:
    """Gradient-boosted trees of at most 16 leaves.

    A tree is walked without branching: each feature rules out the leaves behind the splits it fails, and the leftmost
    leaf that no feature rules out is the one (QuickScorer, Lucchese et al. 2015). What a feature rules out depends only
    on which thresholds it passes, so one row of a table a feature holds the masks of all trees.

    Attributes:
        thresholds: for each feature its split points over all trees, ascending.
        masks: for each feature (thresholds + 1, T) uint16: leaves left over when so many thresholds are exceeded.
        leaves: (T, 16) what each leaf adds to the logit, leftmost first.
        bias: the logit before any tree.
    """

    thresholds: tuple[np.ndarray, ...]
    masks: tuple[np.ndarray, ...]
    leaves: np.ndarray
    bias: float

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return the probability of each pair."""
        logits = np.empty(len(features))
        passed = [
            np.searchsorted(points, features[:, column], side="left") if len(points) else None
            for column, points in enumerate(self.thresholds)
        ]
        base = np.arange(len(self.leaves)) * self.leaves.shape[1]
        for start in range(0, len(features), _ROWS):
            rows = slice(start, start + _ROWS)
            left_over = np.full((len(features[rows]), len(self.leaves)), _ALL, np.uint16)
            for places, table in zip(passed, self.masks, strict=True):
                if places is not None:
                    left_over &= table.take(places[rows], axis=0)
            leaf = _LOWEST_BIT.take(left_over) + base
            logits[rows] = self.leaves.ravel().take(leaf).sum(axis=1)
        return _sigmoid(logits + self.bias)


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
    return Boosted(points, tuple(map(_table, splits, points, itertools.repeat(len(trees)))), leaves, bias)


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
