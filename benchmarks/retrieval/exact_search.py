"""Exact search by products of matrices.

vectors of questions and queries -> nearest -> rows and squared distances
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.encoders.interface import Encoder
from model.evaluation.relevance import Judgements
from schemas.arrays import Float32s, Int64s, Matrix

_BLOCK = 16_384
"""Questions compared with all queries together."""


def exact(encoder: Encoder, questions: pa.Table, judged: Judgements, *, depth: int) -> Int64s:
    """Return the ids of the questions nearest to every query, without its own."""
    ids = questions["question_id"].to_numpy()
    queries = encoder.encode(judged.texts)
    rows, _ = nearest(encoder.encode(questions["text"]), ids, queries, judged, depth=depth)
    return np.asarray(ids[rows], np.int64)


def nearest(vectors: Matrix, ids: Int64s, queries: Matrix, judged: Judgements, *, depth: int) -> tuple[Int64s, Matrix]:
    """Return the rows of the vectors nearest to every query, without its own, and their squared distances.

    Ties go to the smaller id, except among those that the first block leaves out.
    """
    best = np.full((len(queries), 0), np.inf, np.float32)
    nearest_rows = np.full((len(queries), 0), -1, np.int64)
    own = np.einsum("nd,nd->n", queries, queries)[:, None]
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        distances = own + np.einsum("nd,nd->n", block, block) - 2 * queries @ block.T
        distances[judged.ids[:, None] == ids[start : start + _BLOCK]] = np.inf
        row, column = _near(distances, best, depth=depth)
        every = np.repeat(np.arange(len(queries)), best.shape[1])
        rows, near = np.concatenate([every, row]), np.concatenate([best.ravel(), distances[row, column]])
        places = np.concatenate([nearest_rows.ravel(), start + column])
        order = np.lexsort((ids[places], near, rows))
        counts = np.bincount(rows, minlength=len(queries))
        first = order[(np.cumsum(counts) - counts)[:, None] + np.arange(min(depth, counts.min()))]
        best, nearest_rows = near[first], places[first]
    return nearest_rows, best


def _near(distances: Float32s, best: Float32s, *, depth: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return rows and columns of distances that may be among the smallest.

    Partitioning a block takes 1.0 CPU s, comparing it with the largest of the best .1 s.
    """
    if best.shape[1] == depth:
        rows, near = np.nonzero(distances <= best[:, -1:])
        return rows, near
    kept = min(depth, distances.shape[1])
    columns = np.argpartition(distances, kept - 1, axis=1)[:, :kept]
    return np.repeat(np.arange(len(distances)), kept), columns.ravel()
