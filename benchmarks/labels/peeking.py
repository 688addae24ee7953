"""False claims of reviewers who look at the bound after every verdict.

Run: python -m benchmarks.labels.peeking

Simulated reviewers judge one cluster after the other and stop as soon as "more than SHARE of the clusters are right" is
supported. The true share is at most SHARE, so every claim is false. "Clopper-Pearson" looks at that bound after every
verdict; "Clopper-Pearson, one look" looks once, at the end, as it is meant to be used. "without repetition" draws from
a dataset of 3,000 clusters, each at most once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from schemas.statistics.binomial import lower_tail
from schemas.statistics.e_processes import clean_reviews_missing

ERROR: Final = 0.05
CLUSTERS: Final = 3_000


def looks_of_evidence(share: float, *, most: int) -> np.ndarray:
    """Return, for each number of wrong verdicts, the reviews from which on the e-process supports ``share``."""
    return _looks(lambda wrong: wrong + clean_reviews_missing(0, wrong, share, ERROR), most)


def looks_of_clopper_pearson(share: float, *, most: int) -> np.ndarray:
    """Return the same of the bound of Clopper and Pearson, which holds for one look that was fixed before."""
    reviews = np.arange(1, most + 1)
    return _looks(lambda wrong: 1 + int((lower_tail(wrong, reviews, 1 - share) > ERROR).sum()), most)


def _looks(needed: Callable[[int], int], most: int) -> np.ndarray:
    looks: list[int] = []
    while (reviews := needed(len(looks))) <= most:
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


def verdicts(true: float, *, reviewers: int, reviews: int, seed: int, repeated: bool = True) -> np.ndarray:
    """Return the (reviewers, reviews) number of wrong verdicts so far."""
    random = np.random.default_rng(seed)
    if repeated:
        wrong: np.ndarray = np.greater_equal(random.random((reviewers, reviews), np.float32), true)
    else:
        clusters = np.arange(CLUSTERS) >= round(true * CLUSTERS)
        wrong = np.stack([random.permutation(clusters)[:reviews] for _ in range(reviewers)])
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
    evidence, fixed = looks_of_evidence(share, most=reviews), looks_of_clopper_pearson(share, most=reviews)
    for true, repeated in ((share, True), (share, False), (share - 0.002, True)):
        wrong = verdicts(true, reviewers=reviewers, reviews=reviews, seed=seed, repeated=repeated)
        report.row(
            true_share=true,
            draws="independent" if repeated else "without repetition",
            e_process=float(claims(wrong, evidence).mean()),
            clopper_pearson=float(claims(wrong, fixed).mean()),
            clopper_pearson_one_look=float((wrong[:, -1] < (fixed <= reviews).sum()).mean()),
            allowed=ERROR,
        )


if __name__ == "__main__":
    run(peeking)
