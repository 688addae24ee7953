"""The nearest questions of each question, by comparing all questions of a table.

MEMBERS, TokenWeights -> exact_nearest -> NEIGHBOURS
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from pipelines.intermediate import NEIGHBOURS
from pipelines.neighbours.similarity import question_vectors, similarities
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import ranges, ranks_in_runs, sizes_of_runs, starts_of_runs, sums_of_runs

BLOCK: Final = 256
"""Questions compared with all others at a time: 256 rows of 100,000 similarities are 100 MB."""

DENSE_SHARE: Final = 0.05
"""Share of questions from which a part's products are computed by a dense matrix product, which is then faster."""

_CHUNK: Final = 64
"""Columns of which only the greatest similarity is looked at first."""

_ROUNDING: Final = 1e-5
"""Greater than half a step of `similarity.LEVELS` and the error of a dense product, which decides no tie."""


class Pairs(NamedTuple):
    """Rows of two questions each and their similarity: (P,) int64, (P,) int64 and (P,) float32."""

    row: np.ndarray
    other: np.ndarray
    similarity: np.ndarray


def exact_nearest(members: pa.Table, weights: TokenWeights, *, k: int, lone: bool = False) -> pa.Table:
    """Return the nearest questions of each question by comparing it with all: quadratic, for up to 100,000 questions.

    Args:
        members: MEMBERS in any order.
        weights: weights of the words of the log.
        k: maximum number of neighbours of a question with its answer, and the maximum number with another answer.
        lone: whether a question that is the only one of its answer gets neighbours; it always counts as one.

    Returns:
        NEIGHBOURS of similarity above 0, ordered by ``answer_id``, ``question_id``, falling similarity and
        ``neighbour_id``; within equal similarity the smaller ids are kept.
    """
    questions = one_row_a_question(members)
    answers = questions["answer_id"].to_numpy()
    vectors = _shared_columns(question_vectors(questions["text"], weights))
    starts = starts_of_runs(answers)
    sizes = np.repeat(sizes_of_runs(starts, len(answers)), sizes_of_runs(starts, len(answers)))
    rows = np.arange(len(answers)) if lone else np.flatnonzero(sizes > 1)
    ids = questions["question_id"].to_numpy()
    found = [keep_nearest(pairs, answers, ids, k) for pairs in _candidates(vectors, rows, answers, ids, k)]
    return neighbours_table(questions, Pairs(*map(np.concatenate, zip(_NONE, *found, strict=True))))


_NONE: Final = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def one_row_a_question(members: pa.Table) -> pa.Table:
    """Return ``answer_id``, ``question_id`` and ``text`` of each question under its most frequent answer.

    Of equally frequent answers the one with the smallest id counts.

    Args:
        members: MEMBERS; rows without a text are ignored.

    Returns:
        One row a question, ordered by ``answer_id`` and ``question_id``.
    """
    asked = members.select(["answer_id", "question_id", "text", "events"]).filter(pc.is_valid(members["text"]))
    questions, answers = asked["question_id"].to_numpy(), asked["answer_id"].to_numpy()
    order = np.lexsort((answers, questions))
    first = order[starts_of_runs(questions[order], answers[order])]
    events = sums_of_runs(asked["events"].to_numpy()[order], starts_of_runs(questions[order], answers[order]))
    best = first[np.lexsort((answers[first], -events, questions[first]))]
    home = best[starts_of_runs(questions[best])]
    ordered = home[np.lexsort((questions[home], answers[home]))]
    return asked.select(["answer_id", "question_id", "text"]).take(pa.array(ordered)).combine_chunks()


def keep_nearest(pairs: Pairs, answers: np.ndarray, ids: np.ndarray, k: int) -> Pairs:
    """Return of each row's pairs the ``k`` most similar with its answer and the ``k`` most similar with another one.

    Args:
        pairs: distinct pairs in any order.
        answers: (R,) answer of each row.
        ids: (R,) question of each row, by which ties are decided.
        k: maximum number of pairs a row of each kind.

    Returns:
        Pairs ordered by row, falling similarity and id of the other question.
    """
    row, other, similarity = pairs
    same = answers[row] == answers[other]
    order = np.lexsort((ids[other], -similarity, same, row))
    starts = starts_of_runs(row[order], same[order])
    kept = order[ranks_in_runs(starts, len(order)) < k]
    final = kept[np.lexsort((ids[other[kept]], -similarity[kept], row[kept]))]
    return Pairs(row[final], other[final], similarity[final])


def neighbours_table(questions: pa.Table, pairs: Pairs) -> pa.Table:
    """Return the NEIGHBOURS of pairs of rows of ``questions``."""
    ids, answers = questions["question_id"].to_numpy(), questions["answer_id"].to_numpy()
    columns = (ids[pairs.row], answers[pairs.row], ids[pairs.other], answers[pairs.other], pairs.similarity)
    return pa.table(dict(zip(NEIGHBOURS.names, columns, strict=True))).cast(NEIGHBOURS)


def _shared_columns(vectors: sparse.csr_array) -> sparse.csr_array:
    """Return the columns that at least two rows have, in their order; the others decide no similarity."""
    counts = np.bincount(vectors.indices, minlength=vectors.shape[1])
    return sparse.csr_array(vectors[:, np.flatnonzero(counts > 1)])


def _candidates(
    vectors: sparse.csr_array, rows: np.ndarray, answers: np.ndarray, ids: np.ndarray, k: int
) -> Iterator[Pairs]:
    """Yield for blocks of ``rows``, ascending, pairs that contain the ``k`` nearest of each kind.

    Products of frequent parts come from a dense matrix, those of the others from a sparse one.
    """
    counts = np.bincount(vectors.indices, minlength=vectors.shape[1])
    frequent = counts > max(DENSE_SHARE * len(answers), 1)
    dense = np.ascontiguousarray(vectors[:, np.flatnonzero(frequent)].toarray())
    others = sparse.csr_array(vectors[:, np.flatnonzero(~frequent)])
    transposed = sparse.csr_array(others.T)
    starts = starts_of_runs(answers)
    run = np.repeat(np.arange(len(starts)), sizes_of_runs(starts, len(answers)))
    sizes = sizes_of_runs(starts, len(answers))
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        scores = dense[block] @ dense.T
        rare = others[block] @ transposed
        scores[np.repeat(np.arange(len(block)), np.diff(rare.indptr)), rare.indices] += rare.data
        scores[np.arange(len(block)), block] = 0
        place, mate = np.repeat(np.arange(len(block)), sizes[run[block]]), ranges(starts[run[block]], sizes[run[block]])
        same = _highest(place, mate, scores[place, mate], ids, k)
        scores[place, mate] = 0
        other = _highest(*_above_floor(scores, k), ids, k)
        row, column = np.concatenate([same, other], axis=1)
        yield Pairs(block[row], column, similarities(vectors, block[row], column))


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


def _highest(row: np.ndarray, column: np.ndarray, score: np.ndarray, ids: np.ndarray, k: int) -> np.ndarray:
    """Return the (2, P) rows and columns of the ``k`` highest positive scores of each row and of those almost as high.

    Of scores within `_ROUNDING` those with the smallest ids are returned, at most three for each place.
    """
    level = np.round(score / (2 * _ROUNDING)).astype(np.int64)
    positive = np.flatnonzero(score > 0)
    order = positive[np.lexsort((ids[column[positive]], -level[positive], row[positive]))]
    starts = starts_of_runs(row[order])
    rank = ranks_in_runs(starts, len(order))
    last = np.minimum(starts + k, np.append(starts[1:], len(order))) - 1 if len(starts) else starts
    lowest = np.repeat(level[order[last]], sizes_of_runs(starts, len(order)))
    kept = order[(level[order] >= lowest - 1) & (rank < 3 * k)]
    return np.stack([row[kept], column[kept]])
