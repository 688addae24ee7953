"""False claims of reviewers who look at the bound after every verdict.

Run: python -m benchmarks.review.peeking

Simulated reviewers judge one cluster after the other and stop as soon as the bound supports SHARE. The true share is at
most SHARE, of a dataset one cluster less, so every claim is false. "Clopper-Pearson" looks at that bound after every
verdict; "Clopper-Pearson, one look" looks once, at the end, as it is meant to be used. With a number of clusters the
reviewer draws from a dataset of as many, each at most once, and the e-process is given that number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Final

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from schemas.statistics.binomial import lower_tail
from schemas.statistics.e_processes import reviews_needed

ERROR: Final = 0.05


def looks_of_evidence(share: float, *, most: int, clusters: int | None = None) -> np.ndarray:
    """Return, for each number of wrong verdicts, the reviews from which on the e-process supports ``share``."""
    return _looks(lambda wrong: reviews_needed(share, wrong, ERROR, clusters), most)


def looks_of_clopper_pearson(share: float, *, most: int) -> np.ndarray:
    """Return the same of the bound of Clopper and Pearson, which holds for one look that was fixed before."""
    reviews = np.arange(1, most + 1)
    return _looks(lambda wrong: 1 + int((lower_tail(wrong, reviews, 1 - share) > ERROR).sum()), most)


def _looks(needed: Callable[[int], int | None], maximum: int) -> np.ndarray:
    looks: list[int] = []
    while (reviews := needed(len(looks))) is not None and reviews <= maximum:
        looks.append(reviews)
    return np.array(looks, np.int64)


def claims(wrong: np.ndarray, looks: np.ndarray) -> np.ndarray:
    """Return whether each reviewer ever claims.

    With k wrong verdicts a claim is possible from ``looks[k]`` reviews on, so only these moments can be the first.

    Args:
        wrong: (R, n) number of wrong verdicts after each review.
        looks: (K,) increasing.
    """
    ever: np.ndarray = np.any(wrong[:, looks - 1] <= np.arange(len(looks)), axis=1)
    return ever


def verdicts(true: float, *, reviewers: int, reviews: int, seed: int, clusters: int | None = None) -> np.ndarray:
    """Return the (reviewers, reviews) number of wrong verdicts so far."""
    random = np.random.default_rng(seed)
    if clusters is None:
        wrong: np.ndarray = np.greater_equal(random.random((reviewers, reviews), np.float32), true)
    else:
        wrong_ones = np.arange(clusters) >= round(true * clusters)
        wrong = np.stack([random.permutation(wrong_ones)[:reviews] for _ in range(reviewers)])
    counts: np.ndarray = wrong.cumsum(1, dtype=np.int32)
    return counts


def peeking(
    reviewers: Annotated[int, typer.Option(help="Simulated reviewers of each row.")] = 10_000,
    reviews: Annotated[int, typer.Option(help="Reviews after which each of them gives up.")] = 2_000,
    share: Annotated[float, typer.Option(help="Share that is claimed.")] = 0.99,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each truth."""
    report = Report(as_json=as_json, reviewers=reviewers, reviews=reviews, share=share, seed=seed)
    below = [(math.ceil(share * clusters - 1e-9) / clusters - 1 / clusters, clusters) for clusters in (3_000, 100)]
    for true, clusters in ((share, None), (share - 0.002, None), *below):
        looked_at = min(reviews, clusters or reviews)
        evidence = looks_of_evidence(share, most=looked_at, clusters=clusters)
        fixed = looks_of_clopper_pearson(share, most=looked_at)
        wrong = verdicts(true, reviewers=reviewers, reviews=looked_at, seed=seed, clusters=clusters)
        report.row(
            true_share=round(true, 4),
            clusters=clusters or "independent draws",
            clean_reviews_needed=int(evidence[0]),
            e_process=float(claims(wrong, evidence).mean()),
            clopper_pearson=float(claims(wrong, fixed).mean()),
            clopper_pearson_one_look=float((wrong[:, -1] < (fixed <= looked_at).sum()).mean()),
            allowed=ERROR,
        )


if __name__ == "__main__":
    run(peeking)
