"""Nearest others and recall of graphs whose vectors are in a few groups far apart, beside codes of vectors alone.

Run: python -m benchmarks.retrieval.graphs.far_groups
     python -m benchmarks.retrieval.graphs.far_groups --vectors vectors.npy

A graph is linked to the nearest others that short codes find. The codes are of the vectors or, where these are too
inexact, of the differences from centroids; a peer always has the former. "error" is that of the former, by
which `qpr index` chooses; of real vectors, such as those of `qpr encode`, it is the only figure.
"""

from __future__ import annotations

import math
import unittest.mock
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import cpu_ms
from model.index.arithmetic import matrix_products
from model.index.factory import POINTS_OF_A_CODE, two_bit_codes
from model.index.linking import nearest
from model.index.linking.build import build_graph
from model.index.linking.groups import Groups, grouped
from model.index.shard_merge import ShardSearch
from model.index.shards import Shard, build_shard, open_shard, train
from schemas.arrays import Int64s, Matrix

FACTORY = "HNSW32,SQ8,RFlat"
GROUPS, IN_EACH, DIMENSION, INDEPENDENT = 10, 6_000, 256, 40
QUERIES, NEAREST, CANDIDATES, IN_VIEW = 1_000, 10, 64, 108


def far_groups(spread: float, *, seed: int) -> Matrix:
    """Return vectors of length 1 around random centres; ``spread`` is their mean distance from these."""
    random = np.random.default_rng(seed)
    centres = _unit(random.normal(size=(GROUPS, DIMENSION)))
    axes = random.normal(size=(GROUPS, INDEPENDENT, DIMENSION)) / math.sqrt(DIMENSION)
    group = random.integers(GROUPS, size=GROUPS * IN_EACH)
    places = random.normal(size=(GROUPS * IN_EACH, INDEPENDENT)) / math.sqrt(INDEPENDENT)
    vectors = centres[group].astype(np.float64)
    for number in range(GROUPS):
        vectors[group == number] += spread * (places[group == number] @ axes[number])
    return _unit(vectors)


def _unit(vectors: npt.NDArray[np.floating[Any]]) -> Matrix:
    of_length_1: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return of_length_1


def error_of(vectors: Matrix, groups: Groups) -> float:
    """Return the error of codes of the vectors alone."""
    sample = vectors[:: max(1, len(vectors) // POINTS_OF_A_CODE)]
    return nearest.error_of_codes(nearest.coded(groups, two_bit_codes(vectors.shape[1]), sample), sample)


def measured(shard: Shard, groups: Groups, vectors: Matrix, *, seed: int) -> dict[str, float]:
    """Return the shares of the nearest others that are found, by codes and by walks, and the CPU time of the graph."""
    queries = np.random.default_rng(seed).choice(len(vectors), QUERIES, replace=False)
    exact = ShardSearch(shard, vectors, None)(queries, NEAREST + 1)[1]
    every = np.ones(len(vectors), bool)
    by_codes = nearest.nearest_others([shard], groups, every, count=101)[1][queries]
    built: list[bytes] = []
    milliseconds = cpu_ms(lambda: built.append(build_graph(train(FACTORY, vectors), [shard])))
    graph = open_shard(built[0])
    graph.parameters.efSearch = IN_VIEW
    by_walk = ShardSearch(graph, vectors, None)(queries, CANDIDATES)[1]
    return {
        "nearest_found": _share(by_codes, exact),
        "recall": _share(by_walk, exact[:, :NEAREST]),
        "build_cpu_s": milliseconds / 1_000,
    }


def _share(ids: Int64s, exact: Int64s) -> float:
    return float(np.mean([np.isin(of_exact, of_found).mean() for of_found, of_exact in zip(ids, exact, strict=True)]))


def main(
    spread: Annotated[list[float], typer.Option(help="Distance from a centre; repeatable.")] = [0.3, 0.1, 0.03],
    vectors: Annotated[list[str] | None, typer.Option(help="NumPy file of real vectors; repeatable.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the error of codes, and without real vectors what is found by them."""
    report = Report(as_json=as_json, seed=seed, groups=GROUPS, vectors=GROUPS * IN_EACH, in_view=IN_VIEW)
    named = [(name, np.load(name).astype(np.float32)) for name in vectors or ()]
    for name, given in named or [(f"spread {value:g}", far_groups(value, seed=seed)) for value in spread]:
        shard = open_shard(build_shard(train("Flat", given[:0]), given))
        with matrix_products():
            groups = grouped([shard])
            error = error_of(given, groups)
        if named:
            report.row(vectors=name, error=error)
            continue
        for codes, most_error in (("of vectors alone", math.inf), ("as qpr index", nearest.MOST_ERROR)):
            with unittest.mock.patch.object(nearest, "MOST_ERROR", most_error):
                figures = measured(shard, groups, given, seed=seed)
            report.row(vectors=name, error=error, codes=codes, **figures)


if __name__ == "__main__":
    run(main)
