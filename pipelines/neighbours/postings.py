"""Candidate pairs among the questions that share a key.

keys, rows -> lists_of_keys -> Lists, sketches -> candidates -> pairs of rows
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from pipelines.neighbours.sketches import distances
from schemas.compiled import load_loops
from schemas.ragged import ranges, runs_of, sort_distinct

_BLOCK: Final = 2**13
"""Number of list entries that are compared with their windows at a time; bounds memory."""

_SIDES: Final = 1024
"""Factor of a distance, so that step and side of a window of less than 512 can be added and order equal distances."""

_FAR: Final = np.iinfo(np.int32).max


class Effort(NamedTuple):
    """Work on a question and key.

    Attributes:
        window: maximum number of questions before and after a question, in the list of a key, with which it is
            compared, less than 512; so the work on a long list is linear in its questions.
        candidates: number of questions with the most similar sketches whose similarity is computed.
    """

    window: int
    candidates: int


class Lists(NamedTuple):
    """Rows that share a key, list after list: (N,) rows, place in its list and size of that list."""

    row: np.ndarray
    place: np.ndarray
    size: np.ndarray


def slices(lists: Lists, entries: int) -> Iterator[Lists]:
    """Yield whole lists with about ``entries`` rows in all, or one list with more."""
    first = np.flatnonzero(lists.place == 0)
    cuts = np.flatnonzero(np.diff(first // entries, prepend=-1))
    bounds = np.append(first[cuts], len(lists.row))
    for start, end in itertools.pairwise(bounds.tolist()):
        yield Lists(*(values[start:end] for values in lists))


def lists_of_keys(keys: np.ndarray, rows: np.ndarray) -> Lists:
    """Return the lists of at least two rows, the longest first, so that blocks of short ones need few steps.

    Args:
        keys: (N,) keys; equal ones are consecutive.
        rows: (N,) row with that key. Rows of a key are in an order in which similar ones are close.
    """
    starts, sizes = runs_of(keys)
    longest = np.argsort(-sizes, kind="stable")
    longest = longest[: np.count_nonzero(sizes > 1)]
    sizes = sizes[longest]
    return Lists(rows[ranges(starts[longest], sizes)], ranges(np.zeros_like(sizes), sizes), np.repeat(sizes, sizes))


def candidates(
    lists: Lists,
    sketch: np.ndarray,
    answers: np.ndarray,
    subjects: np.ndarray,
    effort: Effort,
    *,
    same_answer: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows in a list, for each row and list those with the most similar sketches.

    The pairs of a list depend on its rows and their order alone.

    Args:
        lists: lists of rows that share a key.
        sketch: (`sketches.WORDS`, R) uint64 sketch of each row.
        answers: (R,) answer of each row.
        subjects: (R,) whether candidates are sought for the row; every row can be a candidate.
        effort: window and number of candidates.
        same_answer: whether the rows of a pair have the same answer; otherwise they have different ones.

    Returns:
        (P,) int64 rows and (P,) greater rows of distinct pairs.
    """
    if (loops := load_loops("pipelines.neighbours.numba_kernels", len(lists.row))) is not None:
        row = lists.row
        pairs = np.empty(len(row) * effort.candidates, np.int64)
        of_entries = np.ascontiguousarray(sketch.T[row]), answers[row], subjects[row]
        pairs = pairs[: loops.pick_candidates(*lists, *of_entries, *effort, same_answer, pairs)]
    else:
        parts = [np.zeros(0, np.int64)]
        for start in range(0, len(lists.row), _BLOCK):
            left, right = _of_block(lists, start, sketch, answers, effort, same_answer=same_answer)
            sought = subjects[left]
            left, right = left[sought], right[sought]
            parts.append(np.minimum(left, right) << 32 | np.maximum(left, right))
        pairs = np.concatenate(parts)
    pairs = sort_distinct(pairs)
    return pairs >> 32, pairs & 0xFFFFFFFF


def _of_block(
    lists: Lists, start: int, sketch: np.ndarray, answers: np.ndarray, effort: Effort, *, same_answer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a block of list entries, each with its candidates."""
    steps = int(min(lists.size[start] - 1, effort.window))
    stop = min(start + _BLOCK, len(lists.row))
    begin, end = max(start - steps, 0), min(stop + steps, len(lists.row))
    row, place, size = (values[begin:end] for values in lists)
    bits, answer = sketch[:, row], answers[row]
    ranked = np.full((2 * steps, stop - start), _FAR, np.int32)
    for step in range(1, steps + 1):
        far = distances(bits[:, :-step], bits[:, step:]) * _SIDES + 2 * step
        usable = (place[:-step] + step < size[:-step]) & ((answer[:-step] == answer[step:]) == same_answer)
        far[~usable] = _FAR
        after = far[start - begin : stop - begin]
        ranked[2 * step - 2, : len(after)] = after
        before = far[max(start - begin - step, 0) : stop - begin - step]
        ranked[2 * step - 1, stop - start - len(before) :] = before
    ranked[1::2] += ranked[1::2] < _FAR  # of two as near, the one after the entry comes first
    ranked = np.ascontiguousarray(ranked.T)
    limit = np.full((len(ranked), 1), _FAR - 1, np.int32)
    if 2 * steps > effort.candidates:
        nearest = np.partition(ranked, effort.candidates - 1, axis=1)[:, effort.candidates - 1, None]
        limit = np.minimum(limit, nearest)
    entry, column = np.nonzero(ranked <= limit)
    away = column // 2 + 1
    entry += start - begin
    return row[entry], row[entry + np.where(column % 2, -away, away)]
