"""Questions with all by which similar ones are found.

MEMBERS or PLACED_QUESTIONS, TokenWeights -> describe -> Described: words, rare stems, sketches
"""

from __future__ import annotations

import dataclasses
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.intermediate import VECTOR
from pipelines.neighbours.embeddings import vector_sketches, vectors_in
from pipelines.neighbours.pairs import distinct_members
from pipelines.neighbours.postings import Effort
from pipelines.neighbours.similarity import Divided, divide
from pipelines.neighbours.sketches import WORDS, sketches
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import ranks_in_runs, starts_of_runs

THOROUGH: Final = 150_000
"""Number of questions of a log up to which the search is more thorough: on facts it costs a quarter more and finds 91 %
instead of 81 % of the ten nearest questions with another answer and a similarity from 0.4."""

ALWAYS: Final = 2
"""Number of rarest stems that are keys however frequent; others are keys if at most `FREQUENT` questions have them.

With three keys 89 % of the ten nearest questions with another answer share one on facts, 84 % on a help desk's log and
more than 99 % on simulated logs; with four 95 %, 92 % and all; with two two thirds, two thirds and 93 %."""

FREQUENT: Final = 1_000
"""The list of a more frequent stem is hardly searched by its window, and is the longest of a question's lists."""

NO_STEM: Final = np.iinfo(np.int64).min
"""In place of a stem that a question does not have."""

_STEMS: Final = 6
"""Number of stems of a question: at most four keys, and the two behind the last key, which order its list."""

_AT_ONCE: Final = 2**17
"""Number of questions whose stems are ordered at a time; bounds memory."""


class Keyed(NamedTuple):
    """The part of `Described` by which questions are placed in shards, without their words, which take most memory."""

    questions: pa.Table
    keys: np.ndarray
    sketch: np.ndarray


@dataclasses.dataclass(frozen=True)
class Described:
    """Questions with their words.

    Attributes:
        questions: (R,) rows with ``answer_id``, ``question_id`` and ``text``, ordered by them.
        divided: their words.
        stems: (R, 6) int64 rarest stems that at least two questions have, rarest first, then `NO_STEM`.
        keys: (R, 3 or 4) those by which the question is joined, or `NO_STEM`.
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

    @property
    def keyed(self) -> Keyed:
        """Return the questions with their keys and sketches alone."""
        return Keyed(self.questions, self.keys, self.sketch)


def describe(rows: pa.Table, weights: TokenWeights) -> Described:
    """Return the words of MEMBERS or PLACED_QUESTIONS, each question once under each answer."""
    made = "sketch" in rows.column_names
    questions = distinct_members(rows, *(("lone", "sketch") if made else ()))
    divided = divide(questions["text"], weights)
    stems = _rarest_stems(divided)
    thorough = weights.questions <= THOROUGH
    keys = stems[:, : 4 if thorough else 3].copy()  # the stems keep frequent ones: they order the lists
    frequent = np.isin(keys[:, ALWAYS:], divided.stems[divided.frequency > FREQUENT])
    keys[:, ALWAYS:][frequent] = NO_STEM
    vectors = vectors_in(questions[VECTOR.name]) if VECTOR.name in questions.column_names else None
    if made:
        sketch = _unpack(questions["sketch"])
    else:
        sketch = sketches(divided) if vectors is None else vector_sketches(vectors)
    # thorough: twice the pairs of sketches and of similarities (`THOROUGH`)
    effort = Effort(128, 24) if thorough else Effort(64, 12)
    return Described(questions, divided, stems, keys, sketch, effort, vectors)


def _rarest_stems(divided: Divided) -> np.ndarray:
    """Return the `_STEMS` rarest stems of each row that at least two questions have, (R, `_STEMS`) int64.

    The rarest come first and a row with fewer is filled with `NO_STEM`.
    """
    forms = len(divided.stems)
    by_rarity = np.lexsort((divided.stems, divided.frequency))
    stem_of_place = divided.stems[by_rarity]
    place = np.empty(forms, np.int64)
    place[by_rarity] = np.arange(forms)
    words, has_others = divided.words, divided.frequency > 1
    rarest = np.full((words.shape[0], _STEMS), NO_STEM, np.int64)
    for start in range(0, len(rarest), _AT_ONCE):
        ends = words.indptr[start : start + _AT_ONCE + 1]
        word = words.indices[ends[0] : ends[-1]]
        row = np.repeat(np.arange(start, start + len(ends) - 1), np.diff(ends))
        shared = has_others[word]
        ordered = np.sort(row[shared] * max(forms, 1) + place[word[shared]])
        row, stem = ordered // max(forms, 1), stem_of_place[ordered % max(forms, 1)]
        new = np.ones(len(row), bool)
        new[1:] = (row[1:] != row[:-1]) | (stem[1:] != stem[:-1])
        row, stem = row[new], stem[new]
        rank = ranks_in_runs(starts_of_runs(row), len(row))
        kept = rank < _STEMS
        rarest[row[kept], rank[kept]] = stem[kept]
    return rarest


def _unpack(packed: pa.ChunkedArray) -> np.ndarray:
    """Return the (`sketches.WORDS`, R) uint64 of sketches as they are shuffled."""
    column = packed.combine_chunks()
    rows = np.frombuffer(column.buffers()[1], np.uint64)[column.offset * WORDS : (column.offset + len(column)) * WORDS]
    return np.ascontiguousarray(rows.reshape(-1, WORDS).T)
