"""Inverse document frequencies of tokens over the questions of a run.

MEMBERS of a shard -> count_tokens -> merge -> frequent -> TokenWeights
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MAX_TOKENS: Final = 2_000_000
"""Rarer tokens than the two million most frequent weigh like one seen once; that bounds the side input to 32 MB."""

MIN_QUESTIONS: Final = 1_000
"""On a tiny input every token is frequent; counting at least this many questions keeps the weights about equal."""

LARGE_LOG: Final = 5_000
"""Minimum number of questions of a log in which a word's rarity is evidence."""

RARE: Final = 0.0002
"""Maximum share of a log's questions that have a rare word."""


@dataclasses.dataclass(frozen=True)
class TokenWeights:
    """``log(1 + questions / frequency)`` for each token.

    Attributes:
        tokens: (V,) int64 token hashes, ascending.
        frequencies: (V,) int64, how many questions hold the token.
        questions: how many questions were counted.
    """

    tokens: np.ndarray
    frequencies: np.ndarray
    questions: int

    @property
    def most_rare(self) -> float:
        """Return the maximum number of questions that have a rare word, at least two."""
        return max(2.0, RARE * self.questions)

    @property
    def rare_words_a_question(self) -> float | None:
        """Return the number of rare words a question, None of a log that is too small."""
        return None if self.questions < LARGE_LOG else self.rare_words

    @property
    def rare_words(self) -> float:
        """Return the number of rare words a question of a log of any size; in a small one a name is seldom rarer."""
        return float(self.frequencies[self.frequencies <= self.most_rare].sum() / max(self.questions, 1))

    def of(self, tokens: np.ndarray) -> np.ndarray:
        """Return the float64 weight of each token hash; an unknown one counts as seen once."""
        return np.log1p(max(self.questions, MIN_QUESTIONS) / self.frequency(tokens))

    def frequency(self, tokens: np.ndarray) -> np.ndarray:
        """Return how many questions hold each token hash, float64; an unknown one counts as seen once."""
        if not len(self.tokens):
            return np.ones(len(tokens))
        place = np.minimum(np.searchsorted(self.tokens, tokens), len(self.tokens) - 1)
        return np.where(self.tokens[place] == tokens, self.frequencies[place], 1.0)


def count_tokens(token_lists: pa.Array | pa.ChunkedArray) -> TokenWeights:
    """Return in how many of the questions each token occurs; the lists hold distinct tokens."""
    counts = pc.value_counts(pc.list_flatten(token_lists))
    tokens = counts.field("values").to_numpy(zero_copy_only=False)
    order = np.argsort(tokens)
    return TokenWeights(tokens[order], counts.field("counts").to_numpy()[order], len(token_lists))


def merge(parts: Iterable[TokenWeights]) -> TokenWeights:
    """Return the sum of counts of disjoint sets of questions."""
    every = list(parts)
    tokens, place = np.unique(np.concatenate([np.zeros(0, np.int64), *(p.tokens for p in every)]), return_inverse=True)
    frequencies = np.zeros(len(tokens), np.int64)
    np.add.at(frequencies, place, np.concatenate([np.zeros(0, np.int64), *(p.frequencies for p in every)]))
    return TokenWeights(tokens, frequencies, sum(p.questions for p in every))


def frequent(counts: TokenWeights) -> TokenWeights:
    """Return the counts without tokens seen once, which need no row, and without the rarest beyond `MAX_TOKENS`."""
    keep = counts.frequencies > 1
    if np.count_nonzero(keep) > MAX_TOKENS:
        largest_left_out = np.partition(counts.frequencies, -MAX_TOKENS - 1)[-MAX_TOKENS - 1]
        keep = counts.frequencies > largest_left_out  # equally rare ones together, so that no order decides
    return TokenWeights(counts.tokens[keep], counts.frequencies[keep], counts.questions)
