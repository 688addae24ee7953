"""Exact Jaccard similarity of sets of words, block by block.

SETS of one ``shard`` -> similar_pairs -> row, partner, Jaccard index
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.decontamination.partners import Partners
from pipelines.decontamination.places import contested
from schemas.compiled import load_loops, unsigned
from schemas.ragged import offsets_of, ranges

BLOCK_WORDS: Final = 5_000_000
"""Approximate number of words of the pairs that are compared at a time, one set of each counted: about 200 MB."""


class Pairs(NamedTuple):
    """Similar pairs of rows, and the number of pairs that were compared to find them.

    Attributes:
        row: (P,) int64.
        partner: (P,) int64, rows of an earlier split.
        jaccard: (P,) float64.
        compared: number of pairs compared word by word.
    """

    row: np.ndarray
    partner: np.ndarray
    jaccard: np.ndarray
    compared: int


@functools.cache
def differences(size: int, least: float) -> Mapping[int, int]:
    """Return the maximum number of words in which a set of ``size`` words and a similar set differ.

    Sets of a and b words that differ in d words have the Jaccard index (a + b - d) / (a + b + d). So d is at most
    (a + b)(1 - t) / (1 + t), and d is even if and only if a + b is even.

    Args:
        size: number of words, at least 1.
        least: minimum Jaccard index t of similar sets, in [`pipelines.decontamination.settings.SMALLEST_JACCARD`, 1].

    Returns:
        size of the other set -> maximum number of differing words, for all sizes that a similar set can have.
    """
    limits = {}
    for other in range(math.ceil(least * size - 1e-9), math.floor(size / least + 1e-9) + 1):
        # 1e-9: with a least index of .8, sizes that add up to 9 give .9999999999999998 instead of 1
        limit = math.floor((size + other) * (1 - least) / (1 + least) + 1e-9)
        limit -= (limit + size + other) % 2
        if limit >= abs(size - other):
            limits[other] = limit
    return MappingProxyType(limits)


def similar_pairs(sets: pa.Table, least: float, *, equal: bool) -> Iterator[Pairs]:
    """Yield the pairs of sets with a Jaccard index of at least ``least``; the partner is of an earlier split.

    A pair with two keys in common is yielded twice. A set with very many possible partners by a key is compared with no
    further ones of a size and split once one of the split is similar (`partners.ALWAYS`).

    Args:
        sets: SETS with tokens; all rows of each shard are present.
        least: minimum Jaccard index, in [`pipelines.decontamination.settings.SMALLEST_JACCARD`, 1].
        equal: also compare sets of sizes at which only equal sets are similar.
    """
    places = contested(sets, ("question_id", "rank"))
    if not len(places):
        return
    used, set_of = np.unique(places["row"].to_numpy(), return_inverse=True)
    lists = sets["token_ids"].take(pa.array(used)).combine_chunks()
    words, token_codes = pc.list_value_length(lists).to_numpy().astype(np.int64), _codes(lists)
    sizes = words[set_of]
    ranks = places["rank"].to_numpy().astype(np.int64)
    rows, other = _wanted(np.flatnonzero(ranks > 0), sizes, functools.partial(_other_sizes, least=least, equal=equal))
    partners = Partners.of(places, sizes, rows, other, other)
    leaking = np.zeros((len(sizes), int(ranks.max()) + 1), bool)
    for block in partners.blocks(sizes, BLOCK_WORDS, leaking):
        row, partner = block.pairs
        scores = _jaccard(set_of[row], set_of[partner], words, token_codes)
        enough = scores >= least
        leaking[row[enough], ranks[partner[enough]]] = True
        yield Pairs(used[set_of[row[enough]]], used[set_of[partner[enough]]], scores[enough], len(row))


def _other_sizes(size: int, least: float, equal: bool) -> list[int]:
    return [other for other, limit in differences(size, least).items() if limit or equal]


def _wanted(
    rows: np.ndarray, sizes: np.ndarray, other_sizes: Callable[[int], list[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row once for every size that its partner can have, and this size."""
    repeated, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes[rows]).tolist():
        of_size = rows[sizes[rows] == size]
        for other in other_sizes(size):
            repeated.append(of_size)
            others.append(np.full(len(of_size), other))
    row, size_of_partner = np.concatenate(repeated), np.concatenate(others)
    possible = size_of_partner <= sizes.max()
    return row[possible], size_of_partner[possible]


class _Codes(NamedTuple):
    """The tokens of all rows as numbers below ``distinct``; those of row n begin at ``starts[n]``."""

    codes: np.ndarray
    starts: np.ndarray
    distinct: int


def jaccard(row: np.ndarray, partner: np.ndarray, sets: pa.ListArray) -> np.ndarray:
    """Return the (P,) float64 Jaccard index of each pair of rows of ``sets``, lists of distinct int64 values."""
    sizes = pc.list_value_length(sets).to_numpy(zero_copy_only=False).astype(np.int64)
    codes, scores = _codes(sets), np.zeros(len(row))
    block = np.cumsum(sizes[row]) // BLOCK_WORDS
    for number in np.unique(block).tolist():
        chosen = block == number
        scores[chosen] = _jaccard(row[chosen], partner[chosen], sizes, codes)
    return scores


def _codes(whole: pa.ListArray) -> _Codes:
    coded = pc.list_flatten(whole).dictionary_encode()
    return _Codes(coded.indices.to_numpy(), offsets_of(pc.list_value_length(whole).to_numpy()), len(coded.dictionary))


def _jaccard(row: np.ndarray, partner: np.ndarray, sizes: np.ndarray, tokens: _Codes) -> np.ndarray:
    """Return the Jaccard index of each pair."""
    intersection = _count_shared(row, partner, sizes, tokens)
    return np.asarray(intersection / (sizes[row] + sizes[partner] - intersection))


def _count_shared(row: np.ndarray, partner: np.ndarray, sizes: np.ndarray, tokens: _Codes) -> np.ndarray:
    """Return the number of tokens that both sets of each pair have."""
    if (loops := load_loops("pipelines.neighbours.numba_kernels", len(row))) is not None:
        counts = np.empty((len(row), 1), np.float32)
        bounds, ones = tokens.starts.astype(np.int32), np.ones((tokens.distinct, 1))
        loops.add_shared(bounds, unsigned(tokens.codes), ones, row, partner, counts)
        return counts[:, 0].astype(np.int64)
    pair = np.arange(len(row))
    both = np.concatenate([_tokens_of(row, pair, sizes, tokens), _tokens_of(partner, pair, sizes, tokens)])
    both.sort()  # tokens are distinct in a set, so a token that is twice among those of a pair is shared
    shared = both[1:][both[1:] == both[:-1]] // max(tokens.distinct, 1)
    return np.bincount(shared, minlength=len(row))


def _tokens_of(rows: np.ndarray, pair: np.ndarray, sizes: np.ndarray, tokens: _Codes) -> np.ndarray:
    """Return ``pair * distinct + token`` for every token of every row."""
    position = ranges(tokens.starts[rows], sizes[rows])
    return np.asarray(np.repeat(pair, sizes[rows]) * tokens.distinct + tokens.codes[position])
