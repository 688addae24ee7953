"""Fit of a confidence model and its cross-validation by clusters.

Examples -> learn -> AdditiveModel; Examples -> fold_models -> out_of_fold -> probabilities of first hits
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from model.confidence.additive_model import AdditiveModel
from model.confidence.examples import Examples
from model.confidence.features import SIGNS
from model.confidence.penalized_likelihood import fit
from schemas.arrays import Bools, Float64s
from schemas.errors import QprError
from schemas.quantities import counted

LEARNED: Final = 5
"""Hits of a query that are learned from, the nearest first."""

LOWER: Final = 0.2
"""Weight of a hit below the first, whose probability decides on an answer."""

ANSWERABLE: Final = 0.5
"""Share of the queries with an answer for which probabilities are made unless a share is given."""

FOLDS: Final = 5
"""Parts of the clusters, each of which is judged by a model of the other four fifths."""

LEAST_GROUPS: Final = 5
"""Minimum clusters, one in each fold."""

LEAST_QUERIES: Final = 100
"""Minimum queries; of 100 the share of right hits is known within .1."""


def learn(
    examples: Examples, signs: Mapping[str, int] = SIGNS, *, answerable_share: float = ANSWERABLE
) -> AdditiveModel:
    """Return the model of these examples; ``signs`` as of `model.confidence.penalized_likelihood.fit`.

    Args:
        examples: hits of queries, as of `model.confidence.examples.examples`.
        signs: directions of the curves.
        answerable_share: of the queries for which the probabilities are made.

    Raises:
        QprError: no hit is right, or all are.
    """
    part = np.s_[:, :LEARNED]
    is_hit, table, right = examples.there[part], examples.table[part], examples.right[part]
    weights = examples.weights(answerable_share)[:, None] * np.where(np.arange(is_hit.shape[1]) == 0, 1.0, LOWER)
    return fit(table[is_hit], right[is_hit], weights[is_hit], signs)


def fold_models(
    examples: Examples, signs: Mapping[str, int] = SIGNS, *, answerable_share: float = ANSWERABLE
) -> Iterator[tuple[Bools, AdditiveModel]]:
    """Yield the mask (m,) of each fold and the model of all other folds.

    Raises:
        QprError: there are too few queries or clusters, or a fold has nothing to learn from.
    """
    for out in folds_of(examples):
        yield out, learn(examples.part(~out), signs, answerable_share=answerable_share)


def out_of_fold(examples: Examples, models: Iterable[tuple[Bools, AdditiveModel]]) -> Float64s:
    """Return the probability of the first hit of every query, (m,), by the model of `fold_models` for its fold."""
    probabilities = np.zeros(len(examples.groups))
    for out, model in models:
        probabilities[out] = first_hits(model, examples.part(out))
    return probabilities


def folds_of(examples: Examples) -> Iterator[Bools]:
    """Yield a mask (m,) of the queries of each fold; those of a cluster are in one fold.

    Raises:
        QprError: there are fewer than `LEAST_GROUPS` clusters or `LEAST_QUERIES` queries.
    """
    clusters, queries = int(examples.groups.max(initial=-1)) + 1, int(examples.answerable.sum())
    if clusters < LEAST_GROUPS or queries < LEAST_QUERIES:
        have = f"{counted(queries, 'query')} of {counted(clusters, 'cluster')} in split validation"
        raise QprError(f"{have}; {LEAST_QUERIES} of {LEAST_GROUPS} are needed")
    dealt = np.random.default_rng(0).permutation(clusters) % FOLDS
    for fold in range(FOLDS):
        yield dealt[examples.groups] == fold


def first_hits(model: AdditiveModel, examples: Examples) -> Float64s:
    """Return the probability of the first hit of every query, (m,); 0 where it has none."""
    probabilities = model.probability(model.contributions(examples.table[:, 0]))
    return np.where(examples.there[:, 0], probabilities, 0.0)
