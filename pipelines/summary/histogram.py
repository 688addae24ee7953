"""Histograms in memory that does not grow with the number of values.

values of many files -> Distribution.of -> added up -> quantiles, bins
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from schemas.arrays import Float64s, Int64s

FIVE = {"min": 0.0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1.0}
"""Share of the values up to each figure of the five-number summary."""


@dataclasses.dataclass(frozen=True)
class Distribution:
    """Counts of values that are rounded to a multiple of ``1 / steps``; two of the same ``steps`` can be added.

    Attributes:
        steps: number of different values between 0 and 1; 1 for whole numbers.
        multiples: (V,) the distinct values times ``steps``, ascending.
        counts: (V,) occurrences of each.
    """

    steps: int
    multiples: Int64s
    counts: Int64s

    @classmethod
    def of(cls, values: Float64s | Int64s, *, steps: int = 1) -> Distribution:
        """Return the distribution of ``values``, (N,)."""
        multiples, counts = np.unique(np.rint(values * steps).astype(np.int64), return_counts=True)
        return cls(steps, multiples, counts.astype(np.int64))

    def __add__(self, other: Distribution) -> Distribution:
        both = np.concatenate([self.multiples, other.multiples])
        multiples, places = np.unique(both, return_inverse=True)
        counts = np.zeros(len(multiples), np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return Distribution(self.steps, multiples, counts)

    @property
    def total(self) -> int:
        """Return the number of values."""
        return int(self.counts.sum())

    def quantile(self, share: float) -> float:
        """Return the smallest value with at least this share of all values at or below it; share 0 is the minimum.

        Raises:
            ValueError: there are no values.
        """
        if not self.total:
            raise ValueError("no values, no quantile")
        reached = int(np.searchsorted(np.cumsum(self.counts), share * self.total))
        return int(self.multiples[min(reached, len(self.multiples) - 1)]) / self.steps

    def five(self) -> dict[str, float]:
        """Return minimum, quartiles and maximum by the names in `FIVE`; an empty dict if there are no values."""
        return {name: self.quantile(share) for name, share in FIVE.items()} if self.total else {}

    def bins(self, edges: Sequence[float]) -> list[int]:
        """Return the number of values in each half-open interval between ``edges``, ascending; the last is closed."""
        limits = np.rint(np.asarray(edges, np.float64) * self.steps).astype(np.int64)
        limits[-1] += 1
        up_to = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        return [int(n) for n in np.diff(up_to[np.searchsorted(self.multiples, limits)])]
