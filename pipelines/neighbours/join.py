"""Join of similar questions on their rarest words.

Described questions of whole answers -> nearest_of_answers -> NEIGHBOURS with the same answer
Described questions -> place_in_shards -> PLACED_QUESTIONS -> compare_placed -> NEIGHBOURS with another one
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from pipelines.intermediate import PLACED_QUESTIONS, VECTOR
from pipelines.neighbours.described import NO_STEM, Described, Keyed, describe
from pipelines.neighbours.embeddings import cosines
from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.pairs import (
    Pairs,
    concatenate,
    keep_nearest,
    keep_nearest_of_both,
    narrow,
    neighbours_table,
    order_by_number,
    rows_between,
)
from pipelines.neighbours.postings import Lists, candidates, lists_of_keys, slices
from pipelines.neighbours.similarity import similarities, vectors_of
from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix
from schemas.ragged import runs_of
from schemas.tables import take_rows

FEW: Final = 5_000
"""Number of questions of a log up to which all of them are compared."""

WHOLE: Final = 1_000
"""Number of questions of an answer up to which they are in one list, beside those of their stems."""

AT_A_TIME: Final = 2**19
"""Approximate number of list entries whose candidates are in memory: a frequent answer has any number."""

QUESTIONS_A_PART: Final = 2**16
"""Number of questions whose neighbours become one table."""

MERGED_FROM: Final = 2
"""Number of neighbours in memory, by the number that is kept, from which the nearest of a part's questions are kept."""

PLACED_AT_ONCE: Final = 2**18
"""Number of questions that are placed in shards at a time."""


def place_in_shards(keyed: Keyed, weights: TokenWeights, *, shards: int) -> Iterator[pa.Table]:
    """Yield PLACED_QUESTIONS, `PLACED_AT_ONCE` questions at a time: a row for each shard that compares one.

    Args:
        keyed: MEMBERS, all rows of each answer present.
        weights: weights of the words of the log.
        shards: number of shards by ``shard``.
    """
    questions, keys, sketch = keyed
    if weights.questions <= FEW:
        keys = np.zeros((len(keys), 1), np.int64)
    schema = PLACED_QUESTIONS.append(VECTOR) if VECTOR.name in questions.column_names else PLACED_QUESTIONS
    marked = questions.append_column("lone", pa.array(_answer_sizes(questions) == 1))
    for start in range(0, len(questions), PLACED_AT_ONCE):
        some = slice(start, start + PLACED_AT_ONCE)
        shard = np.sort(np.where(keys[some] == NO_STEM, shards, keys[some] % shards), axis=1)
        shard[:, 1:][shard[:, 1:] == shard[:, :-1]] = shards  # a question is once in a shard, whatever its keys
        row, column = np.nonzero(shard < shards)
        packed = pa.FixedSizeBinaryArray.from_buffers(
            PLACED_QUESTIONS.field("sketch").type,
            len(shard),
            [None, pa.py_buffer(np.ascontiguousarray(sketch[:, some].T))],
        )
        placed = take_rows(marked.slice(start, PLACED_AT_ONCE).append_column("sketch", packed), row)
        yield placed.append_column("shard", pa.array(shard[row, column])).select(schema.names).cast(schema)


def compare_placed(placed: pa.Table, weights: TokenWeights, *, k: int, shards: int) -> Iterator[pa.Table]:
    """Yield the NEIGHBOURS with another answer of the questions of a shard, except the only ones of their answer.

    Args:
        placed: PLACED_QUESTIONS of one shard.
        weights: weights of the words of the log.
        k: maximum number of neighbours of a question; in a log of at most `FEW` questions as many with the same answer.
        shards: number of shards by ``shard``.
    """
    if weights.questions <= FEW:
        yield exact_nearest(placed, weights, k=k)
        return
    described = describe(placed, weights)
    keys = described.keys
    here = (keys != NO_STEM) & (keys % shards == placed["shard"][0].as_py())
    subjects = ~described.questions["lone"].to_numpy()
    yield from _nearest(described, _lists(keys, described.stems, here), subjects, k, same_answer=False)


def nearest_of_answers(described: Described, weights: TokenWeights, *, k: int) -> Iterator[pa.Table]:
    """Yield the NEIGHBOURS with the same answer of each question; none in a log of at most `FEW` questions.

    In a small answer each question is compared with all others, in a large one with those that share a rare stem.

    Args:
        described: MEMBERS, all rows of each answer present.
        weights: weights of the words of the log.
        k: maximum number of neighbours of a question.
    """
    if weights.questions <= FEW:
        return
    size, stems = _answer_sizes(described.questions)[:, None], described.keys
    answers = described.questions["answer_id"].to_numpy()[:, None]
    keys = np.concatenate([answers, mix(stems, 0).view(np.int64) + answers], axis=1)
    here = np.concatenate([(size > 1) & (size <= WHOLE), (stems != NO_STEM) & (size > described.effort.window)], axis=1)
    lists = _lists(keys, np.concatenate([stems[:, :1], described.stems], axis=1), here)
    yield from _nearest(described, lists, size[:, 0] > 1, k, same_answer=True)


def _nearest(
    described: Described, lists: Lists, subjects: np.ndarray, k: int, *, same_answer: bool
) -> Iterator[pa.Table]:
    """Yield the NEIGHBOURS of the subjects among those that share a list with them, `QUESTIONS_A_PART` at a time."""
    ids, answers = (described.questions[name].to_numpy() for name in ("question_id", "answer_id"))
    rank = np.argsort(np.lexsort((answers, ids)))
    parts: list[list[Pairs]] = [[] for _ in range(0, len(ids), QUESTIONS_A_PART)]
    for pairs in _sought(described, lists, subjects, same_answer=same_answer):
        nearest = narrow(keep_nearest_of_both(pairs, subjects, rank, k))
        for number, part in enumerate(parts):
            some = rows_between(nearest, number * QUESTIONS_A_PART, (number + 1) * QUESTIONS_A_PART)
            if not len(some.row):
                continue
            part.append(some)
            if sum(len(earlier.row) for earlier in part) > MERGED_FROM * k * QUESTIONS_A_PART:
                part[:] = [narrow(keep_nearest(concatenate(part), rank, k))]
    for number, part in enumerate(parts):
        parts[number] = []  # frees its memory when the next part is read
        if part:
            nearest = concatenate(part)
            yield neighbours_table(described.questions, nearest if len(part) == 1 else keep_nearest(nearest, rank, k))


def _sought(described: Described, lists: Lists, subjects: np.ndarray, *, same_answer: bool) -> Iterator[Pairs]:
    """Yield pairs of questions that share a list, those of some lists at a time, each once a list."""
    ids, answers = (described.questions[name].to_numpy() for name in ("question_id", "answer_id"))
    for some in slices(lists, AT_A_TIME):
        row, partner = candidates(some, described.sketch, answers, subjects, described.effort, same_answer=same_answer)
        different = ids[row] != ids[partner]
        if not different.all():
            row, partner = row[different], partner[different]
        if described.vectors is None:
            listed = np.zeros(len(ids), bool)  # vectors of the rows of these lists alone are in memory
            listed[some.row] = True
            place = np.cumsum(listed) - 1
            similarity = similarities(vectors_of(described.divided, np.flatnonzero(listed)), place[row], place[partner])
        else:
            similarity = cosines(described.vectors, row, partner)
        yield Pairs(row, partner, similarity)


def _lists(keys: np.ndarray, following: np.ndarray, here: np.ndarray) -> Lists:
    """Return the lists of rows by key, in the order of the stems that follow the key in each row.

    Args:
        keys: (R, K) int64 keys.
        following: (R, more than K) int64 stems; the row has the key in column c before the stems from c + 1 on.
        here: (R, K) whether the row is in the list of the key.
    """
    row, column = np.nonzero(here)
    code = np.unique(keys[row, column], return_inverse=True)[1]
    last = following.shape[1] - 1
    # 20 bits of each: `order_by_number` orders by 40 beside a number
    near = [following[row, np.minimum(column + step, last)].view(np.uint64) >> np.uint64(44) for step in (1, 2)]
    order = order_by_number(code, (near[0].astype(np.int64) << 20) | near[1].astype(np.int64))
    return lists_of_keys(code[order], row[order])


def _answer_sizes(questions: pa.Table) -> np.ndarray:
    """Return for each row the number of rows with its answer."""
    _, sizes = runs_of(questions["answer_id"].to_numpy())
    return np.repeat(sizes, sizes)
