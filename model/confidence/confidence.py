"""Confidence: the probability that a hit is right, with the contribution of each feature.

texts, ranking by distance, its questions -> few_features or features -> AdditiveModel -> Judgement
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.confidence.additive_model import AdditiveModel
from model.confidence.features import NAMES, Cluster, features
from model.confidence.few_hits import few_features
from model.index.ranking import Ranking
from model.reranking.term_statistics import MOST_WORDS, WordCounts, word_rows
from schemas.arrays import Bools, Float64s, Int32s, Int64s
from schemas.tables import ANSWER_ID
from schemas.text_arrays import answer_keys, key_all

FEW = 64
"""Maximum hits that are judged one by one: of 6,000 each took 20 µs that way, and 13 by numpy and Arrow."""

AT_ONCE = 64
"""Queries whose words are compared together: 20 hits of each take 1 MB, which stays in a core's cache."""


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Judgement of the hits of n queries, w of each.

    Attributes:
        probabilities: (n, w) that a hit is right, in [0, 1]; NaN where there is none.
        contributions: (n, w, F) of the features `NAMES` to it, in log odds; 0 on average over the examples of the fit.
    """

    probabilities: Float64s
    contributions: Float64s

    def reasons(self, query: int, place: int) -> dict[str, float]:
        """Return the contributions of a hit by the name of their feature."""
        return dict(zip(NAMES, self.contributions[query, place].tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class Confidence:
    """A fitted confidence model.

    Attributes:
        counts: of the words of the index.
        model: of the features `NAMES`.
        by_answer: hits with one answer count as one cluster, whatever their ``cluster_id``.
    """

    counts: WordCounts
    model: AdditiveModel
    by_answer: bool = False

    def judge(
        self,
        texts: Sequence[str],
        hits: Sequence[str],
        nearest: Ranking,
        clusters: Sequence[Cluster],
        places: npt.ArrayLike | None = None,
    ) -> Judgement:
        """Return the probability that a hit is right.

        Args:
            texts: (n,) queries, not normalized.
            hits: texts of the hits to look at, one query after the other.
            nearest: as of `ranked_features`.
            clusters: of the questions of ``nearest`` where there is a hit, one query after the other; None for none.
            places: (n, w) columns of ``nearest`` to look at, -1 for none; all by default.
        """
        columns, is_hit = _chosen(nearest, places)
        if len(hits) <= FEW:
            table = few_features(self.counts, texts, hits, nearest, clusters, columns, is_hit)
        else:
            numbers = cluster_numbers(clusters, nearest.found)
            table = _features(self.counts, texts, hits, nearest, numbers, columns, is_hit)
        contributions = self.model.contributions(table)
        return Judgement(np.where(is_hit, self.model.probability(contributions), np.nan), contributions)


def ranked_features(
    counts: WordCounts,
    texts: pa.Array,
    nearest: Ranking,
    questions: pa.Table,
    *,
    alone: Bools | None = None,
    by_answer: bool = False,
) -> tuple[Float64s, Bools]:
    """Return the features of hits, (n, k, F), and where there is a hit, (n, k).

    Args:
        counts: of the words of the index.
        texts: (n,) queries, not normalized.
        nearest: (n, k) the questions nearest to them by `Index.rank`, of which `NEIGHBOURS` are compared.
        questions: `Index.questions` of ``nearest.rows`` where there is a hit, one query after the other.
        alone: (n, k) hits to regard as in no cluster.
        by_answer: as of `Confidence`.
    """
    columns, is_hit = _chosen(nearest, None)
    keys = answer_keys(questions[ANSWER_ID.name], questions["answer"]) if by_answer else questions["cluster_id"]
    clusters = cluster_numbers(keys.to_pylist(), is_hit)
    if alone is not None:
        clusters = np.where(alone, _own(is_hit.shape), clusters)
    hits = questions["text"].to_pylist()
    return _features(counts, texts.to_pylist(), hits, nearest, clusters, columns, is_hit), is_hit


def _features(
    counts: WordCounts,
    texts: Sequence[str],
    hits: Sequence[str],
    nearest: Ranking,
    clusters: Int64s,
    columns: Int64s,
    is_hit: Bools,
) -> Float64s:
    rows, words = _words([*texts, *hits], version=counts.tokenizer)
    idf = np.append(counts.idf(words), np.float32(0))
    of_hits = np.full((*columns.shape, MOST_WORDS), len(words), np.int32)
    of_hits[is_hit] = rows[len(texts) :]
    distances = -nearest.scores.astype(float)
    parts = [
        features(distances[part], clusters[part], columns[part], (rows[part], of_hits[part]), idf)
        for part in (slice(start, min(start + AT_ONCE, len(texts))) for start in range(0, max(len(texts), 1), AT_ONCE))
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _chosen(nearest: Ranking, places: npt.ArrayLike | None) -> tuple[Int64s, Bools]:
    """Return (n, w) columns of the hits to look at, 0 for none, and where there is one."""
    if places is None:
        return np.where(nearest.found, np.arange(nearest.ids.shape[1]), 0), nearest.found
    columns = np.asarray(places, np.int64)
    queries = np.arange(len(columns))[:, None]  # a third of the time of take_along_axis
    is_hit = (columns >= 0) & nearest.found[queries, np.maximum(columns, 0)]
    return np.where(is_hit, columns, 0), is_hit


def _words(texts: list[str], *, version: int) -> tuple[Int32s, list[str]]:
    """Return the words of texts as rows of a list of distinct words."""
    rows, words = word_rows(key_all(pa.array(texts, pa.string())), version=version)
    return rows, words.to_pylist()


def cluster_numbers(of_hits: Sequence[Cluster], is_hit: Bools) -> Int64s:
    """Return a number for the cluster of each hit: from 0, below 0 for a hit in none."""
    clusters, numbers = _own(is_hit.shape), dict[Cluster, int]()
    listed = zip(of_hits, clusters[is_hit].tolist(), strict=True)
    clusters[is_hit] = [
        own if cluster is None else numbers.setdefault(cluster, len(numbers)) for cluster, own in listed
    ]
    return clusters


def _own(shape: tuple[int, ...]) -> Int64s:
    """Return distinct numbers below 0."""
    return -1 - np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
