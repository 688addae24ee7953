"""Evaluation of a night: its index on its own test split, and beside the index before on the frozen test set.

index, test clusters -> own_metrics; both indexes, frozen test clusters -> compare -> Comparison -> interval
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from model.evaluation.evaluator import measure, ranked_ids
from model.evaluation.metrics import ranks
from model.evaluation.relevance import Judgements, judgements
from model.search.searcher import Searcher
from schemas.artifacts.dataset import open_dataset

Floats = npt.NDArray[np.float64]

QUERIES = 2_000
"""Maximum number of queries; those with the smallest ids are kept, a uniform sample."""

DEPTH = 100
DRAWS = 1_000
"""Draws of the bootstrap: limits of a 95 % interval then vary by about 2 % of its length."""


class Comparison(NamedTuple):
    """Reciprocal ranks of the first paraphrase of each query in two indexes, and its cluster.

    Attributes:
        before: (n,) in the index of the version before.
        after: (n,) in the new one.
        clusters: (n,) number of the query's cluster.
    """

    before: Floats
    after: Floats
    clusters: npt.NDArray[np.int64]


class Interval(NamedTuple):
    """Mean difference of reciprocal ranks, after minus before, and its 95 % interval."""

    mean: float
    low: float
    high: float


def own_metrics(searcher: Searcher, dataset: str) -> dict[str, float]:
    """Return the metrics of an index on the test split of its dataset; empty where it has no test cluster.

    Raises:
        QprError: one of them is missing or damaged.
    """
    judged = judgements(_test_clusters(dataset), limit=QUERIES)
    if not len(judged):
        return {}
    measured = measure(searcher, judged, depth=DEPTH)
    return {"queries": float(len(judged)), **measured["per_question"]}


def compare(before: Searcher, after: Searcher, test: str) -> Comparison:
    """Return the ranks of the frozen test set in two indexes.

    Only questions that both indexes hold count, so that days that leave the window do not look like a loss.

    Args:
        before: of the index of the version before.
        after: of the new one.
        test: URL of the dataset with the frozen test split.

    Raises:
        QprError: one of them is missing or damaged.
    """
    clusters = _test_clusters(test)
    held = [np.concatenate([np.array([], np.int64), *searcher.index.question_ids]) for searcher in (before, after)]
    judged = _answerable(judgements(clusters, limit=QUERIES), np.intersect1d(held[0], held[1]))
    first_before, first_after = (_reciprocal_ranks(searcher, judged) for searcher in (before, after))
    members = pc.list_flatten(clusters["question_ids"]).to_numpy()
    numbers = np.repeat(np.arange(len(clusters)), pc.list_value_length(clusters["question_ids"]).to_numpy())
    order = np.argsort(members, kind="stable")
    of_query = numbers[order][np.searchsorted(members[order], judged.ids)] if len(judged) else numbers[:0]
    return Comparison(first_before, first_after, of_query)


def interval(compared: Comparison, *, seed: int = 0) -> Interval:
    """Return the mean difference and its 95 % interval, by a paired bootstrap that draws whole clusters.

    The questions of a cluster find each other, so their ranks depend on each other.

    Args:
        compared: at least one query.
        seed: of the draws.
    """
    _, cluster = np.unique(compared.clusters, return_inverse=True)
    difference = compared.after - compared.before
    sums, counts = np.bincount(cluster, weights=difference), np.bincount(cluster)
    draw = np.random.default_rng(seed)
    means = np.empty(DRAWS)
    for number in range(DRAWS):
        drawn = draw.integers(len(sums), size=len(sums))
        means[number] = sums[drawn].sum() / counts[drawn].sum()
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(difference.mean()), float(low), float(high))


def _test_clusters(dataset: str) -> pa.Table:
    return open_dataset(dataset).table("clusters", columns=["question_ids", "texts"], split="test")


def _answerable(judged: Judgements, held: npt.NDArray[np.int64]) -> Judgements:
    """Return the queries with a paraphrase among these questions, and those paraphrases."""
    pair = np.isin(judged.relevant, held)
    kept, query = np.unique(judged.queries[pair], return_inverse=True)
    return dataclasses.replace(
        judged,
        ids=judged.ids[kept],
        texts=judged.texts.take(pa.array(kept)),
        queries=query,
        relevant=judged.relevant[pair],
    )


def _reciprocal_ranks(searcher: Searcher, judged: Judgements) -> Floats:
    found = ranks(ranked_ids(searcher, judged, depth=DEPTH), queries=judged.queries, relevant=judged.relevant)
    first = np.full(len(judged), np.inf)
    np.minimum.at(first, judged.queries, np.where(found > 0, found, np.inf))
    return np.asarray(1 / first)
