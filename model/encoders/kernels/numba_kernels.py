"""The inner loops of encoding as machine code, made by numba; the same numbers as numpy's, bit for bit.

runs of rows, table -> add_runs -> sums
runs of tokens, projected tokens -> pool_windows -> maxima

Nothing here may be reordered or contracted, so no ``fastmath``. What is compiled is kept beside this file, or in the
user's cache where that cannot be written. A table of half precision comes as the int16 that its bits spell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import overload

from schemas.arrays import Matrix
from schemas.compiled import compile_loop

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Table = npt.NDArray[np.float32] | npt.NDArray[np.int16]

_SCALE = np.float32(2.0**112)
"""Between the exponents' biases of half and single precision, 15 and 127."""

_SIGN_AND_REST = np.int32(-0x70000001)
"""Clears the copies of the sign that a shift to the left by 13 leaves between it and the exponent."""


@compile_loop
def add_runs(ids: Ids, offsets: Offsets, table: Table, sums: Matrix) -> None:
    """Write the sum of the table's rows of each run, added from first to last; zeros for an empty run.

    Args:
        ids: rows of all runs, one after the other.
        offsets: run i is ``ids[offsets[i]:offsets[i + 1]]``.
        table: (rows, numbers).
        sums: (runs, numbers), overwritten.
    """
    for run in range(len(offsets) - 1):
        into, start, end = sums[run], offsets[run], offsets[run + 1]
        if start == end:
            into[:] = 0
        else:
            _copy(table[ids[start]], into)
        for place in range(start + 1, end):
            _add(table[ids[place]], into)


@compile_loop
def pool_windows(ids: Ids, offsets: Offsets, projected: Table, pooled: Matrix) -> None:
    """Write the maximum over the windows of each question.

    Args:
        ids: tokens of all questions, one after the other.
        offsets: question i is ``ids[offsets[i]:offsets[i + 1]]``.
        projected: (tokens, width, channels), what each adds to a window at each place; read once a token, as a whole,
            which takes two thirds of the time of gathering every window.
        pooled: (questions, channels), overwritten.
    """
    width, channels = projected.shape[1], projected.shape[2]
    left = (width - 1) // 2
    windows = np.empty((width, channels), np.float32)  # those that a token can be in, by their number modulo width
    for question in range(len(offsets) - 1):
        largest, start, tokens = pooled[question], offsets[question], offsets[question + 1] - offsets[question]
        largest[:] = -np.inf if tokens else 0  # an empty question has one window, of nothing
        windows[:] = 0  # those that begin before the question have no first place
        for token in range(tokens):
            rows = projected[ids[start + token]]
            for place in range(width):
                window = token - place + left
                if place == 0 and window < tokens:
                    _copy(rows[0], windows[window % width])
                elif 0 <= window < tokens:
                    _add(rows[place], windows[window % width])
            full = token + 1 - width + left
            if full >= 0:
                _raise_to(windows[full % width], largest)
        for window in range(max(tokens + 1 - width + left, 0), tokens):
            _raise_to(windows[window % width], largest)


@njit(inline="always")
def _copy(row: Any, into: Any) -> None:
    for number in range(len(into)):
        into[number] = _widened(row[number])


@njit(inline="always")
def _add(row: Any, into: Any) -> None:
    for number in range(len(into)):
        into[number] += _widened(row[number])


@njit(inline="always")
def _raise_to(window: Any, largest: Any) -> None:
    for channel in range(len(largest)):
        largest[channel] = max(largest[channel], window[channel])


def _widened(number: Any) -> Any:
    """Return the number in single precision; of an int16 the finite number whose bits in half precision it spells."""
    raise NotImplementedError


@overload(_widened, inline="always")
def _widening(number: Any) -> Any:
    """Return the implementation of `_widened` for this type."""

    def same(number: Any) -> Any:
        return number

    def spelled_out(number: Any) -> Any:
        return np.uint32((np.int32(number) << np.int32(13)) & _SIGN_AND_REST).view(np.float32) * _SCALE

    return spelled_out if isinstance(number, types.Integer) else same
