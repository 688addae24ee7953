"""Probabilities of hits, however they were found.

Found, questions, records of hits -> judged -> Judgement
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model.confidence.confidence import Confidence, Judgement
from model.confidence.features import NEIGHBOURS
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.retrieval import Found


def judged(
    confidence: Confidence, index: Index, asked: Sequence[str], found: Found, records: Sequence[Mapping[str, Any]]
) -> Judgement | None:
    """Return the judgement of the hits of a ranking, found with at least `NEIGHBOURS` nearest questions.

    Args:
        confidence: of the index.
        index: that was searched.
        asked: the questions.
        found: their hits.
        records: `Index.records` of the hits, one question after the other.

    Returns:
        None where there is no hit.
    """
    if not records:
        return None
    hits = [record["text"] for record in records]
    nearest, places = found.nearest, found.dense_ranks - 1
    there = found.ranking.found
    far = there & (places < 0)
    if far.any():  # hits by words only: their distances are computed, and stand after all neighbours
        before = max(NEIGHBOURS, nearest.ids.shape[1])
        texts = [text for text, is_far in zip(hits, far[there].tolist(), strict=True) if is_far]
        nearest = _with_distances(index, asked, texts, found.ranking, nearest, far, before)
        places = np.where(far, before + np.arange(far.shape[1]), places)
    if np.array_equal(nearest.rows, found.ranking.rows):
        clusters = [record["cluster_id"] for record in records]
    else:
        clusters = index.column("cluster_id", nearest.rows[nearest.found])
    return confidence.judge(asked, hits, nearest, clusters, places)


def _with_distances(
    index: Index,
    asked: Sequence[str],
    hits: Sequence[str],
    ranking: Ranking,
    nearest: Ranking,
    far: np.ndarray,
    before: int,
) -> Ranking:
    """Return the nearest questions, padded to ``before`` columns, and the far hits of a ranking after them."""
    vectors, of_hits = index.encoder.encode(asked), index.encoder.encode(hits)
    scores = np.full(far.shape, -np.inf, np.float32)
    scores[far] = -((vectors[np.nonzero(far)[0]] - of_hits) ** 2).sum(axis=1)
    blanks = np.full((len(asked), before - nearest.ids.shape[1]), -1, np.int64)
    return Ranking(
        np.hstack([nearest.ids, blanks, np.where(far, ranking.ids, -1)]),
        np.hstack([nearest.scores, np.where(blanks < 0, np.float32(-np.inf), 0), scores]).astype(np.float32),
        np.hstack([nearest.rows, blanks, np.where(far, ranking.rows, -1)]),
    )
