"""Probabilities stated for clusters, compared with the pairs of each that are paraphrases."""

from __future__ import annotations

import dataclasses

import numpy as np

BINS = 10
"""Equal ranges of the probability."""

DRAWS = 1_000
"""Simulated truths whose mean error is that of exact probabilities."""


@dataclasses.dataclass(frozen=True)
class Truth:
    """Kept clusters of the judged answers.

    Attributes:
        probability: (C,) stated, descending.
        pairs: (C,) number of pairs.
        right: (C,) number of those that are paraphrases.
    """

    probability: np.ndarray
    pairs: np.ndarray
    right: np.ndarray

    def precision(self, least: float) -> float:
        """Return the precision of the clusters from a probability on."""
        inside = self.probability >= least
        return float(self.right[inside].sum() / max(self.pairs[inside].sum(), 1))

    def calibration_error(self, probability: np.ndarray) -> float:
        """Return the mean distance of probability and precision in equal bins, weighted by pairs."""
        bins = np.minimum((probability * BINS).astype(int), BINS - 1)
        off = np.bincount(bins, self.right - self.pairs * probability, BINS)
        return float(np.abs(off).sum() / self.pairs.sum())

    def error_of_exact(self) -> float:
        """Return the mean `calibration_error` if every stated probability were that of each pair of its cluster."""
        drawn = np.random.default_rng(0).binomial(self.pairs, self.probability, (DRAWS, len(self.pairs)))
        exact = (dataclasses.replace(self, right=right) for right in drawn)
        return float(np.mean([truth.calibration_error(self.probability) for truth in exact]))
