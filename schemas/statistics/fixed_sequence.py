"""Tests in an order that was fixed before the data: each at the whole level, up to the first that fails.

p-values in their order -> number_passed -> number of rejected hypotheses
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.arrays import Bools


def number_passed(p_values: npt.ArrayLike, level: float) -> npt.NDArray[Any]:
    """Return the number of tests before the first whose p-value exceeds the level.

    The chance that one of these rejects a true hypothesis is at most the level (Angelopoulos et al. 2021,
    https://arxiv.org/abs/2110.01052, section 3.1), however many tests there are.

    Args:
        p_values: (…, S) in the order of the tests.
        level: chance of a false claim.
    """
    return leading_true(np.asarray(p_values) <= level)


def leading_true(shown: Bools) -> npt.NDArray[Any]:
    """Return the number of true values before the first false one along the last axis, (…, S) -> (…)."""
    count: npt.NDArray[Any] = np.logical_and.accumulate(shown, axis=-1).sum(-1)
    return count
