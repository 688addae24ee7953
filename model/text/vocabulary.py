"""Vocabulary: known words and their ids.

train keys -> Vocabulary.learn -> Vocabulary.ids(keys) -> TokenIds
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.arrays import Int32s, Int64s
from schemas.errors import QprError
from schemas.ragged import offsets_of, ranges
from schemas.text import hash64
from schemas.text_arrays import hash64_all, words_all
from schemas.words import VERSION, words, words_v1

WORDS = 50_000
"""Number of the most frequent words with an embedding of their own (Bonadiman et al. 2019, section 4.2)."""

HASH_BINS = 5_000
"""Number of embeddings that all other words share (same section)."""

LARGEST_TABLE = 2**28
"""Maximum rows that words or n-grams share: all rows of a model together are numbered by 32 bits."""

SLICE = 2**17
"""Questions cut into words at a time: the words of five million take more than a gigabyte, their ids 220 MB."""


@dataclasses.dataclass(frozen=True)
class TokenIds:
    """Questions as runs of token ids: question i is ``ids[offsets[i]:offsets[i + 1]]``.

    Attributes:
        ids: (tokens,) int32.
        offsets: (questions + 1,) int64, from 0 to ``len(ids)``.
    """

    ids: Int32s
    offsets: Int64s

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64s:
        """Return how many tokens each question has, (questions,)."""
        return np.diff(self.offsets)

    def slice(self, start: int, count: int) -> TokenIds:
        """Return ``count`` questions from ``start`` on, or as many as there are; the ids are not copied."""
        offsets = self.offsets[start : start + count + 1]
        return TokenIds(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def shifted(self, by: int) -> TokenIds:
        """Return the same questions with another number added to every id."""
        return TokenIds(self.ids + np.int32(by), self.offsets)

    def take(self, rows: npt.NDArray[np.integer]) -> TokenIds:
        """Return these questions in this order; a row may repeat."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts  # a step of 1,024 of five million questions has no time for all
        return TokenIds(self.ids[ranges(starts, lengths)], offsets_of(lengths))


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Words with an id of their own, 0 to ``len(words) - 1``, then ``hash_bins`` ids that all other words share.

    Without bins, a word that is not listed does not exist for the model.

    Attributes:
        words: those listed.
        hash_bins: number of ids that all others share.
        tokenizer: version of the words, as in `schemas.text_arrays.words_all`.
    """

    words: tuple[str, ...] = dataclasses.field(repr=False)
    hash_bins: int = HASH_BINS
    tokenizer: int = VERSION

    def __post_init__(self) -> None:
        if self.hash_bins < 0:
            raise ValueError(f"hash_bins must not be negative, got {self.hash_bins}")

    def __len__(self) -> int:
        return len(self.words) + self.hash_bins

    @classmethod
    def learn(cls, keys: pa.Array, *, words: int = WORDS, hash_bins: int = HASH_BINS) -> Vocabulary:
        """Return the ``words`` most frequent words of ``keys``, the most frequent first, ties in code point order."""
        counts = [pc.value_counts(pc.list_flatten(words_all(part))).flatten() for part in slices(keys)]
        counted = pa.concat_tables(pa.table(part, names=["word", "count"]) for part in counts)
        summed = counted.group_by("word").aggregate([("count", "sum")])
        ranked = summed.sort_by([("count_sum", "descending"), ("word", "ascending")])
        return cls(tuple(ranked["word"].slice(0, words).to_pylist()), hash_bins)

    @classmethod
    def from_text(cls, text: str, *, hash_bins: int, tokenizer: int = VERSION) -> Vocabulary:
        """Read what `to_text` wrote.

        Raises:
            QprError: a word occurs twice or a line is empty.
        """
        words = tuple(text.removesuffix("\n").split("\n")) if text else ()
        if "" in words or len(set(words)) != len(words):
            raise QprError("an empty line or a word that occurs twice")
        return cls(words, hash_bins, tokenizer)

    def to_text(self) -> str:
        """Return the words, one a line, in order of their id."""
        return "".join(f"{word}\n" for word in self.words)

    def words_of(self, keys: pa.Array) -> pa.Array:
        """Return the words of every question key as a list array, by the version that the model learned."""
        return words_all(keys, version=self.tokenizer)

    def words_of_one(self, key: str) -> list[str]:
        """Return the words of one question key, by the version that the model learned."""
        return words_v1(key) if self.tokenizer == 1 else words(key)

    def id_of(self, word: str) -> int:
        """Return the id of a word; -1 for one that does not exist for the model."""
        number = self._id_of_word.get(word, -1)
        return len(self.words) + hash64(word) % self.hash_bins if number < 0 and self.hash_bins else number

    def ids(self, keys: pa.Array) -> TokenIds:
        """Return the token ids of every question key; the work in Python is once a distinct word."""
        listed = self.words_of(keys)
        words = pc.list_flatten(listed).dictionary_encode()
        ids = self.ids_of_distinct(words.dictionary)[words.indices.to_numpy()]
        lengths = pc.list_value_length(listed).to_numpy()
        if self.hash_bins == 0 and (ids < 0).any():
            question = np.repeat(np.arange(len(listed)), lengths)
            lengths = np.bincount(question[ids >= 0], minlength=len(listed))
            ids = ids[ids >= 0]
        return TokenIds(ids, offsets_of(lengths))

    def ids_of_distinct(self, words: pa.Array) -> Int32s:
        """Return the id of every word; -1 for one that does not exist for the model."""
        get = self._id_of_word.get
        ids = np.array([get(word, -1) for word in words.to_pylist()], np.int32)
        unknown = ids < 0
        if self.hash_bins and unknown.any():
            hashes = hash64_all(words.filter(pa.array(unknown))).to_numpy()
            ids[unknown] = len(self.words) + hashes % self.hash_bins
        return ids

    @functools.cached_property
    def _id_of_word(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}


def slices(keys: pa.Array) -> Iterator[pa.Array]:
    """Yield the keys in parts of at most `SLICE`, an empty one if there are none."""
    return (keys.slice(start, SLICE) for start in range(0, max(len(keys), 1), SLICE))


def side_by_side(first: TokenIds, second: TokenIds) -> TokenIds:
    """Return runs that hold those of the first and then those of the second, which has as many."""
    owners = np.concatenate([np.repeat(np.arange(len(runs)), runs.lengths) for runs in (first, second)])
    order = np.argsort(owners, kind="stable")
    return TokenIds(np.concatenate([first.ids, second.ids])[order], first.offsets + second.offsets)
