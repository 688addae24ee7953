"""Trees fitted to the pairs of many logs, each of which has a weight.

SilverLog -> examples -> Examples -> fit -> LightGBM model
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.labels.learning.candidate_pairs import gather
from benchmarks.labels.silver_scores import answers
from benchmarks.logs.silver_logs import SilverLog
from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.comparison.word_alignment import ALIGNED
from pipelines.linkage.scoring.shipped_weights import tree_features
from pipelines.neighbours.embeddings import Encode

PAIRS_A_LOG = 60_000
ROUNDS = 400
RATE = 0.1
LEAVES = 16

FEATURES_A_TREE = 0.4
"""Share of the features that a tree may use: no feature of the log decides alone."""

RISING = frozenset(
    name for name in (*AGREEMENT, *COSINES, *ALIGNED) if name.startswith(("similarity", "above_", "cosine", "aligned"))
)

FALLING = frozenset({"others_nearer_min", "others_nearer_max", *(name for name in ALIGNED if "left_over" in name)})
"""Features that rise or fall as the cosine of a pair rises and all other cosines stay; the probability never falls."""


class Examples(NamedTuple):
    """A sample of the pairs of a log: (P, F) features, whether they are paraphrases, and their weights."""

    features: np.ndarray
    same: np.ndarray
    weight: np.ndarray


def examples(
    log: SilverLog, encode: Encode | None = None, *, seed: int, most: int = PAIRS_A_LOG, aligns: bool = False
) -> Examples:
    """Return a sample of a log's pairs, whose weights add up to 1; a pair weighs the inverse root of its answer's size.

    Args:
        log: the log.
        encode: encoder of the texts; None: words alone are compared.
        seed: of the sample.
        most: maximum number of pairs.
        aligns: compare single words by the encoder, too.
    """
    compared = gather(log, encode, neighbours=True, words_too=encode is not None, alignment=aligns).compared
    chosen = np.sort(np.random.default_rng(seed).permutation(len(compared.left))[:most])
    left, right = compared.left[chosen], compared.right[chosen]
    weight = 1 / np.sqrt(np.bincount(answers(log))[answers(log)[left]])
    return Examples(compared.features[chosen], log.gold[left] == log.gold[right], weight / max(weight.sum(), 1e-9))


def weighted(logs: Iterable[Examples], total: float) -> list[Examples]:
    """Return logs that weigh as much as ``total`` logs together."""
    every = list(logs)
    return [log._replace(weight=log.weight * total / len(every)) for log in every]


def monotone(names: Sequence[str]) -> list[int]:
    """Return 1 for features that may only raise the probability of a pair, -1 for those that may only lower it."""
    return [int(name in RISING) - int(name in FALLING) for name in names]


def fit(logs: list[Examples], *, seed: int) -> Any:
    """Return a LightGBM model of all features."""
    import lightgbm

    features, same, weights = (np.concatenate(parts) for parts in zip(*logs, strict=True))
    options = {
        "objective": "binary",
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "feature_fraction": FEATURES_A_TREE,
        "min_data_in_leaf": 200,
        "lambda_l2": 1.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbose": -1,
    }
    by_vectors = features.shape[1] > len(tree_features())
    aligns = features.shape[1] > len(tree_features(cosine=by_vectors, words_too=by_vectors))
    names = list(tree_features(cosine=by_vectors, words_too=by_vectors, alignment=aligns))
    if by_vectors:
        options |= {"monotone_constraints": monotone(names), "monotone_constraints_method": "intermediate"}
    data = lightgbm.Dataset(features, label=same, weight=weights / weights.mean(), feature_name=names)
    return lightgbm.train(options, data, ROUNDS)
