"""Linkage probabilities corrected by verdicts.

mean probability of a cluster -> recalibrate -> calibrated probability
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.clusters.settings import Recalibration
from pipelines.linkage.scoring.learned_scorers import sigmoid

_LARGEST_LOGIT: Final = 7.0
"""Logit of .9991: beyond it, a stated probability contains no information that some hundred verdicts could confirm."""


def logit(probability: np.ndarray) -> np.ndarray:
    """Return log odds between -7 and 7."""
    with np.errstate(divide="ignore"):
        odds: np.ndarray = np.log(probability) - np.log1p(-probability)
    return odds.clip(-_LARGEST_LOGIT, _LARGEST_LOGIT)


def recalibrate(probability: np.ndarray, scale: Recalibration) -> np.ndarray:
    """Return the calibrated probability, which never falls where the stated one rises.

    Args:
        probability: (R,) stated mean probability of each row's cluster.
        scale: fitted line of log odds.
    """
    log_odds = scale.intercept + scale.slope * logit(probability)
    return sigmoid(log_odds)
