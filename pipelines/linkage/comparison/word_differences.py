"""Words by which two questions differ, and the learned weight of each.

Wording, pairs of rows -> differences_of -> Differences -> DifferenceWeights.sums -> (P,) float64; `scores` does both

Other features count and weigh words by their frequency. That "founder" for "inventor" changes less than "born" for
"died" can only be learned word by word.
"""

from __future__ import annotations

import dataclasses
from typing import Final, NamedTuple

import numpy as np

from pipelines.linkage.comparison.part_weights import entries_of, rows_of
from pipelines.linkage.comparison.tokenization import Wording
from schemas.hashing import mix, mix_both
from schemas.text import hash64

MOST_DIFFERING: Final = 6
"""Maximum number of stems in one question alone of a pair of which they are also compared beside shared stems."""

CHUNK: Final = 1 << 12
"""Number of pairs compared together, to bound memory; two questions of 300 words have up to 2,000 differences."""

_DIFFERING, _BESIDE = hash64("differences: differing"), hash64("differences: beside")


class Differences(NamedTuple):
    """Differences of the wording of some pairs.

    Attributes:
        pair: (N,) number of the pair, from 0, ascending in each kind of difference.
        key: (N,) uint64 hash of a stem that one question alone has, of two consecutive stems that one alone has, or of
            a stem that one alone has beside one that both have. The last is only of pairs with at most
            `MOST_DIFFERING` stems in one question alone.
    """

    pair: np.ndarray
    key: np.ndarray


@dataclasses.dataclass(frozen=True)
class DifferenceWeights:
    """A linear model of differences.

    Attributes:
        key: (K,) uint64 hashes of differences, ascending.
        weight: (K,) float32 addend to the log odds of each.
        bias: addend to the log odds of each pair.
    """

    key: np.ndarray
    weight: np.ndarray
    bias: float

    def scores(self, words: Wording, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the (P,) float64 sums of ``bias`` and the weights of the differences of each pair."""
        parts = [np.zeros(0)]
        for start in range(0, len(left), CHUNK):
            part = slice(start, start + CHUNK)
            parts.append(self.sums(differences_of(words, left[part], right[part]), len(left[part])))
        return np.concatenate(parts)

    def sums(self, differences: Differences, pairs: int) -> np.ndarray:
        """Return the (pairs,) float64 scores of pairs whose differences were found."""
        if not len(self.key):
            return np.full(pairs, self.bias)
        place = np.minimum(np.searchsorted(self.key, differences.key), len(self.key) - 1)
        weighted = np.flatnonzero(self.key[place] == differences.key)
        sums: np.ndarray = self.bias + np.bincount(differences.pair[weighted], self.weight[place[weighted]], pairs)
        return sums


def differences_of(words: Wording, left: np.ndarray, right: np.ndarray) -> Differences:
    """Return the differences of pairs of rows.

    Args:
        words: parts of R rows.
        left: (P,) rows.
        right: (P,) other rows.
    """
    of_stem = words.stem_hashes
    alone, following = (parts.only_one(left, right) for parts in (words.stems, words.bigrams))
    kinds = [
        (rows_of(alone), mix(of_stem[alone.indices], _DIFFERING)),
        (rows_of(following), words.bigram_hashes[following.indices]),
    ]
    few = np.flatnonzero(np.diff(alone.indptr) <= MOST_DIFFERING)
    alone, same = alone[few], words.stems.rows[left[few]].multiply(words.stems.rows[right[few]]).tocsr()
    pair = rows_of(alone)
    entry, shared = entries_of(same, pair)
    kinds.append((few[pair[entry]], mix_both(of_stem[alone.indices[entry]], of_stem[same.indices[shared]], _BESIDE)))
    return Differences(*(np.concatenate(columns) for columns in zip(*kinds, strict=True)))
