"""Evidence of too many wrong ones in a sequence of samples, some of which may have none too many.

counts of each sample -> later_excess_evidence

One process for the whole sequence would lose nearly all of its evidence in a long time with few wrong ones, and then
need as long again to see a change. So the evidence is divided beforehand among all possible beginnings of the change:
each sample has a part that watches it and all later ones, and the parts after the first n are 1 / (1 + log(1 + n))
together. A part is an e-process that leaves out the samples before its own, so that the sum of the parts is at most 1
in expectation at any time. The parts fall nearly as slowly as parts with a finite sum can.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schemas.arrays import Float64s
from schemas.statistics.e_processes import excess_evidence


def later_excess_evidence(wrong: npt.ArrayLike, sample: npt.ArrayLike, share: float) -> Float64s:
    """Return the evidence that more than ``share`` are wrong, from the first sample or a later one on.

    Observations may come in any order that does not depend on those to come, also of several samples in turn.

    Args:
        wrong: (…, n) numbers of wrong ones of each sample so far, the samples in the order in which they began.
        sample: (…, n) numbers of observations of each.
        share: promised maximum, in (0, 1).
    """
    watched = excess_evidence(_sums_from(wrong), _sums_from(sample), share)
    after = 1 / (1 + np.log1p(np.arange(watched.shape[-1] + 1)))
    evidence: Float64s = np.asarray(watched @ -np.diff(after) + after[-1])  # that of later samples is 1
    return evidence


def _sums_from(counts: npt.ArrayLike) -> Float64s:
    """Return for each sample the sum of it and all later ones."""
    sums: Float64s = np.flip(np.flip(np.asarray(counts, float), -1).cumsum(-1), -1)
    return sums
