"""Thresholds whose precision is shown with 95 % confidence by verdicts on sampled pairs.

clusters by probability -> nested_sets; wrong verdicts inside each -> supported_at_looks, missing_verdicts

A set holds the kept pairs of all clusters from some probability on. Each block of draws takes one pair from each of
`KEPT_DRAWS` equal parts of the kept pairs, ranked by probability. In b blocks the number of draws that are in a set
with the share F and wrong is a sum of independent indicators with the mean KEPT_DRAWS * b * F * (1 - precision),
wherever the set ends. Hoeffding (1956, https://doi.org/10.1214/aoms/1177728178) bounds its lower tail by the binomial
one. The sets are tested in a fixed sequence from a strict one on, and the first that fails ends it (Angelopoulos et al.
2021, https://arxiv.org/abs/2110.01052). People look at the result and add verdicts; `LOOKS` divides the error among
fixed sample sizes, so that no look makes a false claim more likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from schemas.statistics.binomial import lower_tail
from schemas.statistics.fixed_sequence import leading_true

KEPT_DRAWS: Final = 6
"""Draws of a block among the kept pairs, one from each of as many parts of equal size."""

OTHER_DRAWS: Final = 2
"""Draws of a block among the pairs of one answer that are not kept: they estimate prior and recall."""

LOOKS: Final = {9: 0.005, 18: 0.025, 36: 0.01, 72: 0.005, 144: 0.0025, 288: 0.0025}
"""Blocks after which thresholds are tested, and the chance of a false claim there: 5 % in all.

Half of it is for 18 blocks, 144 verdicts or an hour of reading. 9 blocks are enough where hardly a verdict is wrong."""

SHARES: Final = tuple(round(0.05 * step, 2) for step in range(2, 21))
"""Shares of the kept pairs in the sets, before clusters of equal probability are added."""

FORGIVEN: Final = 3
"""Wrong verdicts with which the first set of a sequence passes.

The strictest sets hold too few verdicts to pass; docs/decisions/0043-verdicts.md compares 1 to 5."""


class NestedSet(NamedTuple):
    """Kept pairs of the clusters from a probability on.

    Attributes:
        probability: minimum linkage probability of the clusters.
        share: of all kept pairs.
    """

    probability: float
    share: float


def nested_sets(probability: np.ndarray, pairs: np.ndarray) -> list[NestedSet]:
    """Return different sets, the strictest first.

    Args:
        probability: (C,) of the clusters, descending.
        pairs: (C,) int64 number of pairs of each.
    """
    reached = np.cumsum(pairs)
    last = np.minimum(np.searchsorted(reached, np.array(SHARES) * reached[-1]), len(pairs) - 1)
    least = np.unique(probability[last])[::-1]
    inside = np.searchsorted(-probability, -least, side="right")
    return [NestedSet(float(p), float(reached[i - 1] / reached[-1])) for p, i in zip(least, inside, strict=True)]


def largest_supported(
    shares: Sequence[float],
    wrong: np.ndarray,
    *,
    blocks: int,
    precision: float,
    error: float,
    forgiven: int = FORGIVEN,
) -> np.ndarray:
    """Return the index of the largest set that is shown to have a precision, -1 where none is.

    Args:
        shares: (S,) of the sets, ascending.
        wrong: (…, S) wrong verdicts inside each.
        blocks: number of judged blocks.
        precision: to show, in [0, 1).
        error: chance of a false claim.
        forgiven: wrong verdicts with which the first set passes.
    """
    draws, rate = KEPT_DRAWS * blocks, np.array(shares) * (1 - precision)
    likely = lower_tail(wrong, draws, rate)
    shown = (likely <= error) & (wrong <= draws * rate - 1)  # Hoeffding's bound holds below the mean minus 1 only
    forgiving = lower_tail(forgiven, draws, rate) <= error
    first = int(forgiving.argmax()) if forgiving.any() else len(shares) - 1
    passed = leading_true(shown[..., first:])
    return np.where(passed > 0, first + passed - 1, -1)


def supported_at_looks(shares: Sequence[float], wrong: np.ndarray, precision: float) -> np.ndarray:
    """Return the index of the largest set that is shown at any look so far, -1 where none is.

    Args:
        shares: (S,) of the sets, ascending.
        wrong: (…, B, S) wrong verdicts inside each set in every judged block.
        precision: to show, in [0, 1).
    """
    index = np.full(wrong.shape[:-2], -1)
    for blocks, error in LOOKS.items():
        if blocks <= wrong.shape[-2]:
            so_far = wrong[..., :blocks, :].sum(-2)
            index = np.maximum(
                index, largest_supported(shares, so_far, blocks=blocks, precision=precision, error=error)
            )
    return index


def missing_verdicts(
    shares: Sequence[float], wrong: np.ndarray, precision: float, *, judged: int, block: int = KEPT_DRAWS + OTHER_DRAWS
) -> int | None:
    """Return the number of further verdicts that show a precision if they turn out like those so far; None if none do.

    Args:
        shares: (S,) of the sets, ascending.
        wrong: (B, S) wrong verdicts inside each set in every judged block.
        precision: to show, in [0, 1).
        judged: number of verdicts so far.
        block: number of draws of a block.
    """
    done = len(wrong)
    expected = KEPT_DRAWS * np.array(shares)  # verdicts inside each set in a block
    rate = (wrong.sum(0) + 0.5) / (expected * done + 1)  # as if half of another verdict were wrong: 0 of 10 is no 0
    for blocks, error in LOOKS.items():
        ahead = wrong.sum(0) + expected * rate * (blocks - done)
        if blocks > done and (
            largest_supported(shares, np.round(ahead), blocks=blocks, precision=precision, error=error) >= 0
        ):
            return max(block * blocks - judged, 1)
    return None
