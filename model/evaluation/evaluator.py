"""Metrics and query times of an index.

Ranker, Judgements -> ranked_ids -> measure -> metrics per question and per pair; Ranker, Judgements -> query_times
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.evaluation.intervals import intervals
from model.evaluation.metrics import Metrics, pair_values, per_question, question_values, ranks
from model.evaluation.relevance import Judgements, query_clusters
from model.index.index import Index
from model.index.ranking import Ranking
from schemas.arrays import Float64s, Int64s

BATCH = 256
"""Queries searched together."""

TIMED = 500
"""Maximum queries whose time is taken, one at a time."""

TIMED_MS = 10_000
"""After this long no further query is timed: exact search of lists takes 0.1 s a query at Quora's size."""

TIMED_HITS = 20
"""Hits of each timed query."""

Track = Callable[[Sequence[int]], Iterable[int]]
"""Iteration over the starts of batches, such as one that shows progress."""


class Ranker(Protocol):
    """A way to search an index, such as `model.search.searcher.Searcher`."""

    @property
    def index(self) -> Index:
        """Return the index that is searched."""
        ...

    def rank(self, texts: pa.Array | Sequence[str], k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the first k questions of each text, without the id that is excluded for it."""
        ...


def measure(index: Index, judged: Judgements, ranked: Int64s) -> dict[str, Any]:
    """Return the metrics per question and per pair with intervals, and how many questions went into them.

    Args:
        index: that was searched.
        judged: the queries.
        ranked: (queries, depth) ids that every query finds, as of `ranked_ids`.
    """
    pair_ranks = ranks(ranked, queries=judged.queries, relevant=judged.relevant)
    relevant, missing = missing_questions(index, judged)
    clusters = query_clusters(judged)
    questions = question_values(pair_ranks, queries=judged.queries, count=len(judged))
    return {
        "queries": len(judged),
        "pairs": len(judged.queries),
        "relevant": len(relevant),
        "relevant_missing": len(missing),
        "depth": ranked.shape[1],
        **summary("per_question", questions, clusters),
        **summary("per_pair", pair_values(pair_ranks, queries=judged.queries), clusters[judged.queries]),
    }


def summary(name: str, values: Float64s, clusters: Int64s) -> dict[str, Any]:
    """Return the means of (4, n) values of queries or pairs, and if there are two clusters or more their intervals.

    Args:
        name: of the means; ``NAME_interval`` has the limits of the 95 % interval of each.
        values: `question_values` or `pair_values`.
        clusters: (n,) number of the cluster of each.
    """
    means = dataclasses.asdict(Metrics.of(values))
    if len(np.unique(clusters)) < 2:
        return {name: means}
    limits = [[bounds.low, bounds.high] for bounds in intervals(values, clusters)]
    return {name: means, f"{name}_interval": dict(zip(means, limits, strict=True))}


def metrics_of(ids: Int64s, judged: Judgements) -> Metrics:
    """Return the metrics per question of the ids that every query finds, as of `ranked_ids`."""
    places = ranks(ids, queries=judged.queries, relevant=judged.relevant)
    return per_question(places, queries=judged.queries, count=len(judged))


def ranked_ids(ranker: Ranker, judged: Judgements, *, depth: int, track: Track = iter) -> Int64s:
    """Return the ids every query finds, its own left out: (queries, depth), padded with -1."""
    ids = np.full((len(judged), depth), -1, np.int64)
    for start in track(range(0, len(judged), BATCH)):
        part = slice(start, start + BATCH)
        best = ranker.rank(judged.texts.slice(start, BATCH), depth, exclude=judged.ids[part]).ids
        ids[part, : best.shape[1]] = best
    return ids


def missing_questions(index: Index, judged: Judgements) -> tuple[Int64s, Int64s]:
    """Return the ids of all paraphrases, and of those that are not in an index."""
    relevant = np.unique(judged.relevant)
    return relevant, relevant[index.rows_of(relevant) < 0]


def query_times(ranker: Ranker, judged: Judgements) -> dict[str, Any]:
    """Return mean and 95th percentile of milliseconds a query, encoding included, one query at a time.

    The queries are the first `TIMED`, in the order of their hashes, or fewer where they take over `TIMED_MS`.
    """
    texts = judged.texts.slice(0, TIMED).to_pylist()
    ranker.rank(texts[:1], TIMED_HITS)  # not timed: it opens and loads what the others reuse
    milliseconds: list[float] = []
    for text in texts:
        if sum(milliseconds) > TIMED_MS:
            break
        start = time.perf_counter()
        ranker.rank([text], TIMED_HITS)
        milliseconds.append(1_000 * (time.perf_counter() - start))
    mean, p95 = float(np.mean(milliseconds)), float(np.percentile(milliseconds, 95))
    return {"timed_queries": len(milliseconds), "mean_ms": round(mean, 3), "p95_ms": round(p95, 3)}
