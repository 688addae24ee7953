"""Fit of a confidence model and its cross-validation by clusters.

Examples -> learn -> AdditiveModel; Examples -> cross_validated -> probabilities of first hits
"""

from __future__ import annotations

from typing import Final

import numpy as np

from model.confidence.additive_model import AdditiveModel
from model.confidence.examples import Examples
from model.confidence.features import SIGNS, Doubles
from model.confidence.penalized_likelihood import fit
from schemas.errors import QprError
from schemas.quantities import counted

LEARNED: Final = 5
"""Hits of a query that are learned from, the nearest first."""

LOWER: Final = 0.2
"""Weight of a hit below the first, whose probability decides on an answer."""

FOLDS: Final = 5

LEAST_GROUPS: Final = 30
"""Minimum clusters; of 30 the share of right hits is known within .18."""


def learn(found: Examples) -> AdditiveModel:
    """Return the model of these examples.

    Raises:
        QprError: no hit is right, or all are.
    """
    part = np.s_[:, :LEARNED]
    there, table, right = found.there[part], found.table[part], found.right[part]
    weights = np.broadcast_to(np.where(np.arange(there.shape[1]) == 0, 1.0, LOWER), there.shape)
    return fit(table[there], right[there], weights[there], SIGNS)


def cross_validated(found: Examples, *, folds: int = FOLDS, seed: int = 0) -> Doubles:
    """Return the probability of the first hit of every query, (m,), by models that did not see its cluster.

    Raises:
        QprError: there are fewer than `LEAST_GROUPS` clusters, or a fold has nothing to learn from.
    """
    clusters = int(found.groups.max(initial=-1)) + 1
    if clusters < LEAST_GROUPS:
        raise QprError(f"{counted(clusters, 'cluster')} of queries; {LEAST_GROUPS} are needed")
    dealt = np.random.default_rng(seed).permutation(clusters) % folds
    probabilities = np.zeros(len(found.groups))
    for fold in range(folds):
        out = dealt[found.groups] == fold
        probabilities[out] = first_hits(learn(found.part(~out)), found.part(out))
    return probabilities


def first_hits(model: AdditiveModel, found: Examples) -> Doubles:
    """Return the probability of the first hit of every query, (m,); 0 where it has none."""
    probabilities = model.probability(model.contributions(found.table[:, 0]))
    return np.where(found.there[:, 0], probabilities, 0.0)
