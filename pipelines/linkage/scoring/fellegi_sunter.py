"""Fellegi and Sunter's record linkage model, fitted to the log itself without labels.

features of candidate pairs -> fit -> FellegiSunter .probability -> (P,) float64
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.learned_scorers import sigmoid

COMPARED: Final = {
    "alike": np.array([0.02, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9]),
    "margin_min": np.array([-0.5, -0.4, -0.3, -0.2, -0.1, -0.03, 0.03, 0.1, 0.2]),
}
"""Features compared, and the bounds of their levels; the weight of evidence does not decrease with the level."""

PRIOR_MATCHES: Final = 0.2
PRIOR_PAIRS: Final = 2.0
"""Prior of an answer's match rate, Beta(0.2, 1.8): two pseudo-pairs, of which 0.2 are matches."""

THRESHOLD: Final = 0.3
"""Default minimum mean probability of a cluster.

The model assumes independent comparisons; they are correlated, so match probabilities are underestimated. Of 0.2, 0.3,
0.5 and 0.7, this is the lowest threshold with a precision of at least 0.985 (0.985 at a recall of 0.939) on log (b) of
the half of Quora's clusters to which the other methods are fitted (`benchmarks.labels.answer_splits --half learning`).
"""

ROUNDS: Final = 40
"""Number of iterations of expectation maximisation."""


@dataclasses.dataclass(frozen=True)
class FellegiSunter:
    """Fellegi and Sunter's model (1969), with a separate match rate for each answer.

    Attributes:
        ratios: logarithm of m / u of each level, non-decreasing, for each compared feature.
    """

    ratios: tuple[np.ndarray, ...]

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each pair, with the match rate estimated from all pairs of its answer."""
        evidence = sum(ratio[level] for ratio, level in zip(self.ratios, levels(features), strict=True))
        return _with_rates(np.asarray(evidence), answers)


def fit(features: np.ndarray, answers: np.ndarray) -> FellegiSunter:
    """Estimate m and u, of matches and non-matches inside answers, by expectation maximisation.

    Args:
        features: (P, F) features of candidate pairs of all answers or of a sample of answers.
        answers: (P,) int64 number of each pair's answer.
    """
    level = levels(features)
    sizes = [len(ends) + 1 for ends in COMPARED.values()]
    ratios = [np.linspace(-3.0, 3.0, size) for size in sizes]  # a start at which evidence rises with the level
    for _ in range(ROUNDS):
        evidence = sum(ratio[at] for ratio, at in zip(ratios, level, strict=True))
        match = _with_rates(np.asarray(evidence), answers)
        ratios = [_monotone_ratio(at, match, size) for at, size in zip(level, sizes, strict=True)]
    return FellegiSunter(tuple(ratios))


def levels(features: np.ndarray) -> list[np.ndarray]:
    """Return for each compared feature the (P,) levels of the pairs."""
    column = {name: features[:, place] for place, name in enumerate(NAMES)}
    column["alike"] = (column["stems_here"] + column["grams_here"]) / 2
    return [np.digitize(column[name], ends) for name, ends in COMPARED.items()]


def _monotone_ratio(level: np.ndarray, match: np.ndarray, size: int) -> np.ndarray:
    """Return log(m / u) of each level, by isotonic regression weighted with the number of pairs of the level."""
    from scipy.optimize import isotonic_regression  # takes 0.25 CPU seconds; only a fit needs it

    matches, others = np.bincount(level, match, size) + 0.5, np.bincount(level, 1 - match, size) + 0.5
    ratio = np.log(matches / matches.sum()) - np.log(others / others.sum())
    smooth: np.ndarray = isotonic_regression(ratio, weights=matches + others).x
    return smooth


def _with_rates(evidence: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the probability of each pair from its evidence and its answer's match rate under a Beta prior."""
    names, answer = np.unique(answers, return_inverse=True)
    count = np.bincount(answer, minlength=len(names))
    rate = np.full(len(names), PRIOR_MATCHES / PRIOR_PAIRS)
    probability = np.zeros(len(evidence))
    for _ in range(5):
        logit = evidence + np.log(rate / (1 - rate))[answer]
        probability = sigmoid(logit)
        rate = (np.bincount(answer, probability, len(names)) + PRIOR_MATCHES) / (count + PRIOR_PAIRS)
    return probability
