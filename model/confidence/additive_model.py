"""Additive logistic model: one curve of log odds for each feature.

features -> AdditiveModel.contributions -> AdditiveModel.probability

A curve is linear between its knots and constant outside, so no feature beyond what was learned moves a probability
further. The curves add up, so the contribution of a feature is exact (Hastie and Tibshirani 1986).
"""

from __future__ import annotations

import functools
import itertools
from typing import Annotated

import numpy as np
import pydantic

from schemas.arrays import Float64s

Finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]


class Curve(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A feature's log odds: ``log_odds`` at ``knots``, which ascend; linear between, constant outside."""

    knots: tuple[Finite, ...] = pydantic.Field(min_length=2)
    log_odds: tuple[Finite, ...]

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Curve:
        if len(self.knots) != len(self.log_odds):
            raise ValueError(f"{len(self.knots)} knots and {len(self.log_odds)} log odds")
        if any(lower >= upper for lower, upper in itertools.pairwise(self.knots)):
            raise ValueError("the knots do not ascend")
        return self


class AdditiveModel(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Curves by the name of their feature, in the order of the features, and the log odds to add to their sum.

    The contribution of a feature is 0 on average over the examples of the fit.
    """

    bias: Finite
    curves: dict[str, Curve]

    def contributions(self, table: Float64s) -> Float64s:
        """Return the log odds of every feature, (…, F), of features (…, F)."""
        added = np.empty_like(table)
        for number, (knots, log_odds) in enumerate(self._curves):
            added[..., number] = np.interp(table[..., number], knots, log_odds)
        return added

    def probability(self, contributions: Float64s) -> Float64s:
        """Return the probability, (…), by the contributions of the features, (…, F)."""
        log_odds = contributions.sum(axis=-1) + self.bias
        return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))  # 1e-13 from 0 or 1; exp overflows at 710

    @functools.cached_property
    def _curves(self) -> list[tuple[Float64s, Float64s]]:
        return [(np.array(curve.knots), np.array(curve.log_odds)) for curve in self.curves.values()]
