"""The highest sums of questions, for loops that numba compiles.

sums, questions -> kth -> the kth highest sum; sums, questions -> write_best -> the best questions in order
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(inline="always")
def kth(sums: Any, questions: Any, k: Any, heap: Any) -> Any:
    """Return the kth highest sum of the questions that were found, which are more than k; a heap is overwritten."""
    for place in range(k):
        heap[place] = sums[questions[place]]
    for start in range(k // 2 - 1, -1, -1):
        _sift(heap, start, k, heap[start])
    for question in questions[k:]:
        total = sums[np.uint32(question)]
        if total > heap[0]:
            _sift(heap, 0, k, total)
    return heap[0]


@njit(inline="always")
def _sift(heap: Any, place: Any, size: Any, total: Any) -> None:
    """Put a sum into a heap whose first one is the least, in place of one that is not greater."""
    while 2 * place + 1 < size:
        below = 2 * place + 1
        below += below + 1 < size and heap[below + 1] < heap[below]
        if heap[below] >= total:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = total


@njit(inline="always")
def _is_after(total: Any, question: Any, other_total: Any, other_question: Any) -> Any:
    """Return whether a question ranks after another one."""
    return total < other_total or (total == other_total and question > other_question)


@njit(inline="always")
def _sift_ranked(totals: Any, numbers: Any, place: Any, size: Any, total: Any, question: Any) -> None:
    """Put a question into a heap whose first one ranks last, in place of one that does not rank before it."""
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and _is_after(totals[below + 1], numbers[below + 1], totals[below], numbers[below]):
            below += 1
        if not _is_after(totals[below], numbers[below], total, question):
            break
        totals[place], numbers[place] = totals[below], numbers[below]
        place = below
    totals[place], numbers[place] = total, question


@njit(inline="always")
def write_best(sums: Any, questions: Any, numbers: Any, totals: Any) -> Any:
    """Write the best of the questions that were found, in order; return their number. All sums become 0."""
    size = min(len(questions), len(numbers))
    for place in range(size):
        numbers[place], totals[place] = questions[place], sums[questions[place]]
    for start in range(size // 2 - 1, -1, -1):
        _sift_ranked(totals, numbers, start, size, totals[start], numbers[start])
    for question in questions[size:]:
        if _is_after(totals[0], numbers[0], sums[question], question):
            _sift_ranked(totals, numbers, 0, size, sums[question], question)
    for last in range(size - 1, 0, -1):
        total, question = totals[last], numbers[last]
        totals[last], numbers[last] = totals[0], numbers[0]
        _sift_ranked(totals, numbers, 0, last, total, question)
    for question in questions:
        sums[question] = 0
    return size
