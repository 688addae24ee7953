"""Threshold of a log, the lowest at which the kept pairs of a sample of its answers are expected to be precise.

Sample of pairs with their probabilities -> choose_threshold -> threshold
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.linkage.scoring.agglomeration import agglomerate
from pipelines.linkage.scoring.answer_sample import Sample
from schemas.ragged import runs_of

PAIRS: Final = 50_000
"""Approximate number of pairs of questions of the sampled answers."""

MARGIN: Final = 2.0
"""Number of pairs below `last_place` per pair of the sample, by expectation; a few answers may have most of them."""

STEP: Final = 0.01
HIGHEST: Final = 0.95
"""Distance of two thresholds that are tried, and the highest. With steps of .05 a log lost recall by rounding up."""


def last_place(pairs: int) -> float:
    """Return the hash below which the answers of a log have `PAIRS` pairs together, with a wide margin.

    Each part of a log takes only answers below it, so that all parts together compare little more than the sample.

    Args:
        pairs: number of pairs of all answers of the log.
    """
    return MARGIN * PAIRS / max(pairs, 1)


def choose_threshold(sample: Sample, *, lowest: float, precision: float) -> float:
    """Return the lowest threshold at which the pairs of the groups have at least this mean probability.

    The estimate rises with the threshold, so few of the thresholds are tried; without any pair it is ``lowest``.

    Args:
        sample: pairs of a log with their probabilities.
        lowest: lowest threshold.
        precision: estimated share of paraphrases among the kept pairs, at least.
    """
    steps = np.append(np.arange(lowest, HIGHEST - STEP / 2, STEP), HIGHEST).round(6)
    starts, sizes = runs_of(sample.answer)
    if not len(starts):
        return float(steps[0])
    rows = np.maximum.reduceat(np.maximum(sample.left, sample.right), starts) + 1
    first = np.repeat(np.cumsum(rows) - rows, sizes)
    left, right = sample.left + first, sample.right + first

    def is_precise(threshold: float) -> bool:
        group = agglomerate(left, right, sample.values, rows=int(rows.sum()), threshold=threshold)
        kept = sample.values[group[left] == group[right]]
        return not len(kept) or float(kept.mean()) >= precision

    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if is_precise(float(steps[middle])):
            high = middle
        else:
            low = middle + 1
    return float(steps[low])
