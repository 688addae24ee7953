"""Fit of the correction of linkage probabilities.

stated probabilities, verdicts -> fit_recalibration -> intercept and slope of the log odds
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import minimize

from pipelines.clusters.recalibration import logit

_SHIFT: Final = 0.25
"""Scale of the Cauchy distribution of the shift of the mean log odds before any verdict. Half of all logs are expected
within it, where the model is more exact than a hundred verdicts; its tails are heavy, so a log with ten times the odds
stated is not held back."""

_SLOPE: Final = 0.15
"""The same of the slope's distance from 1: without verdicts a stated probability stays as it is."""

_LEAST_SLOPE: Final = 0.05
"""Minimum slope: with 0 all probabilities would be equal, and below it their order would be reversed."""


def fit_recalibration(probability: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return intercept and slope of a line of log odds, the maximum of likelihood times prior.

    A line (Platt 1999) has two parameters, which a hundred verdicts determine. Isotonic regression needs about a
    thousand (Niculescu-Mizil and Caruana 2005, https://doi.org/10.1145/1102351.1102430).

    Args:
        probability: (N,) stated probabilities.
        right: (N,) whether the pairs are paraphrases.
    """
    stated = logit(probability)
    center = float(stated.mean()) if len(stated) else 0.0
    signs = np.where(right, 1.0, -1.0)

    def loss(line: np.ndarray) -> float:
        log_odds = center + line[0] + line[1] * (stated - center)
        misfit = np.logaddexp(0, -signs * log_odds).sum()
        return float(misfit + np.log1p((line[0] / _SHIFT) ** 2) + np.log1p(((line[1] - 1) / _SLOPE) ** 2))

    best = minimize(loss, np.array([0.0, 1.0]), bounds=[(None, None), (_LEAST_SLOPE, None)], method="L-BFGS-B")
    shift, slope = map(float, best.x)
    return center + shift - slope * center, slope
