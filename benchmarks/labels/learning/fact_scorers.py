"""Scorers of pairs of facts: boosted trees, and after them weights of the words by which two questions differ.

JudgedPairs -> fit_scorer, over_parts -> FactScorer, (P,) probabilities by scorers that have not seen the answer
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from benchmarks.labels.learning.tree_fitting import monotone
from pipelines.linkage.comparison.word_differences import Differences, DifferenceWeights
from pipelines.linkage.scoring.learned_scorers import SETTLED, sigmoid

PARTS = 5

TREES = 500
RATE = 0.02
LEAVES = 8
FEATURES_A_TREE = 0.3
PAIRS_A_TREE = 0.7
"""Small trees of random features and pairs, since not many paraphrases are known."""

LEAST = 4
"""Minimum number of pairs in which a difference occurs that has a weight."""

LEAST_WEIGHT = 0.005
"""Minimum size of a weight that is kept; four fifths are smaller, and would make the files five times as large."""

PENALTY = 100.0
"""Factor of half the sum of squares of the weights of differences. With 20, pairs of the kind of questions that were
learned from are ranked as well, and those of another kind worse than by trees alone."""


class JudgedPairs(NamedTuple):
    """Pairs of questions of the answers that were read.

    Attributes:
        left: (P,) row of one question.
        right: (P,) row of the other.
        rows: number of rows.
        answer: (P,) number of the answer, from 0.
        features: (P, F) those of `names`.
        differences: words by which they differ.
        quiz: (P,) share of the answer's questions that begin with a capital, as those of quizzes do; the others are
            typed into search engines.
        names: names of the features.
        general: (P,) probability by the trees that learned from other logs.
        same: (P,) bool, whether the pair is a paraphrase.
    """

    left: np.ndarray
    right: np.ndarray
    rows: int
    answer: np.ndarray
    features: np.ndarray
    differences: Differences
    quiz: np.ndarray
    names: tuple[str, ...]
    general: np.ndarray
    same: np.ndarray

    def of_few(self, most: int) -> np.ndarray:
        """Return (P,) bool, whether the pair's answer has at most ``most`` questions."""
        few: np.ndarray = (np.bincount(self.answer) <= most * (most - 1) // 2)[self.answer]
        return few

    def take(self, rows: np.ndarray) -> JudgedPairs:
        """Return all pairs of some answers, which ``rows``, (P,) bool, marks."""
        number = np.cumsum(rows) - 1
        inside = rows[self.differences.pair]
        differences = Differences(number[self.differences.pair[inside]], self.differences.key[inside])
        return self._replace(
            left=self.left[rows],
            right=self.right[rows],
            answer=np.unique(self.answer[rows], return_inverse=True)[1],
            features=self.features[rows],
            differences=differences,
            quiz=self.quiz[rows],
            general=self.general[rows],
            same=self.same[rows],
        )

    @property
    def weight(self) -> np.ndarray:
        """(P,) inverse fourth roots of the numbers of pairs of the answer: 12 pairs of one are no 12 findings."""
        roots: np.ndarray = 1 / np.sqrt(np.sqrt(np.bincount(self.answer)[self.answer]))
        return roots


def fit_trees(pairs: JudgedPairs, rows: np.ndarray, *, seed: int) -> Any:
    """Return a LightGBM model of some pairs, (P,) bool."""
    import lightgbm

    options = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "feature_fraction": FEATURES_A_TREE,
        "bagging_fraction": PAIRS_A_TREE,
        "bagging_freq": 1,
        "min_data_in_leaf": 40,
        "lambda_l2": 1.0,
        "monotone_constraints": monotone(pairs.names),
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbose": -1,
    }
    weight = pairs.weight[rows]
    data = lightgbm.Dataset(
        pairs.features[rows], label=pairs.same[rows], weight=weight / weight.mean(), feature_name=list(pairs.names)
    )
    return lightgbm.train(options, data, TREES)


@dataclasses.dataclass(frozen=True)
class FactScorer:
    """Trees, and weights of differences after them.

    Attributes:
        trees: LightGBM model.
        differences: weights of the words by which questions differ.
    """

    trees: Any
    differences: DifferenceWeights

    def probabilities(self, pairs: JudgedPairs, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of some pairs, (P,) bool, by the trees alone and by both."""
        logits = log_odds(self.trees, pairs, rows)
        return sigmoid(logits), sigmoid(logits + self.differences.sums(pairs.differences, len(rows))[rows])


def fit_scorer(pairs: JudgedPairs, rows: np.ndarray, *, seed: int) -> FactScorer:
    """Return the scorer that is learned from some pairs, (P,) bool.

    The weights of differences learn beside the log odds of trees that have not seen the pair's answer.
    """
    part = part_of_answers(pairs, seed + 100)
    logits = np.zeros(len(rows))
    for number in range(PARTS):
        inside = rows & (part == number)
        logits[inside] = log_odds(fit_trees(pairs, rows & (part != number), seed=seed), pairs, inside)
    return FactScorer(fit_trees(pairs, rows, seed=seed), fit_differences(pairs, logits, rows))


def fit_differences(pairs: JudgedPairs, logits: np.ndarray, rows: np.ndarray) -> DifferenceWeights:
    """Return the weights of differences of some pairs, (P,) bool, beside the (P,) log odds ``logits``.

    It is a logistic regression with an offset, of pairs with the mean weight 1.
    """
    inside = rows[pairs.differences.pair]
    key, column, counts = np.unique(pairs.differences.key[inside], return_inverse=True, return_counts=True)
    shape = (len(rows), len(key))
    differences = sparse.csr_matrix((np.ones(len(column)), (pairs.differences.pair[inside], column)), shape)
    frequent = np.flatnonzero(counts >= LEAST)
    inputs, offset, same = differences[:, frequent][rows], logits[rows], pairs.same[rows].astype(float)
    weight = pairs.weight[rows] / pairs.weight[rows].mean()

    def loss(learned: np.ndarray) -> tuple[float, np.ndarray]:
        weights, bias = learned[:-1], learned[-1]
        odds = offset + inputs @ weights + bias
        slope = weight * (sigmoid(odds) - same)
        total = np.sum(weight * (np.logaddexp(0, odds) - same * odds)) + PENALTY / 2 * weights @ weights
        return float(total), np.append(inputs.T @ slope + PENALTY * weights, slope.sum())

    learned = minimize(loss, np.zeros(len(frequent) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    large = np.abs(learned[:-1]) >= LEAST_WEIGHT
    return DifferenceWeights(key[frequent][large], learned[:-1][large].astype(np.float32), float(learned[-1]))


def line_of(same: np.ndarray, probability: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept by which log odds fit the share of paraphrases best (Platt 1999)."""
    model = LogisticRegression(C=np.inf).fit(np.log(probability / (1 - probability))[:, None], same)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def on_line(probability: np.ndarray, line: tuple[float, float]) -> np.ndarray:
    """Return probabilities whose log odds lie on a line over those of the given ones."""
    return sigmoid(line[0] * np.log(probability / (1 - probability)) + line[1])


def log_odds(trees: Any, pairs: JudgedPairs, rows: np.ndarray) -> np.ndarray:
    """Return the log odds of some pairs, (P,) bool, by trees, limited as those of a pipeline."""
    odds: np.ndarray = np.clip(trees.predict(pairs.features[rows], raw_score=True), *SETTLED)
    return odds


def part_of_answers(pairs: JudgedPairs, seed: int) -> np.ndarray:
    """Return the (P,) part of each pair, from 0, below `PARTS`; all pairs of an answer are in one part."""
    part: np.ndarray = np.random.default_rng(seed).permutation(pairs.answer.max() + 1)[pairs.answer] % PARTS
    return part


def over_parts(pairs: JudgedPairs, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (P,) probabilities of each pair, by trees alone and by scorers, that have not seen its answer."""
    part = part_of_answers(pairs, seed)
    by_trees, probability = np.zeros(len(part)), np.zeros(len(part))
    for number in range(PARTS):
        inside = part == number
        scorer = fit_scorer(pairs, ~inside, seed=seed)
        by_trees[inside], probability[inside] = scorer.probabilities(pairs, inside)
    return by_trees, probability
