"""Probabilities of hits, however they were found.

Found, questions, records of hits -> judged -> Judgement
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from model.confidence.confidence import Confidence, Judgement
from model.confidence.features import NEIGHBOURS, Cluster
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.found import Found
from schemas.arrays import Int64s
from schemas.tables import ANSWER_ID
from schemas.text import answer_key


def judged(
    confidence: Confidence,
    index: Index,
    asked: Sequence[str],
    found: Found,
    records: Sequence[Mapping[str, Any]],
    *,
    exclude: Int64s | None = None,
) -> Judgement | None:
    """Return the judgement of the hits of a ranking, found with at least `NEIGHBOURS` nearest questions.

    Args:
        confidence: of the index.
        index: that was searched.
        asked: the questions.
        found: their hits.
        records: `Index.records` of the hits, one question after the other.
        exclude: for each question one of the index that was left out. A single hit of its cluster counts as in no
            cluster, since none would be known without the question (`model.confidence.examples`).

    Returns:
        None where there is no hit.
    """
    if not records:
        return None
    hits = [record["text"] for record in records]
    nearest, places = found.nearest.first(NEIGHBOURS), found.dense_ranks - 1  # however many hits are returned
    is_hit = found.ranking.found
    far = is_hit & ((places < 0) | (places >= NEIGHBOURS))
    if far.any():  # their distances are computed, and stand after all neighbours
        nearest = _with_distances(index, asked, hits, found._replace(nearest=nearest), far)
        places = np.where(far, NEIGHBOURS + np.arange(far.shape[1]), places)
    are_hits = np.array_equal(nearest.rows, found.ranking.rows)

    def column(name: str) -> list[Any]:
        return [record[name] for record in records] if are_hits else index.column(name, nearest.rows[nearest.found])

    clusters = clusters_by(confidence, column)
    if exclude is not None and not confidence.by_answer:
        clusters = _without_single_mates(index, nearest, clusters, exclude)
    return confidence.judge(asked, hits, nearest, clusters, places)


def clusters_by(confidence: Confidence, column: Callable[[str], list[Any]]) -> list[Cluster]:
    """Return the clusters of questions, or their answers where these count as clusters; None for a question in none.

    Args:
        confidence: for which they are.
        column: returns a column of the questions by its name.
    """
    if confidence.by_answer:
        return [*map(answer_key, column(ANSWER_ID.name), column("answer"))]
    return column("cluster_id")


def _without_single_mates(
    index: Index, nearest: Ranking, clusters: Sequence[Cluster], exclude: Int64s
) -> list[Cluster]:
    """Return the clusters of hits, None for the only hit in the cluster of the question that was left out."""
    rows = index.rows_of(exclude)
    own_clusters = np.full(len(rows), None)
    own_clusters[rows >= 0] = index.column("cluster_id", rows[rows >= 0])
    remaining, start = list(clusters), 0
    for cluster, hits in zip(own_clusters.tolist(), nearest.found.sum(axis=1).tolist(), strict=True):
        of_query = remaining[start : start + hits]
        if cluster is not None and of_query.count(cluster) == 1:
            remaining[start + of_query.index(cluster)] = None
        start += hits
    return remaining


def _with_distances(index: Index, asked: Sequence[str], hits: Sequence[str], found: Found, far: np.ndarray) -> Ranking:
    """Return the nearest questions, padded to `NEIGHBOURS` columns, and the far hits of a ranking after them."""
    ranking, nearest = found.ranking, found.nearest
    vectors = index.encoder.encode(asked) if found.vectors is None else found.vectors
    of_hits = index.vectors_of(ranking.rows[far])
    if of_hits is None:
        are_far = far[ranking.found].tolist()
        of_hits = index.encoder.encode([text for text, is_far in zip(hits, are_far, strict=True) if is_far])
    scores = np.full(far.shape, -np.inf, np.float32)
    scores[far] = -((vectors[np.nonzero(far)[0]] - of_hits) ** 2).sum(axis=1)
    blanks = np.full((len(asked), NEIGHBOURS - nearest.ids.shape[1]), -1, np.int64)
    return Ranking(
        np.hstack([nearest.ids, blanks, np.where(far, ranking.ids, -1)]),
        np.hstack([nearest.scores, np.where(blanks < 0, np.float32(-np.inf), 0), scores]).astype(np.float32),
        np.hstack([nearest.rows, blanks, np.where(far, ranking.rows, -1)]),
    )
