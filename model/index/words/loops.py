"""The ranking by BM25 as machine code, in a fifth of numpy's time.

arrays of an index -> compiled_words -> CompiledWords, or None where numpy ranks
terms of queries -> CompiledWords.best -> numbers and sums of the best questions
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from schemas.arrays import Bools, Float32s, Int32s, Int64s
from schemas.compiled import first_call, load_loops

LOOPS: Final = "model.index.words.numba_kernels"

SMALLEST: Final = 20_000
"""Minimum number of questions: a search of 20,000 takes .20 ms by numpy and .08 compiled, of 5,000 .13 and .04."""

_GROUPED: Final = 64
"""A term gets groups if one question of this number has it: 77 terms of Quora's questions, 10 MB. With 32, 128 and 256
a search takes as long, within 5 %."""

_GROUP: Final = 32
"""Questions of a group: one bit each in the lower half of 64 bits, whose upper half counts the entries before."""

_NONE: Final = np.zeros(0, bool)
"""Mask for a ranking of all questions: compiled functions take arrays, not None."""

_KEPT: Final = threading.local()
"""The arrays of sums and of candidates of each thread, 8 bytes for each question of the largest index. The system would
clear the pages of new ones for each query."""


@dataclasses.dataclass(frozen=True)
class CompiledWords:
    """The weights of an index for the compiled ranking, which finds what `Lexical` finds, to the last bit.

    Attributes:
        arrays: arguments of `numba_kernels.rank` from ``starts`` to ``grouped``.
        size: number of questions.
        loop: the compiled function.
    """

    arrays: tuple[npt.NDArray[np.generic], ...]
    size: int
    loop: Callable[..., None]

    def best(
        self, terms: Int64s, bounds: Int64s, k: int, allowed: Bools | None, entries: int, short: int
    ) -> Iterator[tuple[Int32s, Float32s]]:
        """Return numbers and sums of the best questions of each query; arguments are those of `numba_kernels.rank`.

        Other threads can run meanwhile.
        """
        shape = len(bounds) - 1, min(k, self.size)
        numbers, totals, counts = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(shape[0], np.int64)
        mask = _NONE if allowed is None else allowed
        arrays = vars(_KEPT).pop("arrays", None)
        if arrays is None or len(arrays[0]) < self.size:
            arrays = np.zeros(self.size, np.float32), np.empty(self.size + 1, np.int32)
        of_index = arrays[0][: self.size], arrays[1][: self.size + 1]
        self.loop(*self.arrays, mask, terms, bounds, k, entries, short, *of_index, numbers, totals, counts)
        _KEPT.arrays = arrays  # not after an exception: some sums may be left then
        return ((numbers[query, :count], totals[query, :count]) for query, count in enumerate(counts.tolist()))


def compiled_words(
    starts: Int64s, largest: Float32s, questions: Int32s, weights: Float32s, size: int
) -> CompiledWords | None:
    """Return the compiled ranking by the arrays of an index, after a first query, which compiles it.

    None where there is no numba (extra `fast`) or it fails, which gives a warning, and for fewer questions than
    `SMALLEST`.
    """
    if size < SMALLEST or (loops := load_loops(LOOPS, 1, 1)) is None:
        return None
    counts = np.diff(starts)
    frequent = np.flatnonzero(counts * _GROUPED >= size)
    rows = np.full(len(counts), -1, np.int32)
    rows[frequent] = np.arange(len(frequent), dtype=np.int32)
    grouped = np.zeros((len(frequent), -(-size // _GROUP)), np.uint64)
    compiled = CompiledWords((starts, largest, questions, weights, rows, grouped), size, loops.rank)

    def first() -> None:
        for row, term in enumerate(frequent.tolist()):
            loops.write_groups(questions[starts[term] : starts[term + 1]], grouped[row])
        nothing = np.zeros(0, np.int64)
        list(compiled.best(nothing, np.zeros(2, np.int64), 1, None, 1, 1))

    return compiled if first_call(first) else None
