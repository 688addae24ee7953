"""Features from an encoder: the cosine of two questions, and its rank inside the answer.

vectors, pairs of rows -> cosines -> (P, len(COSINES)) float32
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.linkage.comparison.pair_features import rivals
from schemas.ragged import sizes_of_runs, starts_of_runs

COSINES: Final = ("cosine", "cosine_margin_min", "cosine_margin_max", "cosine_above_answer")
"""The cosine, that minus the cosine of each question's best other partner, and by how many of the standard deviations
of the answer's pairs it exceeds their mean. All but the first mean the same whatever the encoder's scale."""

CHUNK: Final = 1 << 16


def cosines(vectors: np.ndarray, left: np.ndarray, right: np.ndarray, *, answer_of_row: np.ndarray) -> np.ndarray:
    """Compare the vectors of pairs of questions.

    Args:
        vectors: (R, D) of any length; a zero vector is like nothing.
        left: (P,) rows, ordered by answer.
        right: (P,) other rows of the same answers.
        answer_of_row: (R,) ascending.

    Returns:
        (P, len(COSINES)) float32.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosine = np.empty(len(left), np.float32)
    for start in range(0, len(left), CHUNK):
        part = slice(start, start + CHUNK)
        cosine[part] = np.einsum("pd,pd->p", unit[left[part]], unit[right[part]])
    one, two = rivals(cosine + 1.0, left, right, rows=len(answer_of_row))
    one, two = cosine + 1 - one, cosine + 1 - two
    above = _standardised(cosine.astype(float), answer_of_row[left])
    return np.column_stack([cosine, np.minimum(one, two), np.maximum(one, two), above]).astype(np.float32)


def _standardised(values: np.ndarray, answer_of_pair: np.ndarray) -> np.ndarray:
    """Return the values as standard deviations above the mean of their answer; 0 in an answer of one pair."""
    starts = starts_of_runs(answer_of_pair)
    if not len(starts):
        return values
    counts = sizes_of_runs(starts, len(values))
    mean = np.repeat(np.add.reduceat(values, starts) / counts, counts)
    spread = np.sqrt(np.add.reduceat((values - mean) ** 2, starts) / counts)
    standard: np.ndarray = (values - mean) / np.maximum(np.repeat(spread, counts), 1e-2)
    return standard
