"""Estimated precision, recall and prior with intervals.

numbers of right and wrong verdicts, numbers of pairs -> estimate -> Estimates
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pydantic

_POSTERIOR_DRAWS: Final = 10_000


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

    Source: Brown, Cai, DasGupta (2001), https://doi.org/10.1214/ss/1009213286; sums and ratios of shares by simulation.

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
    found, found_drawn = plain @ weights, drawn @ weights
    recall = _interval(plain[0] * weights[0] / found, drawn[:, 0] * weights[0] / found_drawn) if found else None
    total = weights.sum()
    return Estimates(
        prior=_interval(found / total, found_drawn / total), precision=_interval(plain[0], drawn[:, 0]), recall=recall
    )


def _interval(value: float, drawn: np.ndarray) -> Estimate:
    low, high = np.quantile(drawn, [0.025, 0.975])
    value = min(max(float(value), 0.0), 1.0)
    return Estimate(value=value, low=min(float(low), value), high=max(min(float(high), 1.0), value))
