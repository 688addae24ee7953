"""Thresholds that simulated verdicts show: how often, how large, and how often a promise is broken.

Run: python -m benchmarks.review.threshold_power

The precision of the pairs at each rank is known; verdicts are drawn from it. "Forgiven" is the number of wrong verdicts
with which the first set of the sequence passes. "Naive" is the lowest threshold above which the verdicts' own share
reaches the precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, LOOKS, OTHER_DRAWS, SHARES, largest_supported

GRID: Final = (np.arange(20_000) + 0.5) / 20_000

LOGS: Final[Mapping[str, tuple[Callable[[np.ndarray], np.ndarray], float]]] = {
    "exactly .9 everywhere": (lambda rank: np.full(rank.shape, 0.9), 0.9),
    ".98 everywhere": (lambda rank: np.full(rank.shape, 0.98), 0.9),
    "1 to .75": (lambda rank: 1 - 0.25 * rank, 0.9),
    ".97, lower half .5": (lambda rank: np.where(rank < 0.5, 0.97, 0.5), 0.9),
    "1 to .5": (lambda rank: 1 - 0.5 * rank, 0.8),
    ".98 to .6": (lambda rank: 0.98 - 0.38 * rank, 0.8),
    ".97, lower half .5, for .8": (lambda rank: np.where(rank < 0.5, 0.97, 0.5), 0.8),
}
"""Precision by rank, from the most probable pairs on, and the precision to show."""


def wrong_verdicts(curve: Callable[[np.ndarray], np.ndarray], *, runs: int, blocks: int, seed: int) -> np.ndarray:
    """Return the (runs, S) wrong verdicts inside each set."""
    random = np.random.default_rng(seed)
    rank = (np.arange(KEPT_DRAWS) + random.random((runs, blocks, KEPT_DRAWS))) / KEPT_DRAWS
    wrong = random.random(rank.shape) >= curve(rank)
    return np.stack([(wrong & (rank < share)).sum((1, 2)) for share in SHARES], axis=-1)


def threshold_power(
    runs: Annotated[int, typer.Option(help="Samples of each log.")] = 4_000, seed: Seed = 0, as_json: AsJson = False
) -> None:
    """Print a row for each log, number of verdicts and number of forgiven ones."""
    report = Report(as_json=as_json, runs=runs, seed=seed)
    for name, (curve, precision) in LOGS.items():
        true = np.array([curve(GRID[share > GRID]).mean() for share in SHARES])
        for blocks in (18, 36):
            wrong = wrong_verdicts(curve, runs=runs, blocks=blocks, seed=seed)
            reached = 1 - wrong / (KEPT_DRAWS * blocks * np.array(SHARES)) >= precision
            last = len(SHARES) - 1 - reached[:, ::-1].argmax(1)
            naive = reached.any(1) & (true[last] < precision - 1e-9)
            for forgiven in range(1, 6):
                index = largest_supported(
                    SHARES, wrong, blocks=blocks, precision=precision, error=LOOKS[blocks], forgiven=forgiven
                )
                shown = index >= 0
                report.row(
                    log=name,
                    precision=precision,
                    verdicts=blocks * (KEPT_DRAWS + OTHER_DRAWS),
                    forgiven=forgiven,
                    shown=float(shown.mean()),
                    share_kept=float(np.where(shown, np.array(SHARES)[index], 0).mean()),
                    broken=float((shown & (true[index] < precision - 1e-9)).mean()),
                    at_the_limit=float((shown & (true[index] < precision + 1e-9)).mean()),
                    naive_broken=float(naive.mean()),
                )


if __name__ == "__main__":
    run(threshold_power)
