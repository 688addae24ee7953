"""Exact Jaccard similarity of sets of words, block by block.

SETS that share a meeting -> similar_pairs -> row, partner, Jaccard index
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

from schemas.ragged import offsets_of, ranges

BLOCK_PAIRS: Final = 500_000
"""So many pairs are verified at a time: at ten words each that takes about 200 MB."""


class Pairs(NamedTuple):
    """P pairs of rows: (P,) int64 ``row`` and ``partner``, (P,) float64 ``jaccard``; and how many were ``compared``."""

    row: np.ndarray
    partner: np.ndarray
    jaccard: np.ndarray
    compared: int


@functools.cache
def differences(size: int, least: float) -> Mapping[int, int]:
    """Return in how many words a set may differ from one of ``size`` words if their Jaccard index is ``least`` or more.

    For sizes a and b, d differing words leave (a + b - d) / (a + b + d), so d is at most (a + b)(1 - t) / (1 + t), and
    d is even exactly if a + b is.

    Args:
        size: at least 1.
        least: the threshold t, in [`pipelines.decontamination.settings.SMALLEST_JACCARD`, 1].

    Returns:
        size of the other set -> largest number of differing words, for sizes that are possible at all.
    """
    found = {}
    for other in range(math.ceil(least * size - 1e-9), math.floor(size / least + 1e-9) + 1):
        most = math.floor((size + other) * (1 - least) / (1 + least) + 1e-9)
        most -= (most + size + other) % 2
        if most >= abs(size - other):
            found[other] = most
    return MappingProxyType(found)


def similar_pairs(sets: pa.Table, least: float, *, equal: bool) -> Iterator[Pairs]:
    """Yield the pairs of sets with a Jaccard index of ``least`` or more; a pair that meets twice comes twice.

    The partner's rank is lower than the row's.

    Args:
        sets: SETS with tokens; all rows of each meeting are present.
        least: the threshold, in [`pipelines.decontamination.settings.SMALLEST_JACCARD`, 1].
        equal: also compare sets of sizes at which only equal sets are similar enough.
    """
    sizes = pc.list_value_length(sets["token_ids"]).to_numpy().astype(np.int64)
    if not len(sizes):
        return
    meetings, ranks = sets["meeting"].to_numpy(), sets["rank"].to_numpy()
    _, meeting = np.unique(meetings, return_inverse=True)
    place = meeting * (int(sizes.max()) + 1) + sizes  # where sets of one size meet
    by_place = np.argsort(place, kind="stable")
    rows, places = _wanted(
        np.flatnonzero(ranks > 0), meeting, sizes, functools.partial(_other_sizes, least=least, equal=equal)
    )
    first = np.searchsorted(place[by_place], places, side="left")
    counts = np.searchsorted(place[by_place], places, side="right") - first
    token_codes = _codes(sets["token_ids"])
    block = np.cumsum(counts) // BLOCK_PAIRS
    for number in np.unique(block[counts > 0]):
        chosen = np.flatnonzero((block == number) & (counts > 0))
        row = np.repeat(rows[chosen], counts[chosen])
        partner = by_place[ranges(first[chosen], counts[chosen])]
        lower = ranks[partner] < ranks[row]
        row, partner = row[lower], partner[lower]
        scores = _jaccard(row, partner, sizes, token_codes)
        enough = scores >= least
        yield Pairs(row[enough], partner[enough], scores[enough], len(row))


def _other_sizes(size: int, least: float, equal: bool) -> list[int]:
    return [other for other, most in differences(size, least).items() if most or equal]


def _wanted(
    rows: np.ndarray, meeting: np.ndarray, sizes: np.ndarray, other_sizes: Callable[[int], list[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row once for every size its partner may have, and the place where such partners are."""
    repeated, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes[rows]).tolist():
        of_size = rows[sizes[rows] == size]
        for other in other_sizes(size):
            repeated.append(of_size)
            others.append(np.full(len(of_size), other))
    row, size_of_partner = np.concatenate(repeated), np.concatenate(others)
    possible = size_of_partner <= sizes.max()
    row = row[possible]
    return row, meeting[row] * (int(sizes.max()) + 1) + size_of_partner[possible]


class _Codes(NamedTuple):
    """The tokens of all rows as numbers below ``distinct``, and where those of each row start."""

    codes: np.ndarray
    starts: np.ndarray
    distinct: int


def _codes(token_lists: pa.ChunkedArray) -> _Codes:
    whole = token_lists.combine_chunks()
    coded = pc.list_flatten(whole).dictionary_encode()
    return _Codes(coded.indices.to_numpy(), offsets_of(pc.list_value_length(whole).to_numpy()), len(coded.dictionary))


def _jaccard(row: np.ndarray, partner: np.ndarray, sizes: np.ndarray, tokens: _Codes) -> np.ndarray:
    """Return the Jaccard index of each pair: a token of both stands twice among the pair's tokens."""
    pair = np.arange(len(row))
    both = np.concatenate([_tokens_of(row, pair, sizes, tokens), _tokens_of(partner, pair, sizes, tokens)])
    both.sort()
    shared = both[1:][both[1:] == both[:-1]] // max(tokens.distinct, 1)
    intersection = np.bincount(shared, minlength=len(row))
    return np.asarray(intersection / (sizes[row] + sizes[partner] - intersection))


def _tokens_of(rows: np.ndarray, pair: np.ndarray, sizes: np.ndarray, tokens: _Codes) -> np.ndarray:
    """Return ``pair * distinct + token`` for every token of every row."""
    position = ranges(tokens.starts[rows], sizes[rows])
    return np.asarray(np.repeat(pair, sizes[rows]) * tokens.distinct + tokens.codes[position])
