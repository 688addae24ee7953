"""Linkage: assignment of the questions of each answer to groups of paraphrases.

MEMBERS of whole answers, TokenWeights, LinkModel -> link -> Linked: the group of every row
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import compare
from pipelines.linkage.large_answers import link_large
from pipelines.linkage.scoring.pair_model import Linked, LinkModel, mean_within
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import sizes_of_runs, starts_of_runs


def link(members: pa.Table, weights: TokenWeights, model: LinkModel, *, vectors: np.ndarray | None = None) -> Linked:
    """Split each answer's questions into groups of paraphrases.

    Args:
        members: MEMBERS ordered by cluster and question, all rows of each answer present.
        weights: weights of the log's tokens.
        model: pair model and threshold.
        vectors: (R, D) vectors of the questions, of any length; read only if the model uses their cosine.
    """
    vectors = vectors if model.cosine else None
    starts = starts_of_runs(members["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(members))
    if (sizes <= ALL_PAIRS).all():
        return _link_small(members, weights, model, vectors)
    group, confidence = np.arange(len(members)), np.zeros(len(members))
    small = np.flatnonzero(np.repeat(sizes <= ALL_PAIRS, sizes))
    large = [np.arange(starts[n], starts[n] + sizes[n]) for n in np.flatnonzero(sizes > ALL_PAIRS)]
    for rows, split in [(small, _link_small), *((rows, link_large) for rows in large)]:
        found = split(members.take(pa.array(rows)), weights, model, None if vectors is None else vectors[rows])
        group[rows], confidence[rows] = rows[found.group], found.confidence
    return Linked(group, confidence)


def _link_small(members: pa.Table, weights: TokenWeights, model: LinkModel, vectors: np.ndarray | None) -> Linked:
    """Split answers of at most `ALL_PAIRS` questions, all pairs of which are compared."""
    group, confidence = np.arange(len(members)), np.zeros(len(members))
    for left, right, answers, found in compare(members, weights, vectors=vectors):
        probability = model.pairs.probability(found, answers)
        first, last = left.min(), right.max() + 1  # rows of an answer are consecutive: use only those of this part
        left, right = left - first, right - first
        part = model.groups(left, right, probability, rows=last - first)
        group[first:last] = part + first
        confidence[first:last] = mean_within(part, left, right, probability)
    return Linked(group, confidence)
