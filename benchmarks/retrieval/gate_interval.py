"""Coverage of the interval of the gate of `qpr nightly`, by the number of test clusters.

Run: python -m benchmarks.retrieval.gate_interval

Simulated nights change the reciprocal ranks of the queries of each cluster alike: "normal" by a normal effect, "ranks"
only in STRUCK of the clusters, half of them better and half worse, and "harm" in as many and only to the worse. A
cluster has one query or more. A row has the share of the intervals that contain the true mean, for percentiles of the
bootstrap alone and for the gate, the mean length of the gate's in parts of the other, and the share of nights with an
interval of no length, since no cluster was struck.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from model.evaluation.intervals import bootstrap_means, expanded_tail
from schemas.arrays import Float64s, Int64s

STRUCK: Final = 0.3
"""Share of the clusters whose ranks change in "ranks" and "harm"."""

FALLS: Final = np.array([1 / 2, 2 / 3, 3 / 4, 1.0])
"""Falls of a reciprocal rank from 1."""

SPREAD: Final = 0.05
"""Standard deviation of the changes of queries beside that of their cluster."""


def normal(clusters: int, random: np.random.Generator) -> Float64s:
    """Return (clusters,) effects with mean 0."""
    return random.normal(0, 0.2, clusters)


def ranks(clusters: int, random: np.random.Generator) -> Float64s:
    """Return effects with mean 0, most of them none."""
    signs = random.choice([-1, 1], clusters)
    return np.asarray(harm(clusters, random) * signs)


def harm(clusters: int, random: np.random.Generator) -> Float64s:
    """Return effects that are none or negative."""
    return np.where(random.random(clusters) < STRUCK, -random.choice(FALLS, clusters), 0.0)


def night(
    effects: Callable[[int, np.random.Generator], Float64s], clusters: int, random: np.random.Generator
) -> tuple[Float64s, Int64s]:
    """Return the changes of the queries of a night, and their clusters."""
    of_clusters = effects(clusters, random)
    cluster = np.repeat(np.arange(clusters), 1 + random.poisson(4, clusters))
    changes = of_clusters[cluster]
    return np.where(changes == 0, 0.0, changes + random.normal(0, SPREAD, len(cluster))), cluster


def intervals(values: Float64s, clusters: Int64s) -> Float64s:
    """Return (2, 2) the limits of the 95 % interval by percentiles of the bootstrap alone, and of the gate's."""
    tails = [0.025, expanded_tail(len(np.unique(clusters)))]
    [means] = bootstrap_means(values[None], clusters)
    return np.array([np.quantile(means, [tail, 1 - tail]) for tail in tails])


def gate_interval(
    nights: Annotated[int, typer.Option(help="Simulated nights of each row.")] = 1_000,
    clusters: Annotated[list[int] | None, typer.Option(help="Numbers of test clusters.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each kind of change and number of clusters."""
    report = Report(as_json=as_json, nights=nights, struck=STRUCK, seed=seed)
    for effects, truth in ((normal, 0.0), (ranks, 0.0), (harm, -STRUCK * float(FALLS.mean()))):
        for number in clusters or [5, 10, 20, 50, 200]:
            random = np.random.default_rng([seed, number])
            made = [night(effects, number, random) for _ in range(nights)]
            low, high = np.moveaxis(np.array([intervals(*given) for given in made]), 2, 0)
            lengths, covers = high - low, (low <= truth) & (truth <= high)
            report.row(
                change=effects.__name__,
                clusters=number,
                percentiles=float(covers[:, 0].mean()),
                gate=float(covers[:, 1].mean()),
                length=float(lengths[:, 1].mean() / lengths[:, 0].mean()),
                no_length=float((lengths[:, 0] == 0).mean()),
            )


if __name__ == "__main__":
    run(gate_interval)
