"""Fit of an additive logistic model, with curves that rise or fall where they should.

features, right or wrong -> fit -> AdditiveModel
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear
from scipy.special import expit
from threadpoolctl import threadpool_limits

from model.confidence.additive_model import AdditiveModel, Curve
from schemas.arrays import Bools, Float64s
from schemas.errors import QprError

PIECES: Final = 8
"""Maximum linear pieces of a curve; its knots are quantiles of the feature. 16 pieces predict no better."""

PENALTY: Final = 1.0
"""Weight of the squared rise of each piece; .3 to 3 predict alike."""

_DIGITS: Final = 5
"""Decimal places of a fitted model, so that the last bits of a machine's arithmetic do not show in the file."""

_STEPS: Final = 50
"""Maximum steps of Newton's method: fits of 300 to 30,000 examples took 4 to 7."""

_SMALL: Final = 1e-6
"""Gain of likelihood, and length of a step, under which the climb ends."""


def fit(table: Float64s, right: Bools, weights: Float64s, signs: Mapping[str, int]) -> AdditiveModel:
    """Return the model of the largest penalized likelihood of these examples.

    Args:
        table: (m, F) features.
        right: (m,) outcomes.
        weights: (m,) of the examples, above 0.
        signs: for each feature in order 1 if its curve may only rise, -1 if it may only fall, else 0.

    Raises:
        QprError: all examples are right, all are wrong, or there is none.
    """
    if not 0 < right.sum() < len(right):
        raise QprError(f"{right.sum():,} of {len(right):,} examples are right: nothing to learn from")
    knots = [_knots(column) for column in table.T]
    ramps = np.concatenate([_ramps(column, at) for column, at in zip(table.T, knots, strict=True)], axis=1)
    mean = np.average(ramps, axis=0, weights=weights)
    sides = [sign for sign, at in zip(signs.values(), knots, strict=True) for _ in at[1:]]
    # The products are small: on two busy cores, threads that wait for each other took 4 to 14 times the CPU time.
    with threadpool_limits(1, user_api="blas"):
        bias, *coefficients = _climb(ramps - mean, right.astype(float), weights, sides)
    rises = np.array(coefficients)
    parts = np.split(np.arange(len(rises)), np.cumsum([len(at) - 1 for at in knots])[:-1])
    curves = {}
    for name, at, part in zip(signs, knots, parts, strict=True):
        log_odds = np.concatenate([[0], np.cumsum(rises[part])]) - mean[part] @ rises[part]
        curves[name] = Curve(knots=tuple(at.tolist()), log_odds=tuple(_rounded(log_odds)))
    return AdditiveModel(bias=round(float(bias), _DIGITS), curves=curves)


def _knots(values: Float64s) -> Float64s:
    """Return two or more ascending quantiles, rounded as they are stored."""
    points = np.unique(_rounded(np.quantile(values, np.linspace(0, 1, PIECES + 1))))
    return points if len(points) > 1 else np.array([points[0], points[0] + 1])


def _rounded(values: Float64s) -> list[float]:
    return [round(value, _DIGITS) + 0.0 for value in values.tolist()]  # no -0.0


def _ramps(values: Float64s, knots: Float64s) -> Float64s:
    """Return the share of each piece that lies below each value, (m, pieces), in [0, 1]."""
    return np.asarray(np.clip((values[:, None] - knots[:-1]) / np.diff(knots), 0, 1))


def _climb(ramps: Float64s, right: Float64s, weights: Float64s, signs: Sequence[int]) -> Float64s:
    """Return the bias and the rise of each piece: Newton's method, each step in the signs and halved if long."""
    inputs = np.concatenate([np.ones((len(ramps), 1)), ramps], axis=1)
    penalty = np.append(1e-9, np.full(len(signs), PENALTY))  # the bias is free; above 0 for the Cholesky decomposition
    lower = np.array([-np.inf, *(0 if sign > 0 else -np.inf for sign in signs)])
    upper = np.array([np.inf, *(0 if sign < 0 else np.inf for sign in signs)])

    def loss(rises: Float64s) -> float:
        log_odds = inputs @ rises
        return float((weights * (np.logaddexp(0, log_odds) - right * log_odds)).sum() + penalty @ rises**2 / 2)

    rises = np.zeros(len(penalty))
    now = loss(rises)
    for _ in range(_STEPS):
        probability = expit(inputs @ rises)
        slope = (weights * (probability - right)) @ inputs + penalty * rises
        bend = (inputs * (weights * probability * (1 - probability))[:, None]).T @ inputs + np.diag(penalty)
        root = cholesky(bend)
        target = solve_triangular(root, bend @ rises - slope, trans="T")
        step = lsq_linear(root, target, (lower, upper), method="bvls", tol=1e-12).x - rises
        while (then := loss(rises + step)) > now and np.abs(step).max() > _SMALL:
            step /= 2
        rises, gained, now = rises + step, now - then, then
        if gained <= _SMALL:
            break
    return np.asarray(rises)
