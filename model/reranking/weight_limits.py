"""Limits of a reranker's weights, within which every score is finite.

weights -> unusable -> the name and fault of a weight, or None
"""

from __future__ import annotations

from typing import Final

import numpy as np

from model.reranking.reranker import LARGEST, Weights

LEAST_DEVIATION: Final = np.float32(1e-6)
"""Minimum deviation of a feature; training writes it for a feature that is the same for all candidates."""

_LARGEST_SUM = 1e30
"""Maximum of a sum of weights; float32 ends at 3.4e38, so sums and their differences stay finite in any order."""


def unusable(weights: Weights) -> str | None:
    """Return the name and fault of weights that could give a score that is not finite; None if there are none.

    Args:
        weights: of `model.reranking.reranker.weight_shapes`, finite.
    """
    mean, deviation, hidden, bias, out = (
        weights[name].astype(np.float64) for name in ("mean", "deviation", "hidden.weight", "hidden.bias", "out.weight")
    )
    if (weights["deviation"] < LEAST_DEVIATION).any():
        return f"'deviation' holds a number below {LEAST_DEVIATION:.0e}"
    sums = {  # a feature is at most LARGEST after the division, and a hidden number at most 1
        "mean": np.abs(mean) / deviation,
        "deviation": deviation,
        "hidden.weight": LARGEST * np.abs(hidden).sum(axis=1),
        "hidden.bias": np.abs(bias),
        "out.weight": np.abs(out).sum(),
    }
    for name, sizes in sums.items():
        if (sizes > _LARGEST_SUM).any():
            return f"{name!r} holds numbers so large that scores would not be finite"
    return None
