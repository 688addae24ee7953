"""Record linkage without any label: how much likelier a comparison is among paraphrases, learned from the log itself.

features of candidate pairs -> fit -> FellegiSunter .probability -> (P,) float64
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from pipelines.linkage.comparison.pair_features import NAMES

COMPARED: Final = {
    "alike": np.array([0.02, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9]),
    "margin_min": np.array([-0.5, -0.4, -0.3, -0.2, -0.1, -0.03, 0.03, 0.1, 0.2]),
}
"""What is compared, and where one level ends and the next begins; a higher level never speaks against a match."""

PRIOR_MATCHES: Final = 0.2
PRIOR_PAIRS: Final = 2.0
"""Of two imagined pairs of each answer 0.2 are matches: Beta(0.2, 1.8)."""

THRESHOLD: Final = 0.3
"""Comparisons are taken for independent, which they are not; so the probability is rather too sure of non-matches.

Of .2, .3, .5 and .7 the lowest at which precision reaches .985 in log (b) of the half of Quora's clusters that others
learned from: .985 there at a recall of .939 (`benchmarks.labels.answer_splits --half learning`)."""

ROUNDS: Final = 40


@dataclasses.dataclass(frozen=True)
class FellegiSunter:
    """Fellegi and Sunter's model (1969), with one rate of matches an answer.

    Attributes:
        ratios: for each comparison the logarithm of m / u of each level, non-decreasing.
    """

    ratios: tuple[np.ndarray, ...]

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each pair, the rate of its answer estimated from the answer's own pairs."""
        evidence = sum(ratio[level] for ratio, level in zip(self.ratios, levels(features), strict=True))
        return _with_rates(np.asarray(evidence), answers)


def fit(features: np.ndarray, answers: np.ndarray) -> FellegiSunter:
    """Estimate m and u by expectation maximisation over the pairs inside answers; non-matches are theirs as well.

    Args:
        features: (P, F) of candidate pairs; a sample of answers will do.
        answers: (P,) int64, the answer of each pair.
    """
    level = levels(features)
    sizes = [len(ends) + 1 for ends in COMPARED.values()]
    ratios = [np.linspace(-3.0, 3.0, size) for size in sizes]
    for _ in range(ROUNDS):
        evidence = sum(ratio[at] for ratio, at in zip(ratios, level, strict=True))
        match = _with_rates(np.asarray(evidence), answers)
        ratios = [_monotone_ratio(at, match, size) for at, size in zip(level, sizes, strict=True)]
    return FellegiSunter(tuple(ratios))


def levels(features: np.ndarray) -> list[np.ndarray]:
    """Return the level of each comparison of each pair."""
    column = {name: features[:, place] for place, name in enumerate(NAMES)}
    column["alike"] = (column["stems_here"] + column["grams_here"]) / 2
    return [np.digitize(column[name], ends) for name, ends in COMPARED.items()]


def _monotone_ratio(level: np.ndarray, match: np.ndarray, size: int) -> np.ndarray:
    """Return log(m / u) of each level, by isotonic regression weighted with how many pairs have it."""
    from scipy.optimize import isotonic_regression  # 0.25 CPU seconds that only a fit needs

    matches, others = np.bincount(level, match, size) + 0.5, np.bincount(level, 1 - match, size) + 0.5
    ratio = np.log(matches / matches.sum()) - np.log(others / others.sum())
    smooth: np.ndarray = isotonic_regression(ratio, weights=matches + others).x
    return smooth


def _with_rates(evidence: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the probability of each pair given its evidence and its answer's rate under a Beta prior."""
    names, answer = np.unique(answers, return_inverse=True)
    count = np.bincount(answer, minlength=len(names))
    rate = np.full(len(names), PRIOR_MATCHES / PRIOR_PAIRS)
    probability = np.zeros(len(evidence))
    for _ in range(5):
        logit = evidence + np.log(rate / (1 - rate))[answer]
        probability = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
        rate = (np.bincount(answer, probability, len(names)) + PRIOR_MATCHES) / (count + PRIOR_PAIRS)
    return probability
