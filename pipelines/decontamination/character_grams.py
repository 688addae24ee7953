"""Sets of the character 4-grams of keys.

keys -> gram_sets -> lists of gram hashes; gram_parities -> bits
keys of questions held out -> count_grams -> merge -> TokenWeights
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix
from schemas.ragged import offsets_of, ranges, runs_of, starts_of_runs

GRAM: Final = 4
"""Number of characters of a gram; a shorter key is a gram of its own."""

COUNTED: Final = 2**21
"""Number of counts of grams; grams share one by hash, which decides the questions compared and not the leaks found.

A count takes 16 bytes, so that the side input is at most 32 MB."""

BLOCK_CHARACTERS: Final = 2**20
"""Approximate number of characters whose grams are in memory, 50 bytes each."""

_GRAM_BITS: Final = 48
"""Number of bits of a gram's hash; its count has the 16 bits above, so that one sort orders grams by both."""

_GRAM_MASK: Final = np.uint64(2**_GRAM_BITS - 1)
_MOST: Final = 2 ** (64 - _GRAM_BITS) - 1
"""Largest count in these bits."""

_PAST_END: Final = 0x110000  # no character of Unicode


class Ordered(NamedTuple):
    """The distinct grams of keys of one length, rarest first, (R, W) each.

    Attributes:
        row: (R,) int64 rows of the keys.
        gram: uint64, below 2^48.
        rank: int64, rank of the gram among the distinct ones of its row, or -1 where it repeats the gram before it.
        counted: bool, whether a counted question may have the gram.
    """

    row: np.ndarray
    gram: np.ndarray
    rank: np.ndarray
    counted: np.ndarray


def gram_sets(keys: pa.Array) -> pa.ListArray:
    """Return the set of distinct 4-grams of each key as a list of int64 hashes, ascending.

    The grams of a key are its substrings of `GRAM` characters, white space and punctuation included; a shorter key is
    one gram. Different grams have different hashes but for a chance of 2^-48 a pair.

    Args:
        keys: (R,) strings without nulls.
    """
    sizes = np.zeros(len(keys), np.int64)
    for ordered in _by_length(keys, None):
        sizes[ordered.row] = ordered.rank.max(axis=1) + 1
    offsets = offsets_of(sizes)
    grams = np.zeros(offsets[-1], np.int64)
    for row, gram, rank, _ in _by_length(keys, None):
        distinct = rank >= 0
        grams[(offsets[row][:, None] + rank)[distinct]] = gram[distinct].view(np.int64)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(grams))


def gram_parities(keys: pa.Array, width: int) -> np.ndarray:
    """Return (R, 2^width / 64) uint64 of which bit b is set where a key has an odd number of grams with the number b.

    The number of a gram is the first ``width`` bits of its hash. The parities of two keys differ in at most as many
    bits as their sets in grams.

    Args:
        keys: (R,) strings without nulls.
        width: logarithm of the number of bits, 6 to 48.
    """
    parities = np.zeros((len(keys), 1 << width >> 3), np.uint8)
    for row, gram, rank, _ in _by_length(keys, None):
        key, place = np.nonzero(rank >= 0)
        number = key << width | (gram[key, place] >> np.uint64(_GRAM_BITS - width)).view(np.int64)
        first, counts = runs_of(number)  # grams of a row ascend, so that equal numbers follow each other
        odd = number[first[counts % 2 == 1]]
        bits = np.zeros((len(row), 1 << width), bool)
        bits.ravel()[odd] = True
        parities[row] = np.packbits(bits, axis=1)
    return parities.view(np.uint64)


def count_grams(keys: pa.Array) -> TokenWeights:
    """Return the number of keys with each gram, modulo `COUNTED`; the counts of disjoint sets of keys add up."""
    of_lengths = [_number(ordered.gram[ordered.rank >= 0]) for ordered in _by_length(keys, None)]
    counted, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *of_lengths]), return_counts=True)
    return TokenWeights(counted, counts, len(keys))


class Prefixes(NamedTuple):
    """Grams by which keys are compared, (P,) each; several of a key, or none.

    Attributes:
        row: int64 row of the key.
        gram: int64 hash.
        size: int32 number of distinct grams of the key.
        parity: int64; bit b is set if the key has an odd number of distinct grams whose hash ends in b (6 bits). The
            parities of two keys differ in at most as many bits as their sets in grams.
    """

    row: np.ndarray
    gram: np.ndarray
    size: np.ndarray
    parity: np.ndarray


def prefixes(keys: pa.Array, least: float, counts: TokenWeights) -> Prefixes:
    """Return the grams by which similar keys are compared.

    If the gram sets of two keys have a Jaccard index of at least ``least``, they share a gram of both prefixes (prefix
    filtering, Chaudhuri et al. 2006): sets of n and m grams then share at least ``least`` * max(n, m) of them, and the
    first shared one in the order of all grams is among the first n - ceil(``least`` * n) + 1 of the one and the first
    m - ceil(``least`` * m) + 1 of the other. Grams are ordered by their counts. Grams that no counted key has are left
    out, so pairs are found of which one key was counted.

    Args:
        keys: (R,) strings without nulls.
        least: minimum Jaccard index of similar sets.
        counts: sum of `count_grams`.
    """
    of_gram = np.zeros(COUNTED, np.uint64)
    of_gram[counts.tokens] = np.minimum(counts.frequencies, _MOST)
    parts = [Prefixes(*(np.zeros(0, kind) for kind in (np.int64, np.int64, np.int32, np.int64)))]
    for row, gram, rank, counted in _by_length(keys, of_gram):
        size = (rank.max(axis=1) + 1).astype(np.int32)
        lengths = np.array([n - math.ceil(least * n - 1e-9) + 1 for n in range(gram.shape[1] + 1)])  # 1e-9: rounding
        inside = counted & (rank >= 0) & (rank < lengths[size][:, None])
        bit = np.where(rank >= 0, np.uint64(1) << (gram & np.uint64(63)), np.uint64(0))
        parity = np.bitwise_xor.reduce(bit, axis=1).view(np.int64)
        of_key, place = np.nonzero(inside)
        parts.append(Prefixes(row[of_key], gram[of_key, place].view(np.int64), size[of_key], parity[of_key]))
    return Prefixes(*map(np.concatenate, zip(*parts, strict=True)))


def _by_length(keys: pa.Array, counts: np.ndarray | None) -> Iterator[Ordered]:
    """Yield the grams of all keys, the keys of one length at a time.

    Args:
        keys: (R,) strings without nulls.
        counts: (`COUNTED`,) uint64 number of counted keys with a gram, up to `_MOST`, by which grams are ordered;
            without, they are ordered by their hash.
    """
    lengths = np.maximum(pc.utf8_length(keys).to_numpy(zero_copy_only=False).astype(np.int64), GRAM)
    block = np.cumsum(lengths) // BLOCK_CHARACTERS
    for first in starts_of_runs(block).tolist():
        last = int(np.searchsorted(block, block[first], side="right"))
        part = keys.slice(first, last - first)
        starts = offsets_of(lengths[first:last])[:-1]
        grams = _grams(_characters(part, lengths[first:last]))
        for length in np.unique(lengths[first:last]).tolist():
            row = np.flatnonzero(lengths[first:last] == length)
            gram = grams[starts[row][:, None] + np.arange(length - GRAM + 1)]
            if counts is not None:
                gram |= counts[_number(gram)] << np.uint64(_GRAM_BITS)
            gram.sort(axis=1)
            new = np.ones(gram.shape, bool)
            new[:, 1:] = gram[:, 1:] != gram[:, :-1]
            rank = np.where(new, np.cumsum(new, axis=1) - 1, -1)
            yield Ordered(first + row, gram & _GRAM_MASK, rank, gram > _GRAM_MASK)


def _characters(keys: pa.Array, lengths: np.ndarray) -> np.ndarray:
    """Return the code points of all keys, each key filled up to its length, uint64."""
    text = pc.binary_join(pa.ListArray.from_arrays([0, len(keys)], keys), "")[0].as_py()
    written = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    actual = pc.utf8_length(keys).to_numpy(zero_copy_only=False).astype(np.int64)
    points = np.full(int(lengths.sum()), _PAST_END, np.uint64)
    points[ranges(offsets_of(lengths)[:-1], actual)] = written
    return points


def _grams(points: np.ndarray) -> np.ndarray:
    """Return the 48-bit hash of each gram that begins at a character, uint64; grams may span two keys."""
    if len(points) < GRAM:
        return np.zeros(0, np.uint64)
    # a code point has 21 bits, so 64 hold three of the four
    first = points[:-3] | points[1:-2] << np.uint64(21) | points[2:-1] << np.uint64(42)
    return mix(mix(first.view(np.int64), 0).view(np.int64) + points[3:].view(np.int64), 0) & _GRAM_MASK


def _number(grams: np.ndarray) -> np.ndarray:
    """Return the number of each gram's count, int64 below `COUNTED`."""
    return np.asarray(grams % np.uint64(COUNTED)).view(np.int64)
