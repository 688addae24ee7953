"""Exact tests and bounds of a share by a sample of fixed size.

wrong ones, sample size, share -> lower_tail -> p-value; wrong ones, sample size -> upper_bound -> share
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import betaincc, betaincinv  # scipy.stats takes a second longer to import

from schemas.arrays import Float64s


def lower_tail(wrong: npt.ArrayLike, sample: npt.ArrayLike, share: npt.ArrayLike) -> Float64s:
    """Return P(Bin(sample, share) <= wrong), the p-value of "the share of wrong ones is at least ``share``".

    Args:
        wrong: (…) numbers of wrong ones; below 0 the probability is 0.
        sample: (…) sizes of the samples.
        share: (…) in [0, 1].
    """
    counts, sizes = np.floor(np.asarray(wrong, float)), np.asarray(sample, float)
    inside = betaincc(np.maximum(counts, 0) + 1, np.maximum(sizes - counts, 1), np.asarray(share, float))
    tail: Float64s = np.select([counts < 0, counts >= sizes], [0.0, 1.0], inside)
    return tail


def upper_bound(wrong: int, sample: int, error: float) -> float:
    """Return the share that a sample shows not to be exceeded, but for a chance of ``error``.

    Source: Clopper and Pearson (1934), https://doi.org/10.1093/biomet/26.4.404; one-sided.
    """
    return 1.0 if wrong >= sample else float(betaincinv(wrong + 1, sample - wrong, 1 - error))


def smallest_sample(share: float, error: float) -> int:
    """Return the size from which a sample without a wrong one shows a share below ``share``: ln(error) / ln(1 - share).

    Args:
        share: in (0, 1).
        error: chance of a false claim, in (0, 1).
    """
    size = max(math.ceil(math.log(error) / math.log1p(-share)) - 1, 1)  # the quotient may be rounded up
    while lower_tail(0, size, share) > error:
        size += 1
    return size
