"""Features from an encoder: the cosine of two questions, compared with the other cosines of the answer.

vectors, pairs of rows -> cosine_features -> (P, len(COSINES)) float32
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.linkage.comparison.neighbourhood import Neighbours
from schemas.ragged import runs_of

COSINES: Final = ("cosine", "cosine_margin_min", "cosine_margin_max", "cosine_above_answer")
"""Features from the cosine.

``cosine_margin`` is the cosine minus that of the question with its best other partner, as minimum and maximum of the
two questions. ``cosine_above_answer`` is the number of standard deviations above the mean of the answer's pairs. Unlike
``cosine``, these three are comparable between encoders whose cosines differ in level."""

CHUNK: Final = 1 << 16
"""Number of pairs whose vectors are multiplied together; bounds memory."""


def cosine_features(
    vectors: np.ndarray, left: np.ndarray, right: np.ndarray, *, answer_of_row: np.ndarray
) -> np.ndarray:
    """Compare the vectors of pairs of questions.

    Args:
        vectors: (R, D) vectors of any length; the cosine of a zero vector is 0.
        left: (P,) rows, ordered by answer.
        right: (P,) other rows of the same answers.
        answer_of_row: (R,) number of each row's answer, ascending.

    Returns:
        (P, len(COSINES)) float32, column after column in memory.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosine = np.empty(len(left), np.float32)
    for start in range(0, len(left), CHUNK):
        part = slice(start, start + CHUNK)
        cosine[part] = np.einsum("pd,pd->p", unit[left[part]], unit[right[part]])
    left_rival, right_rival = Neighbours(left, right, cosine + 1, answer_of_row).rivals()
    left_margin, right_margin = cosine + 1 - left_rival, cosine + 1 - right_rival
    above = _standardised(cosine.astype(float), answer_of_row[left])
    columns = [cosine, np.minimum(left_margin, right_margin), np.maximum(left_margin, right_margin), above]
    return np.stack(columns, dtype=np.float32, casting="same_kind").T


def _standardised(values: np.ndarray, answer_of_pair: np.ndarray) -> np.ndarray:
    """Return the number of standard deviations of each value above the mean of its answer; 0 if it has one pair."""
    starts, counts = runs_of(answer_of_pair)
    if not len(starts):
        return values
    mean = np.repeat(np.add.reduceat(values, starts) / counts, counts)
    spread = np.sqrt(np.add.reduceat((values - mean) ** 2, starts) / counts)
    standard: np.ndarray = (values - mean) / np.maximum(np.repeat(spread, counts), 1e-2)  # small differences stay small
    return standard
