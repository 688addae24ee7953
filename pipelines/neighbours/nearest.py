"""The nearest questions of each question, by comparing all questions of a table.

MEMBERS, TokenWeights -> exact_nearest -> NEIGHBOURS
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from scipy import sparse

from pipelines.intermediate import VECTOR
from pipelines.neighbours.embeddings import cosines, unit_vectors, vectors_in
from pipelines.neighbours.pairs import (
    Pairs,
    concatenate,
    distinct_members,
    keep_nearest,
    merge_nearest,
    neighbours_table,
)
from pipelines.neighbours.similarity import divide, similarities, vectors_of
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import ranges, ranks_in_runs, runs_of

BLOCK: Final = 256
"""Questions compared with all others at a time: 256 rows of 100,000 similarities are 100 MB."""

DENSE_SHARE: Final = 0.05
"""Share of questions from which a part's products are computed by a dense matrix product, which is then faster."""

_CHUNK: Final = 64
"""Columns of which only the greatest similarity is looked at first."""

_ROUNDING: Final = 1e-5
"""Greater than half a step of `similarity.LEVELS` and the error of a dense product, which decides no tie."""


def exact_nearest(members: pa.Table, weights: TokenWeights, *, k: int) -> pa.Table:
    """Return the nearest questions of each question by comparing it with all: quadratic, for up to 100,000 questions.

    A question that is the only one of its answer has no neighbours, but may be the neighbour of another question.

    Args:
        members: MEMBERS in any order; with the column ``vector`` questions are compared by it, not by their words.
        weights: weights of the words of the log.
        k: maximum number of neighbours of a question with its answer, and the maximum number with another answer.

    Returns:
        NEIGHBOURS of similarity above 0, ordered by ``answer_id``, ``question_id``, falling similarity and
        ``neighbour_id``; within equal similarity the smaller ids are kept.
    """
    questions = distinct_members(members)
    answers, ids = questions["answer_id"].to_numpy(), questions["question_id"].to_numpy()
    vectors: sparse.csr_array | np.ndarray
    if VECTOR.name in questions.column_names:
        vectors = vectors_in(questions[VECTOR.name])
    else:
        vectors = _shared_columns(vectors_of(divide(questions["text"], weights)))
    rank = np.argsort(np.lexsort((answers, ids)))
    _, sizes = runs_of(answers)
    rows = np.flatnonzero(np.repeat(sizes > 1, sizes))
    parts = [keep_nearest(pairs, rank, k) for pairs in _candidates(vectors, rows, questions, rank, k)]
    return merge_nearest(neighbours_table(questions, concatenate(parts)), k)


def similarity_of(vectors: sparse.csr_array | np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (P,) similarities of pairs of rows of `question_vectors`, or of vectors of an encoder."""
    return cosines(vectors, left, right) if isinstance(vectors, np.ndarray) else similarities(vectors, left, right)


def _shared_columns(vectors: sparse.csr_array) -> sparse.csr_array:
    """Return the columns that at least two rows have, in their order; the others decide no similarity."""
    counts = np.bincount(vectors.indices, minlength=vectors.shape[1])
    return sparse.csr_array(vectors[:, np.flatnonzero(counts > 1)])


def _candidates(
    vectors: sparse.csr_array | np.ndarray, rows: np.ndarray, questions: pa.Table, rank: np.ndarray, k: int
) -> Iterator[Pairs]:
    """Yield for blocks of ``rows``, ascending, pairs that contain the ``k`` nearest of each kind."""
    products = _products_of_vectors(vectors) if isinstance(vectors, np.ndarray) else _products_of_words(vectors)
    answers, ids = questions["answer_id"].to_numpy(), questions["question_id"].to_numpy()
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        scores = products(block)
        scores[_equals(ids, block)] = 0  # the question itself, under this and other answers
        mates = _equals(answers, block)
        same = _highest(*mates, scores[mates], rank, k)
        scores[mates] = 0
        other = _highest(*_above_floor(scores, k), rank, k)
        for row, column in (same, other):
            yield Pairs(block[row], column, similarity_of(vectors, block[row], column))


def _products_of_words(vectors: sparse.csr_array) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from rows to their products with all rows.

    Products of frequent parts come from a dense matrix, those of the others from a sparse one.
    """
    counts = np.bincount(vectors.indices, minlength=vectors.shape[1])
    frequent = counts > max(DENSE_SHARE * vectors.shape[0], 1)
    dense = np.ascontiguousarray(vectors[:, np.flatnonzero(frequent)].toarray())
    others = sparse.csr_array(vectors[:, np.flatnonzero(~frequent)])
    transposed = sparse.csr_array(others.T)

    def products(block: np.ndarray) -> np.ndarray:
        scores: np.ndarray = dense[block] @ dense.T
        rare = others[block] @ transposed
        scores[np.repeat(np.arange(len(block)), np.diff(rare.indptr)), rare.indices] += rare.data
        return scores

    return products


def _products_of_vectors(vectors: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from rows to their cosines with all rows."""
    unit = unit_vectors(vectors)

    def products(block: np.ndarray) -> np.ndarray:
        scores: np.ndarray = unit[block] @ unit.T
        return scores

    return products


def _equals(values: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return place in the block and row of all rows with the value of a row of the block."""
    order = np.argsort(values, kind="stable")
    first, last = (np.searchsorted(values, values[block], side, sorter=order) for side in ("left", "right"))
    return np.repeat(np.arange(len(block)), last - first), order[ranges(first, last - first)]


def _above_floor(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and score of all entries that can be among the ``k`` highest of their row, and a few more."""
    rows, columns = scores.shape
    chunks = -(-columns // _CHUNK)
    padded = np.zeros((rows, chunks * _CHUNK), scores.dtype)
    padded[:, :columns] = scores
    highest = padded.reshape(rows, chunks, _CHUNK).max(axis=2)
    place = max(chunks - k, 0)
    floor = np.partition(highest, place, axis=1)[:, place] if chunks > k else np.zeros(rows)
    floor = np.maximum(floor - 2 * _ROUNDING, 0)[:, None]
    row, chunk = np.nonzero(highest > floor)
    inside = padded.reshape(rows, chunks, _CHUNK)[row, chunk]
    of_chunk, column = np.nonzero(inside > floor[row])
    return row[of_chunk], chunk[of_chunk] * _CHUNK + column, inside[of_chunk, column]


def _highest(row: np.ndarray, column: np.ndarray, score: np.ndarray, rank: np.ndarray, k: int) -> np.ndarray:
    """Return the (2, P) rows and columns of the ``k`` highest positive scores of each row and of those almost as high.

    Of scores within `_ROUNDING` those with the smallest rank are returned, at most three for each place.
    """
    level = np.round(score / (2 * _ROUNDING)).astype(np.int64)
    positive = np.flatnonzero(score > 0)
    order = positive[np.lexsort((rank[column[positive]], -level[positive], row[positive]))]
    starts, sizes = runs_of(row[order])
    place = ranks_in_runs(starts, len(order))
    last = np.minimum(starts + k, np.append(starts[1:], len(order))) - 1 if len(starts) else starts
    lowest = np.repeat(level[order[last]], sizes)
    kept = order[(level[order] >= lowest - 1) & (place < 3 * k)]
    return np.stack([row[kept], column[kept]])
