"""The ranking by BM25 as machine code, made by numba; the same results as numpy's in `model.index.lexical`.

list of a frequent term -> write_groups -> groups; lists of terms, terms of queries -> rank -> questions, sums

Every sum adds the same numbers in the same order, and the same questions leave at the same terms, so no ``fastmath``.
To read a list or to look up questions in it makes no difference to sums, so that is chosen otherwise than with numpy.
Machine code that was kept is not compiled again when only `selection.py` or `schemas/compiled.py` has changed: touch
this file too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from model.index.words.selection import kth, write_best
from schemas.arrays import Bools, Float32s, Int32s, Int64s
from schemas.compiled import compile_loop

Groups = npt.NDArray[np.uint64]

_READ = 8
"""Entries of a list for each question that is looked up in it, below which reading the whole list is faster."""

_READ_OF_GROUPED = 2
"""The same for a list with groups."""

_TOGETHER = 256
"""Questions that are looked up in groups before the weights of those with the term are read."""


@njit(inline="always")
def _ones(bits: Any) -> Any:
    """Return the number of ones among 64 bits."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)  # ones of two bits each, then of four, of a byte
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compile_loop
def write_groups(questions: Int32s, groups: Groups) -> None:
    """Write the questions with a term in groups of 32 questions.

    Args:
        questions: ascending.
        groups: zeros, overwritten: the lower half has a bit for each question of the group, the upper half is the
            number of entries of the list before the group.
    """
    for entry in range(len(questions)):
        question = np.uint32(questions[entry])
        groups[question >> 5] |= np.uint64(1) << np.uint64(question & 31)
    before = np.uint64(0)
    for group in range(len(groups)):
        bits = groups[group]
        groups[group] = before << np.uint64(32) | bits
        before += _ones(bits)


@njit(inline="always")
def _gains(largest: Any, terms: Any) -> Any:
    """Return how much a question can gain by each term and those after it."""
    left, total = np.empty(len(terms)), 0.0
    for number in range(len(terms) - 1, -1, -1):
        total += np.float64(largest[terms[number]])
        left[number] = total * (1 + 1e-6)  # sums of 32 bits may be rounded up, by 6e-8 an addition
    return left


@njit(inline="always")
def _are_above(limit: Any, sums: Any, questions: Any, k: Any) -> Any:
    """Return whether k of the questions that were found have sums above a limit."""
    above = 0
    for question in questions:
        above += np.float64(sums[np.uint32(question)]) > limit
        if above == k:
            return True
    return False


@njit(inline="always")
def _add_with_new(with_term: Any, weights: Any, allowed: Any, sums: Any, candidates: Any, count: Any) -> Any:
    """Add the weights of a term; write the questions without a sum after ``count`` others, return the new number."""
    for entry in range(len(with_term)):
        question = np.uint32(with_term[entry])
        if len(allowed) and not allowed[question]:
            continue
        total = sums[question]
        candidates[count] = question
        count += total == 0
        sums[question] = total + weights[entry]
    return count


@njit(inline="always")
def _add(with_term: Any, weights: Any, sums: Any) -> None:
    """Add the weights of a term to the sums that are not 0."""
    for entry in range(len(with_term)):
        question = np.uint32(with_term[entry])
        if sums[question] > 0:
            sums[question] += weights[entry]


@njit(inline="always")
def _look_up(with_term: Any, weights: Any, sums: Any, questions: Any) -> None:
    """Add the weights of a term to the sums of the questions that were found."""
    for question in questions:
        entry = np.searchsorted(with_term, question)
        if entry < len(with_term) and with_term[entry] == question:
            sums[question] += weights[entry]


@njit(inline="always")
def _look_up_in_groups(groups: Any, weights: Any, sums: Any, questions: Any, chosen: Any) -> None:
    """Do as `_look_up`, by the groups of a term; ``chosen`` is overwritten."""
    for start in range(0, len(questions), len(chosen)):
        count = np.int64(0)
        for number in questions[start : start + len(chosen)]:
            question = np.uint32(number)
            chosen[count] = question
            count += np.int64(groups[question >> 5] >> np.uint64(question & 31) & np.uint64(1))  # without a branch
        for question in chosen[:count]:
            group = groups[question >> 5]
            before = group & ((np.uint64(1) << np.uint64(question & 31)) - np.uint64(1))
            sums[question] += weights[(group >> np.uint64(32)) + _ones(before)]


@njit(inline="always")
def _keep(limit: Any, left: Any, sums: Any, questions: Any) -> Any:
    """Move the questions that reach a limit if they gain ``left`` to the front, return their number.

    The sums of the others become 0.
    """
    kept = 0
    for place in range(len(questions)):
        question = np.uint32(questions[place])
        total = sums[question]
        reaches = np.float64(total) + left >= limit
        questions[kept] = question
        sums[question] = total if reaches else np.float32(0)
        kept += reaches
    return kept


@compile_loop
def rank(
    starts: Int64s, largest: Float32s, questions: Int32s, weights: Float32s, rows: Int32s, grouped: Groups,
    allowed: Bools, terms: Int64s, bounds: Int64s, k: int, entries: int, short: int,
    sums: Float32s, candidates: Int32s, numbers: Int32s, totals: Float32s, counts: Int64s,
) -> None:  # fmt: skip
    """Write the best k questions of each query, as `model.index.lexical.Lexical` finds them.

    Args:
        starts: (V + 1,) where the questions of each term begin.
        largest: (V,) largest weight of each term.
        questions: (P,) numbers of the questions with a term, ascending for each term.
        weights: (P,) weight of the term in that question, above 0.
        rows: (V,) row of each term in ``grouped``, -1 of those without one.
        grouped: groups of frequent terms, made by `write_groups`.
        allowed: (N,) mask of the questions that are ranked; empty: all are.
        terms: of all queries, the rarest of each first.
        bounds: (n + 1,) where the terms of each query begin.
        k: maximum number of questions.
        entries: `model.index.lexical.ENTRIES`.
        short: `model.index.lexical.SHORT`, which decides where questions leave.
        sums: (N,) zeros, and zeros again afterwards.
        candidates: (N + 1,), overwritten.
        numbers: (n, k, or N if that is less) best questions, overwritten.
        totals: sums of these, of the same shape, overwritten.
        counts: (n,) how many there are, overwritten.
    """
    chosen = np.empty(_TOGETHER, np.uint32)
    for query in range(len(counts)):
        of_query = terms[bounds[query] : bounds[query + 1]]
        left = _gains(largest, of_query)
        count = number = 0
        for term in of_query:
            first, last = starts[term], starts[term + 1]
            if k <= count and count + last - first > entries:
                break
            if k <= count < last - first and _are_above(left[number], sums, candidates[:count], k):
                break
            count = _add_with_new(questions[first:last], weights[first:last], allowed, sums, candidates, count)
            number += 1
        for later in range(number, len(of_query)):
            term = of_query[later]
            first, last = starts[term], starts[term + 1]
            if last - first >= short * count and count > k:
                limit = np.float64(kth(sums, candidates[:count], k, totals[query]))
                count = _keep(limit, left[later], sums, candidates[:count])
            looked_up, row = candidates[:count], rows[term]
            if last - first < (_READ if row < 0 else _READ_OF_GROUPED) * count:
                _add(questions[first:last], weights[first:last], sums)
            elif row < 0:
                _look_up(questions[first:last], weights[first:last], sums, looked_up)
            else:
                _look_up_in_groups(grouped[row], weights[first:last], sums, looked_up, chosen)
        counts[query] = write_best(sums, candidates[:count], numbers[query], totals[query])
