"""Pieces of words: runs of characters by which words of almost the same spelling are alike.

words -> word_pieces -> a list of pieces of each
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.ragged import offsets_of

GRAM: Final = 4
"""Number of characters of a piece of a word."""

_CUT: Final = 64
"""Characters after which a long word loses its beginning: Arrow finds a place by walking there from the first one."""


def word_pieces(words: pa.Array) -> pa.ListArray:
    """Return the pieces of `GRAM` characters of each word, with marked beginning and end, in order.

    A word of one character is one piece of three. In Arrow, since a Python string takes twelve times the memory of its
    characters.

    Args:
        words: (R,) strings without nulls.
    """
    marked = pc.binary_join_element_wise("^", words, "$", "")
    counts = np.maximum(pc.utf8_length(marked).to_numpy() + 1 - GRAM, 1)
    offsets = offsets_of(counts)
    order = np.argsort(-counts, kind="stable")
    longest_first, falling = marked.take(pa.array(order)), -counts[order]
    pieces, places = [pa.array([], pa.string())], np.empty(offsets[-1], np.int64)
    done = cut = 0
    for start in range(int(counts.max(initial=0))):
        count = int(np.searchsorted(falling, -start))  # words with more than `start` pieces
        longest_first = longest_first.slice(0, count)
        if start - cut == _CUT:
            longest_first, cut = pc.utf8_slice_codeunits(longest_first, _CUT), start
        pieces.append(pc.utf8_slice_codeunits(longest_first, start - cut, start - cut + GRAM))
        places[offsets[order[:count]] + start] = np.arange(done, done + count)
        done += count
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.concat_arrays(pieces).take(pa.array(places)))
