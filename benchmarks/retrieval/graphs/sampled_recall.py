"""Recall of a graph for questions that it does not have, beside samples that could stand for them.

Run: python -m benchmarks.retrieval.graphs.sampled_recall --index index --questions 80000

A graph as that of an index is built from a part of its questions. Searched for are questions that it does not have,
which later requests are; questions of its own, left out of both rankings; and new wordings of its own questions, by
which `--recall` chooses probes. Each row has a number of points in view.
"""

from __future__ import annotations

import sys
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.retrieval.graphs.far_groups import FACTORY
from model.index.linking.build import build_graph
from model.index.refinement import FEWEST_CANDIDATES
from model.index.shard_merge import ShardSearch
from model.index.shards import Shard, build_shard, open_shard, train
from model.index.sizing.recall import DEPTH, QUERIES, new_wordings
from model.search.opening import open_index
from schemas.arrays import Int64s, Matrix


def main(
    index: Annotated[str, typer.Option(help="Index whose questions and model are used.")],
    questions: Annotated[int, typer.Option(min=5_000, help="Questions of the graph.")] = 80_000,
    points: Annotated[list[int], typer.Option(min=1, help="Points in view; repeatable.")] = [64, 96, 128],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print recall@10 for each number of points in view."""
    opened = open_index(index)
    rows = np.random.default_rng(seed).choice(len(opened), questions + QUERIES, replace=False)
    table = opened.questions(rows)
    texts, numbers = table["text"].to_pylist(), table["question_id"].to_numpy().view(np.uint64).tolist()
    vectors = opened.encoder.encode(texts)
    others, vectors = vectors[:QUERIES], vectors[QUERIES:]
    own = slice(QUERIES, 2 * QUERIES)
    wordings = opened.encoder.encode(new_wordings(texts[own], numbers[own]))
    flat = open_shard(build_shard(train("Flat", vectors[:0]), vectors))
    graph = open_shard(build_graph(train(FACTORY, vectors), [flat]))
    print(f"built a graph of {questions:,} questions", file=sys.stderr, flush=True)
    report = Report(as_json=as_json, seed=seed, questions=questions, queries=QUERIES)
    for number in points:
        graph.parameters.efSearch = number
        report.row(
            points_in_view=number,
            other_questions=recall(graph, flat, others),
            own_questions=recall(graph, flat, vectors[:QUERIES], np.arange(QUERIES)),
            new_wordings=recall(graph, flat, wordings),
        )


def recall(graph: Shard, flat: Shard, queries: Matrix, own: Int64s | None = None) -> float:
    """Return the share of the nearest questions that are among the nearest of a graph's candidates.

    Args:
        graph: names the candidates.
        flat: has the vectors of its points, and compares all of them.
        queries: to search for.
        own: row of each query, which counts in neither ranking.
    """
    vectors, every = flat.vectors, np.arange(len(queries))
    candidates = ShardSearch(graph, queries, None)(every, FEWEST_CANDIDATES)[1]
    nearest = ShardSearch(flat, queries, None)(every, DEPTH + 1)[1]
    shares = []
    for number, query in enumerate(queries):
        left_out = -1 if own is None else own[number]
        distances = [
            np.sort(((vectors[kept] - query) ** 2).sum(axis=1))[:DEPTH]
            for kept in (rows[(rows >= 0) & (rows != left_out)] for rows in (candidates[number], nearest[number]))
        ]
        shares.append((distances[0] <= distances[1][-1] + 1e-5).sum() / DEPTH)
    return float(np.mean(shares))


if __name__ == "__main__":
    run(main)
