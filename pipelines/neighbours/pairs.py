"""Pairs of similar questions, of which the nearest of each question are kept.

MEMBERS -> distinct_members; Pairs -> keep_nearest -> neighbours_table -> NEIGHBOURS -> merge_nearest
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import NEIGHBOURS, VECTOR
from pipelines.neighbours.similarity import LEVELS
from schemas.hashing import mix
from schemas.ragged import ranges, ranks_in_runs, runs_of, sort_distinct, starts_of_runs

ROWS_A_PART: Final = 2**21
"""Approximate number of neighbours that are merged at a time."""

_ROW_BITS: Final = 23
_LARGEST: Final = 2**_ROW_BITS
_LEVEL_BITS: Final = 17
"""Bits of a row or rank and of a level, of which `LEVELS` itself, 2^16, is the highest. A key has a row, a level and a
rank, 63 bits, so that none is negative; of more than `_LARGEST` rows three columns are sorted."""


class Pairs(NamedTuple):
    """Rows of two questions each and their similarity: (P,) int64, (P,) int64 and (P,) float32."""

    row: np.ndarray
    other: np.ndarray
    similarity: np.ndarray


def distinct_members(members: pa.Table, *more: str) -> pa.Table:
    """Return ``answer_id``, ``question_id`` and ``text`` of each question under each of its answers.

    Args:
        members: MEMBERS or PLACED_QUESTIONS; rows without a text are ignored.
        more: names of further columns.

    Returns:
        One row a question and answer, ordered by ``answer_id`` and ``question_id``; with ``vector`` if it is a column.
    """
    vector = [VECTOR.name] if VECTOR.name in members.column_names else []
    asked = members.select(["answer_id", "question_id", "text", *more, *vector]).filter(pc.is_valid(members["text"]))
    questions, answers = asked["question_id"].to_numpy(), asked["answer_id"].to_numpy()
    order = np.lexsort((questions, answers))
    first = order[starts_of_runs(answers[order], questions[order])]
    return asked.take(pa.array(first)).combine_chunks()


def keep_nearest(pairs: Pairs, rank: np.ndarray, k: int) -> Pairs:
    """Return the ``k`` most similar pairs of each row; of equally similar ones those with the smallest rank.

    Args:
        pairs: in any order, and repeats count once; those of similarity 0 are left out.
        rank: (R,) rank of each row by the id of its question.
        k: maximum number of pairs a row.

    Returns:
        Pairs ordered by row, falling similarity and rank.
    """
    if len(rank) > _LARGEST:  # too many for the 64 bits of a key
        return _keep_nearest_of_many(pairs, rank, k)
    level = _levels(pairs.similarity)
    keys = _keys(pairs.row, level, rank[pairs.other])
    return _first_of_keys(sort_distinct(keys[level > 0]), rank, k)


def keep_nearest_of_both(pairs: Pairs, subjects: np.ndarray, rank: np.ndarray, k: int) -> Pairs:
    """Return `keep_nearest` of pairs each of which is one of its other question too.

    Args:
        pairs: distinct, also by their other side, in any order.
        subjects: (R,) whether the nearest pairs of the row are returned.
        rank: as for `keep_nearest`.
        k: maximum number of pairs a row.
    """
    left, right, similarity = pairs
    sides = [(left, right), (right, left)]
    if len(rank) > _LARGEST:
        several = [Pairs(row, partner, similarity) for row, partner in sides]
        both = concatenate([Pairs(*(column[subjects[side.row]] for column in side)) for side in several])
        return _keep_nearest_of_many(both, rank, k)
    level = _levels(similarity)
    parts = []
    for row, partner in sides:
        keys = _keys(row, level, rank[partner])
        parts.append(keys[subjects[row] & (level > 0)])
    del level
    keys = np.concatenate(parts)
    keys.sort()  # integers are sorted ten times faster than rows of three columns
    return _first_of_keys(keys, rank, k)


def _levels(similarity: np.ndarray) -> np.ndarray:
    """Return similarities as multiples of 1 / `LEVELS`."""
    levels: np.ndarray = (similarity * np.float32(LEVELS)).astype(np.int64)
    return levels


def _keys(row: np.ndarray, level: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return one integer for row, falling similarity and rank."""
    keys = row << _LEVEL_BITS
    keys += LEVELS
    keys -= level
    keys <<= _ROW_BITS
    keys |= rank
    return keys


def _first_of_keys(keys: np.ndarray, rank: np.ndarray, k: int) -> Pairs:
    """Return the pairs of the first ``k`` of the ascending keys of each row."""
    keys = keys[_first_of_runs(keys >> (_LEVEL_BITS + _ROW_BITS), k)]
    level = LEVELS - (keys >> _ROW_BITS & (2**_LEVEL_BITS - 1))
    row_of_rank = np.empty(len(rank), np.int64)
    row_of_rank[rank] = np.arange(len(rank))
    other = row_of_rank[keys & (2**_ROW_BITS - 1)]
    return Pairs(keys >> (_LEVEL_BITS + _ROW_BITS), other, (level / LEVELS).astype(np.float32))


def _keep_nearest_of_many(pairs: Pairs, rank: np.ndarray, k: int) -> Pairs:
    row, other, similarity = pairs
    order = np.lexsort((rank[other], -similarity, row))
    order = order[similarity[order] > 0]
    order = order[starts_of_runs(row[order], other[order])]
    kept = order[ranks_in_runs(starts_of_runs(row[order]), len(order)) < k]
    return Pairs(row[kept], other[kept], similarity[kept])


def narrow(pairs: Pairs) -> Pairs:
    """Return pairs in 12 bytes each, until they are concatenated."""
    return Pairs(pairs.row.astype(np.int32), pairs.other.astype(np.int32), pairs.similarity)


def rows_between(pairs: Pairs, first: int, last: int) -> Pairs:
    """Return a copy of the pairs of the rows from ``first`` to ``last`` - 1, of pairs ordered by row."""
    part = slice(*np.searchsorted(pairs.row, [first, last]))
    return Pairs(*(values[part].copy() for values in pairs))


def order_by_number(number: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """Return the stable order by an int64 number from 0 and, within one, by 40 bits."""
    if number.max(initial=0) < _LARGEST:
        return np.argsort((number << 40) | bits, kind="stable")
    return np.lexsort((bits, number))


def concatenate(several: list[Pairs]) -> Pairs:
    """Return all pairs as one, with int64 rows."""
    none = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    row, other, similarity = (np.concatenate(arrays) for arrays in zip(none, *several, strict=True))
    return Pairs(row, other, similarity)


def neighbours_table(questions: pa.Table, pairs: Pairs) -> pa.Table:
    """Return the NEIGHBOURS of pairs of rows of ``questions``, in their order."""
    ids, answers = questions["question_id"].to_numpy(), questions["answer_id"].to_numpy()
    columns = (ids[pairs.row], answers[pairs.row], ids[pairs.other], answers[pairs.other], pairs.similarity)
    return pa.table(dict(zip(NEIGHBOURS.names, columns, strict=True))).cast(NEIGHBOURS)


def parts_of_questions(neighbours: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows of NEIGHBOURS in parts of about `ROWS_A_PART`, all rows of each question in one."""
    count = 1 + len(neighbours) // ROWS_A_PART
    if count == 1:
        yield neighbours
        return
    part = mix(neighbours["question_id"].to_numpy(), 2) % np.uint64(count)
    for number in range(count):
        yield neighbours.filter(pa.array(part == number))


def merge_nearest(neighbours: pa.Table, k: int) -> pa.Table:
    """Return the nearest neighbours of each question and answer among those that several shards found.

    Args:
        neighbours: NEIGHBOURS in any order, all rows of each question and answer present; rows may repeat.
        k: maximum number of neighbours of a question with its answer, and the maximum number with another answer.

    Returns:
        NEIGHBOURS ordered by ``answer_id``, ``question_id``, falling similarity, ``neighbour_id`` and
        ``neighbour_answer_id``.
    """
    grouped = neighbours.take(pa.array(_question_by_question(neighbours)))
    answer, other_answer = grouped["answer_id"].to_numpy(), grouped["neighbour_answer_id"].to_numpy()
    starts, sizes = runs_of(answer, grouped["question_id"].to_numpy())
    question = np.repeat(np.arange(len(starts)), sizes)
    order = _by_similarity(question, grouped)
    other = grouped["neighbour_id"].to_numpy()[order]
    order = order[starts_of_runs(question[order], other, other_answer[order])]
    same = answer[order] == other_answer[order]
    kept = np.zeros(len(order), bool)
    for side in (same, ~same):
        kept[side] = _first_of_runs(question[order[side]], k)
    return grouped.take(pa.array(order[kept]))


def _first_of_runs(values: np.ndarray, k: int) -> np.ndarray:
    """Return a mask of the first ``k`` of each run of equal values."""
    first = np.ones(len(values), bool)
    first[k:] = values[k:] != values[:-k]  # k of its run are before it
    return first


def _question_by_question(neighbours: pa.Table) -> np.ndarray:
    """Return the order of rows by answer and question; whole runs are moved, as few as shards found neighbours."""
    answer, question = neighbours["answer_id"].to_numpy(), neighbours["question_id"].to_numpy()
    starts, sizes = runs_of(answer, question)
    order = np.lexsort((question[starts], answer[starts]))
    return ranges(starts[order], sizes[order])


def _by_similarity(question: np.ndarray, neighbours: pa.Table) -> np.ndarray:
    """Return the order of rows by question, falling similarity, neighbour and its answer.

    Bits of all but the last are sorted as one integer, and only rows in which these are equal are compared further.
    """
    other, other_answer = neighbours["neighbour_id"].to_numpy(), neighbours["neighbour_answer_id"].to_numpy()
    level = (neighbours["similarity"].to_numpy().astype(np.float64) * LEVELS).astype(np.int64)
    prefix = (other >> (64 - _ROW_BITS)) + 2 ** (_ROW_BITS - 1)
    bits = ((LEVELS - level) << _ROW_BITS) | prefix
    order = order_by_number(question, bits)
    equal = np.flatnonzero((bits[order][1:] == bits[order][:-1]) & (question[order][1:] == question[order][:-1]))
    tied = np.zeros(len(order), bool)
    tied[equal], tied[equal + 1] = True, True
    rows = order[tied]
    order[tied] = rows[np.lexsort((other_answer[rows], other[rows], bits[rows], question[rows]))]
    return order
