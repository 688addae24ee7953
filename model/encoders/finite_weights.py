"""Check that weights are finite at the precision they are stored in.

weights by name -> first_not_finite -> the name of one that is not
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def first_not_finite(weights: Mapping[str, npt.NDArray[Any]], stored_as: type[np.floating]) -> str | None:
    """Return the name of the first array with a value that is not finite as ``stored_as``, None if there is none.

    Half precision ends at 65,504. Rounding keeps the order of numbers, so the smallest and the largest of an array
    decide, and no array is copied.
    """
    with np.errstate(over="ignore"):
        for name, weight in weights.items():
            if weight.size and not np.isfinite(np.array([weight.min(), weight.max()]).astype(stored_as)).all():
                return name
    return None
