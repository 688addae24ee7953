"""Estimated precision, recall and prior with intervals.

numbers of right and wrong verdicts, numbers of pairs -> estimate -> Estimates
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pydantic

_POSTERIOR_DRAWS: Final = 10_000
"""Draws of which an interval of 95 % leaves out 250 at each end."""


class Estimate(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A share and its 95 % interval."""

    value: float = pydantic.Field(ge=0, le=1)
    low: float = pydantic.Field(ge=0, le=1)
    high: float = pydantic.Field(ge=0, le=1)


class Estimates(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Shares of a log's pairs of questions with the same answer.

    Attributes:
        prior: share of all these pairs that are paraphrases.
        precision: share of the kept pairs that are paraphrases.
        recall: share of the paraphrases that are kept; null where no paraphrase was found.
    """

    prior: Estimate
    precision: Estimate
    recall: Estimate | None


def estimate(
    inside: tuple[int, int], outside: tuple[int, int], others: tuple[int, int], *, pairs: tuple[float, float, float]
) -> Estimates:
    """Return shares with intervals of Jeffreys' prior, whose coverage is near nominal for few verdicts.

    As in the source, the low end of a share without a right verdict is 0, and the high end of one without a wrong
    verdict is 1. Sums and ratios of shares are simulated with these ends.

    Source: Brown, Cai, DasGupta (2001), https://doi.org/10.1214/ss/1009213286

    Args:
        inside: right and wrong verdicts on the pairs that stay kept.
        outside: on kept pairs below the threshold.
        others: on pairs that are not kept.
        pairs: number of pairs in each of the three.
    """
    counts = np.array([inside, outside, others], float)
    weights = np.array(pairs, float)
    plain = counts[:, 0] / np.maximum(counts.sum(1), 1)
    shape = (_POSTERIOR_DRAWS, len(counts))
    drawn = np.random.default_rng(0).beta(counts[:, 0] + 0.5, counts[:, 1] + 0.5, shape)
    judged = counts.sum(1) > 0
    low = np.where(judged & (counts[:, 0] == 0), 0.0, drawn) * weights
    high = np.where(judged & (counts[:, 1] == 0), 1.0, drawn) * weights
    paraphrases, total = plain @ weights, weights.sum()
    recall = None
    if paraphrases:
        others_low, others_high = low[:, 1:].sum(1), high[:, 1:].sum(1)
        recall = _interval(
            plain[0] * weights[0] / paraphrases, _share(low[:, 0], others_high), _share(high[:, 0], others_low)
        )
    return Estimates(
        prior=_interval(paraphrases / total, low.sum(1) / total, high.sum(1) / total),
        precision=_interval(plain[0], drawn[:, 0], drawn[:, 0]),
        recall=recall,
    )


def _share(kept: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the (N,) share of kept paraphrases, 0 where there is none."""
    every = kept + others
    share: np.ndarray = np.divide(kept, every, out=np.zeros_like(kept), where=every > 0)
    return share


def _interval(value: float, low_drawn: np.ndarray, high_drawn: np.ndarray) -> Estimate:
    low, high = np.quantile(low_drawn, 0.025), np.quantile(high_drawn, 0.975)
    value = min(max(float(value), 0.0), 1.0)
    return Estimate(value=value, low=min(float(low), value), high=max(min(float(high), 1.0), value))
