"""Learn from labelled pairs how probable it is that two questions are paraphrases.

features, labels -> learn -> JSON for shipped_weights.model_of
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.learned_scorers import Logistic
from pipelines.linkage.scoring.shipped_weights import Kind, feature_names
from pipelines.linkage.scoring.tree_tables import MOST_LEAVES

EASY: Final = 0.12
"""Pairs that share less of their characters are hardly ever paraphrases; one in ten stands for all."""

ROUNDS: Final = 300
"""Default number of trees."""

LOGISTIC_PAIRS: Final = 150_000
"""Maximum number of pairs, chosen at random, for the logistic regression, which holds six inputs for each feature."""

KNOTS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles of a feature at which its slope in the logistic regression can change."""


def learn(
    features: np.ndarray,
    same: np.ndarray,
    *,
    kind: Kind = "boosted",
    weight: np.ndarray | None = None,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> dict[str, Any]:
    """Fit a model to labelled pairs; its threshold is 0.5 until one is chosen.

    Both kinds minimise the logarithmic loss, so their probabilities are calibrated where they were learned. One thread
    does the work: sums in another order are other sums, and the same pairs are to give the same weights. Boosted trees
    are the text of a LightGBM model, logistic weights are numbers.

    Args:
        features: (P, F) float32, of `pipelines.linkage.split_answers.compare`; more columns than
            `NAMES` are `COSINES`.
        same: (P,) bool, whether the pair is one of paraphrases.
        kind: of model.
        weight: (P,) how much each pair counts, alike by default.
        seed: of the choice of easy pairs.
        rounds: of boosting.
    """
    easy = (features[:, NAMES.index("grams")] < EASY) & ~same
    kept = ~easy | (np.random.default_rng(seed).random(len(same)) < 0.1)
    counted = np.where(easy, 10.0, 1.0) * (1.0 if weight is None else weight)
    chosen, labels, counted = features[kept], same[kept], counted[kept] / counted[kept].mean()
    cosine = features.shape[1] > len(NAMES)
    fitted = _logistic(chosen, labels, counted) if kind == "logistic" else _boosted(chosen, labels, counted, rounds)
    names = list(feature_names(cosine=cosine))
    return {"kind": kind, "cosine": cosine, "features": names, "threshold": 0.5, **fitted}


def _logistic(features: np.ndarray, same: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    kept = np.random.default_rng(0).permutation(len(same))[:LOGISTIC_PAIRS]
    features, same, weight = features[kept], same[kept], weight[kept]
    knots = np.quantile(features, KNOTS, axis=0).T.round(4)
    bent = Logistic(knots, np.zeros(0), 0.0).bend(features)
    mean, scale = bent.mean(axis=0), np.maximum(bent.std(axis=0), 1e-6)  # a constant input stays finite
    with threadpool_limits(1):
        model = LogisticRegression(C=0.1, max_iter=200).fit((bent - mean) / scale, same, sample_weight=weight)
    weights = (model.coef_[0] / scale).astype(np.float64)
    bias = float(model.intercept_[0] - weights @ mean)
    return {"knots": knots.tolist(), "weights": weights.round(6).tolist(), "bias": round(bias, 6)}


def _boosted(features: np.ndarray, same: np.ndarray, weight: np.ndarray, rounds: int) -> dict[str, Any]:
    import lightgbm

    options = {
        "objective": "binary",
        "num_leaves": MOST_LEAVES,
        "learning_rate": 0.12,
        "min_data_in_leaf": 50,
        "lambda_l2": 1.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": 0,
        "verbose": -1,
    }
    names = list(feature_names(cosine=features.shape[1] > len(NAMES)))
    data = lightgbm.Dataset(features, label=same, weight=weight, feature_name=names)
    return {"trees": lightgbm.train(options, data, rounds).model_to_string()}
