"""Join of similar questions on their rarest words.

MEMBERS of whole answers -> describe -> nearest_of_answers -> NEIGHBOURS with the same answer
                            describe -> place_in_shards -> MEETINGS -> compare_meetings -> NEIGHBOURS with another one
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import pyarrow as pa

from pipelines.intermediate import MEETINGS, NEIGHBOURS, VECTOR
from pipelines.neighbours.embeddings import cosines, vector_sketches, vectors_in
from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.pairs import (
    Pairs,
    concatenate,
    distinct,
    distinct_members,
    keep_nearest,
    neighbours_table,
    order_by_number,
)
from pipelines.neighbours.postings import Effort, Lists, candidates, lists_of_keys, slices
from pipelines.neighbours.similarity import Divided, divide, similarities, vectors_of
from pipelines.neighbours.sketches import WORDS, sketches
from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix
from schemas.ragged import ranks_in_runs, sizes_of_runs, starts_of_runs

THOROUGH: Final = 150_000
"""Number of questions of a log up to which the search is more thorough: on facts it costs a quarter more and finds 91 %
instead of 81 % of the ten nearest questions with another answer and a similarity from 0.4."""


ALWAYS: Final = 2
"""Number of rarest stems that are keys however frequent; others are keys if at most `FREQUENT` questions have them.

With three keys 89 % of the ten nearest questions with another answer share one on facts, 84 % on a help desk's log and
more than 99 % on simulated logs; with four 95 %, 92 % and all; with two two thirds, two thirds and 93 %."""

FREQUENT: Final = 1_000
"""The list of a more frequent stem is hardly searched by its window, and is the longest of a question's lists."""

FEW: Final = 5_000
"""Number of questions of a log up to which all of them are compared."""


WHOLE: Final = 1_000
"""Number of questions of an answer up to which they are in one list, beside those of their stems."""

AT_A_TIME: Final = 2**19
"""Approximate number of list entries whose candidates are in memory: a frequent answer has any number."""

_STEMS: Final = 6
_NO_STEM: Final = np.iinfo(np.int64).min


@dataclasses.dataclass(frozen=True)
class Described:
    """Questions with their words.

    Attributes:
        questions: (R,) rows with ``answer_id``, ``question_id`` and ``text``, ordered by them.
        divided: their words.
        stems: (R, 6) int64 rarest stems that at least two questions have, rarest first, then `_NO_STEM`.
        keys: (R, 3 or 4) those by which the question is joined, or `_NO_STEM`.
        sketch: (`sketches.WORDS`, R) uint64.
        effort: window and number of candidates of each key.
        vectors: (R, D) int8 of an encoder, by which questions are compared; None: their words are.
    """

    questions: pa.Table
    divided: Divided
    stems: np.ndarray
    keys: np.ndarray
    sketch: np.ndarray
    effort: Effort
    vectors: np.ndarray | None = None


def describe(rows: pa.Table, weights: TokenWeights) -> Described:
    """Return the words of MEMBERS or MEETINGS, each question once under each answer."""
    made = "sketch" in rows.column_names
    questions = distinct_members(rows, *(("lone", "sketch") if made else ()))
    divided = divide(questions["text"], weights)
    stems = _rarest_stems(divided)
    thorough = weights.questions <= THOROUGH
    keys = stems[:, : 4 if thorough else 3].copy()
    frequent = np.isin(keys[:, ALWAYS:], divided.stems[divided.frequency > FREQUENT])
    keys[:, ALWAYS:][frequent] = _NO_STEM
    vectors = vectors_in(questions[VECTOR.name]) if VECTOR.name in questions.column_names else None
    if made:
        sketch = _unpack(questions["sketch"])
    else:
        sketch = sketches(divided) if vectors is None else vector_sketches(vectors)
    effort = Effort(128, 24) if thorough else Effort(64, 12)
    return Described(questions, divided, stems, keys, sketch, effort, vectors)


def place_in_shards(described: Described, weights: TokenWeights, *, shards: int) -> pa.Table:
    """Return the MEETINGS of questions: one row for each shard in which a question is compared.

    Args:
        described: MEMBERS, all rows of each answer present.
        weights: weights of the words of the log.
        shards: number of shards by ``meeting``.
    """
    keys = described.keys
    if weights.questions <= FEW:
        keys = np.zeros((len(keys), 1), np.int64)
    shard = np.sort(np.where(keys == _NO_STEM, shards, keys % shards), axis=1)
    shard[:, 1:][shard[:, 1:] == shard[:, :-1]] = shards
    row, column = np.nonzero(shard < shards)
    lone = _answer_sizes(described.questions) == 1
    packed = pa.FixedSizeBinaryArray.from_buffers(
        MEETINGS.field("sketch").type, len(lone), [None, pa.py_buffer(np.ascontiguousarray(described.sketch.T))]
    )
    known = described.questions.append_column("lone", pa.array(lone)).append_column("sketch", packed)
    placed = known.take(pa.array(row))
    schema = MEETINGS if described.vectors is None else MEETINGS.append(VECTOR)
    return placed.append_column("meeting", pa.array(shard[row, column])).select(schema.names).cast(schema)


def compare_meetings(meetings: pa.Table, weights: TokenWeights, *, k: int, shards: int) -> pa.Table:
    """Return the NEIGHBOURS with another answer of the questions of a shard, except the only ones of their answer.

    Args:
        meetings: MEETINGS of one shard.
        weights: weights of the words of the log.
        k: maximum number of neighbours of a question; in a log of at most `FEW` questions as many with the same answer.
        shards: number of shards by ``meeting``.
    """
    if weights.questions <= FEW:
        return exact_nearest(meetings, weights, k=k)
    described = describe(meetings, weights)
    keys = described.keys
    here = (keys != _NO_STEM) & (keys % shards == meetings["meeting"][0].as_py())
    subjects = ~described.questions["lone"].to_numpy()
    return _nearest(described, _lists(keys, described.stems, here), subjects, k, same_answer=False)


def nearest_of_answers(described: Described, weights: TokenWeights, *, k: int) -> pa.Table:
    """Return the NEIGHBOURS with the same answer of each question; none in a log of at most `FEW` questions.

    In a small answer each question is compared with all others, in a large one with those that share a rare stem.

    Args:
        described: MEMBERS, all rows of each answer present.
        weights: weights of the words of the log.
        k: maximum number of neighbours of a question.
    """
    if weights.questions <= FEW:
        return NEIGHBOURS.empty_table()
    size, stems = _answer_sizes(described.questions)[:, None], described.keys
    answers = described.questions["answer_id"].to_numpy()[:, None]
    keys = np.concatenate([answers, mix(stems, 0).view(np.int64) + answers], axis=1)
    here = np.concatenate(
        [(size > 1) & (size <= WHOLE), (stems != _NO_STEM) & (size > described.effort.window)], axis=1
    )
    lists = _lists(keys, np.concatenate([stems[:, :1], described.stems], axis=1), here)
    return _nearest(described, lists, size[:, 0] > 1, k, same_answer=True)


def _nearest(described: Described, lists: Lists, subjects: np.ndarray, k: int, *, same_answer: bool) -> pa.Table:
    """Return the NEIGHBOURS of the subjects among those that share a list with them."""
    questions, divided = described.questions, described.divided
    ids, answers = questions["question_id"].to_numpy(), questions["answer_id"].to_numpy()
    rank = np.argsort(np.lexsort((answers, ids)))
    found = []
    for some in slices(lists, AT_A_TIME):
        one, other = candidates(some, described.sketch, answers, subjects, described.effort, same_answer=same_answer)
        different = ids[one] != ids[other]
        if not different.all():
            one, other = one[different], other[different]
        if described.vectors is None:
            listed = np.zeros(len(ids), bool)
            listed[some.row] = True
            place = np.cumsum(listed) - 1
            similarity = similarities(vectors_of(divided, np.flatnonzero(listed)), place[one], place[other])
        else:
            similarity = cosines(described.vectors, one, other)
        sides = [Pairs(one, other, similarity), Pairs(other, one, similarity)]
        sought = [Pairs(*(column[subjects[side.row]] for column in side)) for side in sides]
        found.append(keep_nearest(concatenate(sought), rank, k))
    nearest = concatenate(found)
    if len(found) > 1:
        nearest = keep_nearest(distinct(nearest), rank, k)
    return neighbours_table(questions, nearest)


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
    near = [following[row, np.minimum(column + step, last)].view(np.uint64) >> np.uint64(44) for step in (1, 2)]
    order = order_by_number(code, (near[0].astype(np.int64) << 20) | near[1].astype(np.int64))
    return lists_of_keys(code[order], row[order])


def _rarest_stems(divided: Divided) -> np.ndarray:
    """Return the `_STEMS` rarest stems of each row that at least two questions have, (R, `_STEMS`) int64.

    The rarest come first and a row with fewer is filled with `_NO_STEM`.
    """
    forms = len(divided.stems)
    by_rarity = np.lexsort((divided.stems, divided.frequency))
    stem_of_place = divided.stems[by_rarity]
    place = np.empty(forms, np.int64)
    place[by_rarity] = np.arange(forms)
    words = divided.words
    row = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))
    shared = (divided.frequency > 1)[words.indices]
    ordered = np.sort(row[shared] * max(forms, 1) + place[words.indices[shared]])
    row, stem = ordered // max(forms, 1), stem_of_place[ordered % max(forms, 1)]
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (stem[1:] != stem[:-1])
    row, stem = row[new], stem[new]
    rank = ranks_in_runs(starts_of_runs(row), len(row))
    rarest = np.full((words.shape[0], _STEMS), _NO_STEM, np.int64)
    kept = rank < _STEMS
    rarest[row[kept], rank[kept]] = stem[kept]
    return rarest


def _unpack(packed: pa.ChunkedArray) -> np.ndarray:
    """Return the (`sketches.WORDS`, R) uint64 of sketches as they are shuffled."""
    column = packed.combine_chunks()
    rows = np.frombuffer(column.buffers()[1], np.uint64)[column.offset * WORDS : (column.offset + len(column)) * WORDS]
    return np.ascontiguousarray(rows.reshape(-1, WORDS).T)


def _answer_sizes(questions: pa.Table) -> np.ndarray:
    """Return for each row the number of rows with its answer."""
    starts = starts_of_runs(questions["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(questions))
    return np.repeat(sizes, sizes)
