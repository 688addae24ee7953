"""Splits of boosted trees as tables of masks, which are evaluated without branches.

features and logits of pairs, Stage -> Stage.add -> logits with the leaves that the pairs reach
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Final, NamedTuple

import numpy as np

from schemas.compiled import load_loops
from schemas.ragged import offsets_of

MOST_LEAVES: Final = 16
"""Maximum number of leaves of a tree, each of which is a bit of a uint16 mask."""

ALL: Final = (1 << MOST_LEAVES) - 1
"""Mask in which all leaves are possible."""

_ROWS: Final = 4_096  # number of pairs looked up together; with fewer the calls of numpy take most of the time


class Splits(NamedTuple):
    """The splits of some trees on one feature or on several, as a table.

    Attributes:
        features: their numbers.
        thresholds: for each of these (S,) float32, ascending.
        masks: (product of all S + 1, T) uint16 bit masks: the leaves of each tree that are possible for each numbers of
            thresholds that the features exceed; the number of the last feature changes first.
    """

    features: tuple[int, ...]
    thresholds: tuple[np.ndarray, ...]
    masks: np.ndarray

    def rows_of(self, features: np.ndarray) -> np.ndarray:
        """Return the (P,) row of ``masks`` of each pair."""
        rows = np.zeros(len(features), np.uint16)
        for feature, thresholds in zip(self.features, self.thresholds, strict=True):
            exceeds = np.less(thresholds[:, None], features[:, feature])  # four times as fast as a search
            count = exceeds.view(np.uint8).sum(axis=0, dtype=np.min_scalar_type(len(thresholds)))
            rows = rows * np.uint16(len(thresholds) + 1) + count
        return rows

    def joined(self, other: Splits) -> Splits:
        """Return the splits on the features of both."""
        masks = (self.masks[:, None] & other.masks).reshape(-1, self.masks.shape[1])
        return Splits(self.features + other.features, self.thresholds + other.thresholds, masks)


class Packed(NamedTuple):
    """The tables of a stage one after the other, as the compiled loop reads them.

    Attributes:
        features: features of all tables.
        feature_bounds: table n has the features from ``feature_bounds[n]`` to ``feature_bounds[n + 1]``.
        thresholds: thresholds of these features.
        threshold_bounds: bounds of the thresholds of each of them.
        masks: rows of all tables and one in which all leaves are possible, each as wide as the loop needs.
        mask_starts: first row of each table.
        leaves: of `Stage`.
    """

    features: np.ndarray
    feature_bounds: np.ndarray
    thresholds: np.ndarray
    threshold_bounds: np.ndarray
    masks: np.ndarray
    mask_starts: np.ndarray
    leaves: np.ndarray


@dataclasses.dataclass(frozen=True)
class Stage:
    """Part of a model's trees.

    Attributes:
        splits: of all features on which a tree splits.
        leaves: (T, 16) amount that each leaf adds to the logit, leftmost first.
    """

    splits: tuple[Splits, ...]
    leaves: np.ndarray

    @functools.cached_property
    def packed(self) -> Packed:
        """The same tables in arrays."""
        from pipelines.linkage.scoring.numba_kernels import WIDTH  # only the compiled loop reads them

        thresholds = [of_feature for splits in self.splits for of_feature in splits.thresholds]
        every, further = np.full((1, len(self.leaves)), ALL, np.uint16), WIDTH - len(self.leaves)
        return Packed(
            np.array([feature for splits in self.splits for feature in splits.features], np.int64),
            offsets_of(np.array([len(splits.features) for splits in self.splits], np.int64)),
            np.concatenate([np.zeros(0, np.float32), *thresholds]),
            offsets_of(np.array(list(map(len, thresholds)), np.int64)),
            np.pad(np.concatenate([*(splits.masks for splits in self.splits), every]), ((0, 0), (0, further))),
            offsets_of(np.array([len(splits.masks) for splits in self.splits], np.int64))[:-1],
            self.leaves,
        )

    def add(self, features: np.ndarray, chosen: np.ndarray, logits: np.ndarray) -> None:
        """Add the amounts of the trees to the logits of some pairs.

        Args:
            features: (P, F) of all pairs; column after column in memory they need not be copied.
            chosen: (C,) numbers of the pairs that are evaluated, each once.
            logits: (P,) float64 of all pairs, those of the chosen ones are changed.
        """
        if (loops := load_loops("pipelines.linkage.scoring.numba_kernels", len(chosen))) is not None:
            loops.add_trees(np.ascontiguousarray(features.T, np.float32), chosen, *self.packed, logits)
            return
        for start in range(0, len(chosen), _ROWS):
            block = chosen[start : start + _ROWS]
            logits[block] += self._of_block(features[block])

    def _of_block(self, features: np.ndarray) -> np.ndarray:
        possible = np.full((len(features), len(self.leaves)), ALL, np.uint16)
        masks = np.empty_like(possible)
        for splits in self.splits:
            mask_rows = splits.rows_of(features)
            possible &= np.take(splits.masks, mask_rows, axis=0, out=masks, mode="clip")  # other modes copy the result
        leftmost = np.bitwise_count((possible & -possible) - np.uint16(1))
        leaf = leftmost + np.arange(len(self.leaves)) * self.leaves.shape[1]
        added: np.ndarray = self.leaves.ravel().take(leaf).sum(axis=1)
        return added
