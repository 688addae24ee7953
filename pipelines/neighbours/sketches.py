"""Sketches of questions: bits of which the more are equal, the more similar two questions are.

Divided -> sketches -> (WORDS, R) 64-bit words -> distances
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from scipy import sparse

from pipelines.neighbours.similarity import Divided
from schemas.hashing import mix
from schemas.text import hash64

WORDS: Final = 4
"""64-bit words of a sketch; 256 bits estimate a cosine of 0.3 within 0.1."""

BITS: Final = 64 * WORDS
"""Bits of a sketch, and the greatest distance of two."""

FEW_WORDS: Final = 2**17
"""Number of distinct words whose projections are in memory together, a kB each; of more, those of a block of rows."""

_BLOCK: Final = 2**14
"""Number of rows whose projections are in memory, `BITS` float32 each: 16 MB."""

_PATTERNS: Final = 4096
"""Number of different projections of a part, which its column selects."""


def sketches(divided: Divided) -> np.ndarray:
    """Return the signs of `BITS` random projections of each row (Charikar 2002), (`WORDS`, R) uint64.

    The share of bits in which two sketches differ is about the angle of the rows over pi. A sketch depends on its row
    alone.
    """
    parts = divided.parts
    of_pattern = sparse.csr_array(
        (parts.data.astype(np.float32), (divided.columns % _PATTERNS)[parts.indices], parts.indptr),
        shape=(parts.shape[0], _PATTERNS),
    )
    words = divided.words.astype(np.float32)
    few = of_pattern @ random_signs(_PATTERNS, "sketch") if words.shape[1] <= FEW_WORDS else None
    bits = np.empty((WORDS, words.shape[0]), np.uint64)
    for start in range(0, words.shape[0], _BLOCK):
        block = words[start : start + _BLOCK]
        projected = _of_many_words(block, of_pattern) if few is None else block @ few
        bits[:, start : start + _BLOCK] = sign_bits(projected)
    return bits


def _of_many_words(rows: sparse.csr_array, of_pattern: sparse.csr_array) -> np.ndarray:
    """Return the projections of rows; in memory are those of their words alone."""
    used, place = np.unique(rows.indices, return_inverse=True)
    of_used = sparse.csr_array((rows.data, place.astype(np.int32), rows.indptr), (rows.shape[0], len(used)))
    projected: np.ndarray = of_used @ (of_pattern[used] @ random_signs(_PATTERNS, "sketch"))
    return projected


def distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the number of bits in which two (`WORDS`, N) arrays of sketches differ, column by column, (N,) int32."""
    different = np.zeros(one.shape[1], np.int32)
    for word in range(WORDS):  # four passes over rows of one array are faster than a sum over a short axis
        different += np.bitwise_count(one[word] ^ other[word])
    return different


@functools.lru_cache(maxsize=3)
def random_signs(rows: int, salt: str) -> np.ndarray:
    """Return (rows, `BITS`) float32 random projections, 1 or -1, the same on every machine."""
    words = mix(np.arange(rows * WORDS), hash64(salt))
    bits = np.unpackbits(words.astype("<u8").view(np.uint8)).reshape(rows, BITS)
    return bits.astype(np.float32) * 2 - 1


def sign_bits(projected: np.ndarray) -> np.ndarray:
    """Return the signs of the (R, `BITS`) projections of some rows, (`WORDS`, R) uint64."""
    return np.packbits(projected > 0, axis=1).view(np.uint64).T
