"""Probabilities of hits, however they were found.

Found, texts -> judged -> Judgement; Hit, Judgement -> with_probability -> Hit
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from model.confidence.confidence import Confidence, Judgement
from model.confidence.features import NEIGHBOURS
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.results import Hit
from model.search.retrieval import Found


def judged(confidence: Confidence, index: Index, texts: pa.Array, found: Found) -> Judgement:
    """Return the judgement of the hits of a ranking, found with at least `NEIGHBOURS` nearest questions."""
    nearest, places = found.nearest, found.dense_ranks - 1
    far = found.ranking.found & (places < 0)
    if far.any():  # hits by words only: their distances are computed, and stand after all neighbours
        before = max(NEIGHBOURS, nearest.ids.shape[1])
        nearest = _with_distances(index, texts, found.ranking, nearest, far, before)
        places = np.where(far, before + np.arange(far.shape[1]), places)
    return confidence.judge(texts, nearest, index.questions(nearest.rows[nearest.found]), places)


def with_probability(hit: Hit, judgement: Judgement, query: int, place: int, *, own: int) -> Hit:
    """Return a hit with its probability and reasons; that of the query's own question, of id ``own``, is 1."""
    if hit.question_id == own:
        return dataclasses.replace(hit, probability=1.0)
    why = dataclasses.replace(hit.why, contributions=judgement.reasons(query, place))
    return dataclasses.replace(hit, probability=float(judgement.probabilities[query, place]), why=why)


def _with_distances(
    index: Index, texts: pa.Array, ranking: Ranking, nearest: Ranking, far: np.ndarray, before: int
) -> Ranking:
    """Return the nearest questions, padded to ``before`` columns, and the far hits of a ranking after them."""
    hits = index.questions(ranking.rows[far])["text"].combine_chunks()
    vectors, of_hits = index.encoder.encode(texts), index.encoder.encode(hits)
    scores = np.full(far.shape, -np.inf, np.float32)
    scores[far] = -((vectors[np.nonzero(far)[0]] - of_hits) ** 2).sum(axis=1)
    blanks = np.full((len(texts), before - nearest.ids.shape[1]), -1, np.int64)
    return Ranking(
        np.hstack([nearest.ids, blanks, np.where(far, ranking.ids, -1)]),
        np.hstack([nearest.scores, np.where(blanks < 0, np.float32(-np.inf), 0), scores]).astype(np.float32),
        np.hstack([nearest.rows, blanks, np.where(far, ranking.rows, -1)]),
    )
