"""Features of two questions of one answer.

Wording, pairs of rows -> features_in_parts -> the (pairs, F) float32 features of some of them at a time
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from pipelines.linkage.comparison.blocking import ALL_PAIRS, sampled
from pipelines.linkage.comparison.neighbourhood import Neighbours
from pipelines.linkage.comparison.part_weights import Parts
from pipelines.linkage.comparison.tokenization import Wording
from schemas.compiled import load_loops, unsigned
from schemas.ragged import starts_of_runs

NAMES: Final = (
    "stems", "stems_here", "grams", "grams_here", "bigrams", "bigrams_here",  # Jaccard, idf of the log or of the answer
    "containment", "containment_here",  # shared weight / weight of the lighter question
    "shared", "shared_here", "shared_count",
    "unmatched_min", "unmatched_max", "unmatched_here_min", "unmatched_here_max",
    "unmatched_rare_min", "unmatched_rare_max",  # 4-norm: close to the heaviest unmatched stem, such as a name
    "unmatched_grams_min", "unmatched_grams_max", "unmatched_count_min", "unmatched_count_max",
    "numbers_shared", "numbers_differ", "first_differs",
    "length_min", "length_max",
    "rival_min", "rival_max", "margin_min", "margin_max", "rival_grams_min", "rival_grams_max",
    "profile_correlation", "profile_difference", "better_min", "better_max", "repeated_min", "repeated_max",
    "answer_size", "answer_spread", "answer_median", "answer_mean", "answer_best",
    "events_min", "events_max",
)  # fmt: skip
"""Names of the columns; ``_min`` and ``_max`` are the minimum and maximum of the two questions.

``rival`` is the similarity of a question to its best other partner, ``margin`` that of the pair minus ``rival``."""

_PLACES: Final = {name: place for place, name in enumerate(NAMES)}

MOST_SIZE: Final = 4
"""Maximum number of questions in the feature ``answer_size``; larger answers have the same value.

Given the true size, a model learns the sizes of the clusters it was fitted to instead of the similarities."""

AT_ONCE: Final = 1 << 20
"""Number of pairs whose features are in memory together; those of all pairs of `ALL_PAIRS` questions are."""

CHUNK: Final = 1 << 17
"""Number of pairs whose features are computed together; bounds memory."""

CHUNK_PARTS: Final = 1 << 24
"""Approximate number of parts whose sums scipy computes together, 5 bytes each; a long question has thousands."""


def features_in_parts(
    words: Wording,
    left: np.ndarray,
    right: np.ndarray,
    *,
    answer_of_row: np.ndarray,
    events: np.ndarray,
    further: int = 0,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the features of pairs of questions, `AT_ONCE` pairs at a time.

    Args:
        words: parts of R rows.
        left: (P,) rows, ordered by answer.
        right: (P,) rows of the same answers.
        answer_of_row: (R,) number of each row's answer, ascending.
        events: (R,) number of events of each question with this answer.
        further: number of further columns, which the caller fills.

    Yields:
        consecutive pairs, and their (pairs, len(NAMES) + further) float32 features, column after column in memory.
    """
    common = _common(words, left, right, further) if len(left) <= AT_ONCE else None
    alike, grams = _likeness(words, left, right) if common is None else (common.likeness, common["grams"])
    near, near_by_grams = (Neighbours(left, right, values, answer_of_row) for values in (alike, grams))
    of_answers = _of_answers(words, alike, left, answer_of_row)
    seen = np.log1p(events)
    for start in range(0, len(left), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        left_rows, right_rows = left[part], right[part]
        columns = common or _common(words, left_rows, right_rows, further)
        rivals = near.rivals(part)
        columns.put(_both("rival", *rivals))
        columns.put(_both("margin", *(alike[part] - rival for rival in rivals)))
        columns.put(_both("rival_grams", *near_by_grams.rivals(part)))
        columns["profile_correlation"], columns["profile_difference"] = near.profiles(part)
        columns.put(_both("better", *(np.log1p(better) for better in near.standing(part))))
        columns.put({name: values[answer_of_row[left_rows]] for name, values in of_answers.items()})
        columns.put(_both("events", seen[left_rows], seen[right_rows]))
        yield part, columns.table.T


class _Columns:
    """Columns of a table of features by name; each is written when it is known, so that memory has none of them twice.

    Attributes:
        table: (len(NAMES) + further, P) float32.
    """

    def __init__(self, table: np.ndarray) -> None:
        self.table = table

    @classmethod
    def of(cls, pairs: int, further: int) -> _Columns:
        """Return columns without values."""
        return cls(np.empty((len(NAMES) + further, pairs), np.float32))

    @property
    def likeness(self) -> np.ndarray:
        """Return the similarity by which a pair is compared with the others of its answer."""
        return _mean_of(self["stems_here"], self["grams_here"])

    def __getitem__(self, name: str) -> np.ndarray:
        column: np.ndarray = self.table[_PLACES[name]]
        return column

    def __setitem__(self, name: str, column: np.ndarray) -> None:
        self.table[_PLACES[name]] = column

    def put(self, columns: dict[str, np.ndarray]) -> None:
        """Write some columns."""
        for name, column in columns.items():
            self[name] = column


def _common(words: Wording, left: np.ndarray, right: np.ndarray, further: int) -> _Columns:
    """Return columns of which those have values that depend on the two questions alone."""
    columns = _Columns.of(len(left), further)
    for start in range(0, len(left), CHUNK):
        part = slice(start, start + CHUNK)
        _put_common(_Columns(columns.table[:, part]), words, left[part], right[part])
    return columns


def _put_common(columns: _Columns, words: Wording, left: np.ndarray, right: np.ndarray) -> None:
    """Write the features that depend on the two questions alone, not on the other pairs of the answer."""
    stems, grams, bigrams = words.stems, words.grams, words.bigrams
    same = shared(stems, left, right, words.stem_values)
    same_grams = shared(grams, left, right)
    numbers, have_repeated, have_rare = words.stem_sums
    left_lengths, right_lengths = (words.stem_lengths.take(rows, axis=0) for rows in (left, right))
    columns["stems"], columns["stems_here"] = jaccard(stems, same, left, right)
    columns["grams"], columns["grams_here"] = jaccard(grams, same_grams, left, right)
    columns["bigrams"], columns["bigrams_here"] = jaccard(bigrams, shared(bigrams, left, right), left, right)
    columns["containment"] = same[:, 0] / np.maximum(np.minimum(left_lengths, right_lengths)[:, 0], 1e-9)
    columns["containment_here"] = same[:, 1] / np.maximum(np.minimum(left_lengths, right_lengths)[:, 1], 1e-9)
    columns["shared"], columns["shared_here"], columns["shared_count"] = same[:, 0], same[:, 2], same[:, 3]
    columns.put(_both("unmatched", left_lengths[:, 0] - same[:, 0], right_lengths[:, 0] - same[:, 0]))
    columns.put(_both("unmatched_here", left_lengths[:, 1] - same[:, 1], right_lengths[:, 1] - same[:, 1]))
    rare = (np.maximum(have_rare[rows] - same[:, 6], 0) ** 0.25 for rows in (left, right))
    columns.put(_both("unmatched_rare", *rare))
    columns.put(_both("unmatched_count", left_lengths[:, 2] - same[:, 3], right_lengths[:, 2] - same[:, 3]))
    columns.put(_both("unmatched_grams", *(grams.length[rows, 1] - same_grams[:, 1] for rows in (left, right))))
    columns.put(_both("repeated", *(have_repeated[rows] - same[:, 5] for rows in (left, right))))
    columns["numbers_shared"] = same[:, 4]
    columns["numbers_differ"] = numbers[left] + numbers[right] - 2 * same[:, 4]
    columns["first_differs"] = words.first[left] != words.first[right]
    columns.put(_both("length", left_lengths[:, 2], right_lengths[:, 2]))


def shared(parts: Parts, left: np.ndarray, right: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
    """Return sums of columns of ``values``, by default those of `Parts.values`, over the parts that both rows have.

    Args:
        parts: of R rows.
        left: (P,) rows, at most `CHUNK` of them.
        right: (P,) other rows.
        values: (parts, S) values of each part.
    """
    values = parts.values if values is None else values
    sums = np.empty((len(left), values.shape[1]), np.float32, order="F")
    if (loops := load_loops("pipelines.neighbours.numba_kernels", len(left))) is not None:
        loops.add_shared(parts.rows.indptr, unsigned(parts.rows.indices), values, left, right, sums)
        return sums
    sizes = np.diff(parts.rows.indptr)
    starts = starts_of_runs(np.cumsum(sizes[left] + sizes[right], dtype=np.int64) // CHUNK_PARTS)
    for start, end in zip(starts, np.append(starts, len(left))[1:], strict=True):
        sums[start:end] = parts.rows[left[start:end]].multiply(parts.rows[right[start:end]]) @ values
    return sums


def jaccard(parts: Parts, same: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted Jaccard indexes of pairs, one with the weights of the log and one with those of the answer."""
    union = (parts.lengths.take(left, axis=0) + parts.lengths.take(right, axis=0)).astype(np.float32)
    here = union[:, 1] - 2 * same[:, 1] + same[:, 2]
    return same[:, 0] / np.maximum(union[:, 0] - same[:, 0], 1e-9), same[:, 2] / np.maximum(here, 1e-9)


def _of_answers(
    words: Wording, alike: np.ndarray, left: np.ndarray, answer_of_row: np.ndarray
) -> dict[str, np.ndarray]:
    """Return for each answer the number of its questions and statistics of their similarities."""
    sizes, answers = np.bincount(answer_of_row), answer_of_row[left]
    sampled_left, sampled_right = sampled(sizes)
    in_full = sizes[answers] <= ALL_PAIRS
    typical = np.concatenate([alike[in_full], _likeness(words, sampled_left, sampled_right)[0]])
    of_typical = np.concatenate([answers[in_full], answer_of_row[sampled_left]])
    best = np.zeros(len(sizes), alike.dtype)
    np.maximum.at(best, answers, alike)
    spread, median, mean = distribution(typical, of_typical, answers=len(sizes))
    return {
        "answer_size": np.log(np.clip(sizes, 1, MOST_SIZE)),
        "answer_spread": spread,
        "answer_median": median,
        "answer_mean": mean,
        "answer_best": best,
    }


def distribution(alike: np.ndarray, answer: np.ndarray, *, answers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the standard deviation, median and mean of the similarities of each answer, 0 if it has none.

    Args:
        alike: (P,) float32 similarities, at least 0.
        answer: (P,) number of the answer.
        answers: number of answers.
    """
    # one integer for answer and similarity: bits of a positive float32 rise with it
    ordered = np.sort(answer << 32 | alike.view(np.uint32))
    ranked = ordered.astype(np.uint32).view(np.float32)
    counts = np.bincount(answer, minlength=answers)
    middle = np.minimum(np.cumsum(counts) - counts + counts // 2, max(len(ranked) - 1, 0))
    mean = np.bincount(answer, alike, answers) / np.maximum(counts, 1)
    square = np.bincount(answer, alike * alike, answers) / np.maximum(counts, 1)
    median = np.where(counts > 0, ranked[middle] if len(ranked) else 0.0, 0.0)
    return np.sqrt(np.maximum(square - mean * mean, 0)), median, mean


def _likeness(words: Wording, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (2, P) float32 `_Columns.likeness` and column ``grams`` of pairs, without the other columns."""
    values = np.empty((2, len(left)), np.float32)
    for start in range(0, len(left), CHUNK):
        one, two = (rows[start : start + CHUNK] for rows in (left, right))
        stems, grams = (jaccard(parts, shared(parts, one, two), one, two) for parts in (words.stems, words.grams))
        values[:, start : start + CHUNK] = _mean_of(stems[1], grams[1]), grams[0]
    return values


def _mean_of(stems: np.ndarray, grams: np.ndarray) -> np.ndarray:
    mean: np.ndarray = (stems + grams) / 2
    return mean


def _both(name: str, one: np.ndarray, two: np.ndarray) -> dict[str, np.ndarray]:
    """Return minimum and maximum of the values of two questions, which do not depend on the questions' order."""
    return {f"{name}_min": np.minimum(one, two), f"{name}_max": np.maximum(one, two)}
