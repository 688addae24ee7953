"""Evaluation of a night: its index on its own test split, and beside the index before on the frozen test set.

dataset -> read_test -> JudgedSplit; index, JudgedSplit -> rank_test -> RANKS -> own_metrics
JudgedSplit, RANKS of both indexes -> compare -> Comparison -> interval
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from model.evaluation.evaluator import ranked_ids
from model.evaluation.metrics import per_question, ranks
from model.evaluation.relevance import Judgements, judgements
from model.search.searcher import Searcher
from schemas.artifacts.dataset import open_dataset

Floats = npt.NDArray[np.float64]

QUERIES = 2_000
"""Maximum number of queries; those with the smallest ids are kept, a uniform sample."""

DEPTH = 100
DRAWS = 1_000
"""Draws of the bootstrap: limits of a 95 % interval then vary by about 2 % of its length."""


RANKS = pa.schema([pa.field("rank", pa.int32(), nullable=False), pa.field("held", pa.bool_(), nullable=False)])
"""One row for each judged pair of a test split, in its order: the rank of the paraphrase in an index, 0 if it is not
among the first `DEPTH`, and whether the index has it. There are no ids, so that an erasure need not change it."""


class JudgedSplit(NamedTuple):
    """Test split of a dataset.

    Attributes:
        judged: its queries.
        clusters: (n,) number of the cluster of each query.
    """

    judged: Judgements
    clusters: npt.NDArray[np.int64]


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


def read_test(dataset: str) -> JudgedSplit:
    """Return the test split of a dataset.

    Raises:
        QprError: it is missing or damaged.
    """
    clusters = open_dataset(dataset).table("clusters", columns=["question_ids", "texts"], split="test")
    judged = judgements(clusters, limit=QUERIES)
    members = pc.list_flatten(clusters["question_ids"]).to_numpy()
    numbers = np.repeat(np.arange(len(clusters)), pc.list_value_length(clusters["question_ids"]).to_numpy())
    order = np.argsort(members, kind="stable")
    of_query = numbers[order][np.searchsorted(members[order], judged.ids)] if len(judged) else numbers[:0]
    return JudgedSplit(judged, of_query)


def rank_test(searcher: Searcher, test: JudgedSplit) -> pa.Table:
    """Return the RANKS of a test set in an index."""
    judged = test.judged
    ranked = ranked_ids(searcher, judged, depth=DEPTH) if len(judged) else np.zeros((0, DEPTH), np.int64)
    found = ranks(ranked, queries=judged.queries, relevant=judged.relevant)
    held = np.concatenate([np.array([], np.int64), *searcher.index.question_ids])
    return pa.table({"rank": found, "held": np.isin(judged.relevant, held)}).cast(RANKS)


def own_metrics(test: JudgedSplit, found: pa.Table) -> dict[str, float]:
    """Return the metrics of an index on the test split of its dataset; empty where it has no test cluster.

    Args:
        test: the split.
        found: its RANKS in the index.
    """
    count = len(test.judged)
    if not count:
        return {}
    ranked = found["rank"].to_numpy().astype(np.int64)
    measured = per_question(ranked, queries=test.judged.queries, count=count)
    return {"queries": float(count), **dataclasses.asdict(measured)}


def compare(test: JudgedSplit, before: pa.Table, after: pa.Table) -> Comparison:
    """Return the reciprocal ranks of the frozen test set in two indexes.

    Only questions that both indexes hold count, so that days that leave the window do not look like a loss.

    Args:
        test: the frozen test set.
        before: its RANKS in the index of the version before.
        after: its RANKS in the new one.
    """
    both = pc.and_(before["held"], after["held"]).to_numpy(zero_copy_only=False)
    kept, query = np.unique(test.judged.queries[both], return_inverse=True)
    first, second = (_reciprocal_ranks(found["rank"].to_numpy()[both], query, len(kept)) for found in (before, after))
    return Comparison(first, second, test.clusters[kept])


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


def _reciprocal_ranks(found: npt.NDArray[np.int32], query: npt.NDArray[np.int64], count: int) -> Floats:
    first = np.full(count, np.inf)
    np.minimum.at(first, query, np.where(found > 0, found, np.inf))
    return np.asarray(1 / first)
