"""Runs of ids as matrices: runs of one length are a rectangle, so nothing is padded and no mask is needed.

TokenIds -> rectangles -> run numbers and a matrix of their ids, again and again
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from model.text.vocabulary import TokenIds
from schemas.arrays import Int32s


def rectangles(tokens: TokenIds, *, max_tokens: int) -> Iterator[tuple[npt.NDArray[np.intp], Int32s]]:
    """Yield question numbers and their ids as a matrix, equal lengths together, about ``max_tokens`` at a time."""
    order = np.argsort(tokens.lengths, kind="stable")
    lengths = tokens.lengths[order]
    starts = np.flatnonzero(np.diff(lengths, prepend=-1))
    for start, end in itertools.pairwise([*starts, len(order)]):
        length = int(lengths[start])
        step = max(max_tokens // max(length, 1), 1)
        for first in range(start, end, step):
            questions = order[first : min(first + step, end)]
            yield questions, tokens.ids[tokens.offsets[questions, None] + np.arange(length)]
