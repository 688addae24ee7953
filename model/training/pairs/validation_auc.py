"""ROC AUC of distances on validation pairs, which decides when training stops.

validation pairs -> sample_non_pairs; vectors -> validation_auc -> ROC AUC
"""

from __future__ import annotations

import math

import numpy as np

from model.training.training_pairs import Pairs
from schemas.arrays import Float32s, Int64s


def sample_non_pairs(pairs: Pairs, *, seed: int) -> tuple[Int64s, Int64s]:
    """Return positions of as many questions that are no paraphrases as there are pairs.

    The first of each is drawn from all members of clusters, the second from the members of all other clusters, both
    evenly. Empty if there is only one cluster. A question that is in two clusters can be drawn against one of its own
    paraphrases; those draws are left out.
    """
    members = np.unique(
        np.stack([np.tile(pairs.clusters, 2), np.concatenate([pairs.first, pairs.second])], axis=1), axis=0
    )
    cluster, question = members[:, 0], members[:, 1]
    if pairs.cluster_count < 2:
        return question[:0], question[:0]
    sizes = np.bincount(cluster)
    starts = np.cumsum(sizes) - sizes
    rng = np.random.default_rng([seed, len(pairs)])
    left = rng.integers(len(members), size=len(pairs))
    other_members = len(members) - sizes[cluster[left]]
    right = rng.integers(other_members)  # counts only members of other clusters: step over the own one
    right += np.where(right >= starts[cluster[left]], sizes[cluster[left]], 0)
    first, second = question[left], question[right]
    unrelated = (first != second) & ~np.isin(_codes(first, second), _codes(pairs.first, pairs.second))
    return first[unrelated], second[unrelated]


def validation_auc(vectors: Float32s, pairs: Pairs, non_pairs: tuple[Int64s, Int64s]) -> float:
    """Return the ROC AUC of distances: how often a pair is closer than a non-pair, ties half (section 4.2).

    It is NaN if a distance is not finite.

    Args:
        vectors: (questions, D), in the order of ``pairs.texts``.
        pairs: the paraphrases.
        non_pairs: what `sample_non_pairs` returned.
    """
    near, far = _distances(vectors, pairs.first, pairs.second), np.sort(_distances(vectors, *non_pairs))
    if not (np.isfinite(near).all() and np.isfinite(far).all()):
        return math.nan
    # counted here: to import scikit-learn takes 1.4 s of CPU, a seventh of a small training
    not_farther = np.searchsorted(far, near, "left") + np.searchsorted(far, near, "right")  # ties once, others twice
    every = 2 * len(near) * len(far)
    return (every - int(not_farther.sum())) / every


def _distances(vectors: Float32s, first: Int64s, second: Int64s) -> Float32s:
    distances = np.empty(len(first), np.float32)
    for start in range(0, len(first), 16_384):  # bounds the memory, not the result
        rows = slice(start, start + 16_384)
        with np.errstate(over="ignore", invalid="ignore"):  # of vectors that are no numbers any more
            difference = vectors[first[rows]] - vectors[second[rows]]
            distances[rows] = np.einsum("nd,nd->n", difference, difference)
    return distances


def _codes(first: Int64s, second: Int64s) -> Int64s:
    """Return one number a pair, the same whichever comes first."""
    return np.minimum(first, second) << 32 | np.maximum(first, second)  # positions have at most 31 bits
