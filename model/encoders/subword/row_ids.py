"""Words, their parts and their neighbourhoods as rows of one table of embeddings.

question keys -> Subwords.bags -> Bags: which words a question has, which rows a word has
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from model.encoders.subword.settings import SubwordSettings
from model.encoders.subword.tokenizer import Pieces
from model.text.vocabulary import TokenIds, Vocabulary, side_by_side
from schemas.arrays import Int32s
from schemas.ragged import offsets_of
from schemas.text_arrays import hash64_all

_PRIME, _OFFSET = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)
"""Prime and first value of FNV-1a of 64 bits."""

_MIX, _HALF = np.uint64(0xFF51AFD7ED558CCD), np.uint64(33)
"""Of the finalizer of MurmurHash3: it mixes high bits into the low ones, by which a remainder chooses a bin."""

_64_BITS = 2**64 - 1
"""Mask of a product of Python's integers, which do not overflow as those of numpy do."""


@dataclasses.dataclass(frozen=True)
class Bags:
    """Questions as bags of words, each distinct word of theirs as a bag of rows.

    Attributes:
        questions: ids are numbers of distinct words, below ``len(words)``; a pair of neighbours is one more word.
        words: (distinct words,) int32, the row of the word itself.
        ngrams: run i holds the rows of the character n-grams of distinct word i, then those of its pieces.
    """

    questions: TokenIds
    words: Int32s
    ngrams: TokenIds

    def __len__(self) -> int:
        return len(self.questions)

    def take(self, rows: npt.NDArray[np.integer]) -> Bags:
        """Return these questions in this order, with the words they have and no others; a row may repeat."""
        taken = self.questions.take(rows)
        is_used = np.zeros(len(self.words), bool)
        is_used[taken.ids] = True
        distinct = np.flatnonzero(is_used)
        number = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
        questions = TokenIds(number[taken.ids], taken.offsets)
        return Bags(questions, self.words[distinct], self.ngrams.take(distinct))


@dataclasses.dataclass(frozen=True)
class Subwords:
    """Rows of questions: the words' rows come first, then those that all n-grams share by their hash.

    The rows that all pairs of neighbouring words share follow, then those of the pretrained tokens.

    Attributes:
        vocabulary: gives every word its row, so it has hash bins.
        sizes: lengths of the character n-grams of ``<word>``, marks included (Bojanowski et al. 2017, section 3.2).
        bins: number of rows that the n-grams share.
        pieces: cuts a word into pretrained tokens.
        tokens: number of those, each with a row.
        pairs: number of rows that pairs of neighbouring words share; 0: pairs do not count.
    """

    vocabulary: Vocabulary
    sizes: tuple[int, ...]
    bins: int
    pieces: Pieces | None = None
    tokens: int = 0
    pairs: int = 0

    def __post_init__(self) -> None:
        if not self.vocabulary.hash_bins:
            raise ValueError("a word that is not listed needs a row: hash_bins must be at least 1")

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, shape: SubwordSettings, pieces: Pieces | None = None, tokens: int = 0
    ) -> Subwords:
        """Return the subwords of an encoder with these settings; those of a static one have pieces and tokens."""
        return cls(vocabulary, shape.ngrams, shape.ngram_bins, pieces, tokens, shape.bigram_bins)

    def __len__(self) -> int:
        return len(self.vocabulary) + self.bins + self.pairs + self.tokens

    @property
    def rows_of_pairs(self) -> slice:
        """Return the rows of pairs of neighbouring words."""
        start = len(self.vocabulary) + self.bins
        return slice(start, start + self.pairs)

    def rows_of_one(self, word: str) -> tuple[int, list[int]]:
        """Return the row of a word and those of its n-grams, without pieces."""
        ngrams = ngram_bins_of_one(word, sizes=self.sizes, bins=self.bins)
        return self.vocabulary.id_of(word), [len(self.vocabulary) + ngram for ngram in ngrams]

    def bags(self, keys: pa.Array) -> Bags:
        """Return the bags of every question key; the work in Python is once a distinct word."""
        listed = self.vocabulary.words_of(keys)
        encoded = pc.list_flatten(listed).dictionary_encode()
        questions = TokenIds(
            encoded.indices.to_numpy().astype(np.int32, copy=False),
            offsets_of(pc.list_value_length(listed).to_numpy()),
        )
        return self.bags_of(questions, encoded.dictionary)

    def bags_of(self, questions: TokenIds, words: pa.Array) -> Bags:
        """Return the bags of questions whose ids are numbers of these distinct words."""
        rows = self.vocabulary.ids_of_distinct(words)
        ngrams = ngram_bins(words, sizes=self.sizes, bins=self.bins).shifted(len(self.vocabulary))
        if self.pieces is not None:
            ngrams = side_by_side(ngrams, self.pieces.of(words).shifted(self.rows_of_pairs.stop))
        if not self.pairs:
            return Bags(questions, rows, ngrams)
        pairs = bigram_bins(questions, words, bins=self.pairs)
        pair_bins, numbers = np.unique(pairs.ids, return_inverse=True)
        numbered = TokenIds((len(rows) + numbers).astype(np.int32), pairs.offsets)
        rows = np.concatenate([rows, (pair_bins + self.rows_of_pairs.start).astype(np.int32)])
        ngrams = TokenIds(ngrams.ids, np.append(ngrams.offsets, np.full(len(pair_bins), ngrams.offsets[-1])))
        return Bags(side_by_side(questions, numbered), rows, ngrams)


def ngram_bins(words: pa.Array, *, sizes: tuple[int, ...], bins: int) -> TokenIds:
    """Return the bins of the character n-grams of each ``<word>``, those of the first size first.

    The hash is FNV-1a over code points, mixed at the end: the same on every machine.
    """
    marked = pc.binary_join_element_wise("<", words, ">", "")
    codes = np.frombuffer("".join(marked.to_pylist()).encode("utf-32-le"), "<u4").astype(np.uint64)
    lengths = pc.utf8_length(marked).to_numpy().astype(np.int64)
    word = np.repeat(np.arange(len(lengths)), lengths)
    ends = np.repeat(np.cumsum(lengths), lengths)
    bins_by_size, owners = [], []
    for size in sizes:
        starts = np.flatnonzero(np.arange(len(codes)) + size <= ends)
        bins_by_size.append((_hashes(codes, starts, size=size) % np.uint64(max(bins, 1))).astype(np.int32))
        owners.append(word[starts])
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return TokenIds(np.concatenate(bins_by_size)[order], offsets_of(np.bincount(owner, minlength=len(words))))


def ngram_bins_of_one(word: str, *, sizes: tuple[int, ...], bins: int) -> list[int]:
    """Return the same as `ngram_bins` for one word, in a third of the time of its numpy calls."""
    codes = [ord(character) for character in f"<{word}>"]
    numbers = []
    for size in sizes:
        for start in range(len(codes) - size + 1):
            mixed = int(_OFFSET)
            for code in codes[start : start + size]:
                mixed = (mixed ^ code) * 0x100000001B3 & _64_BITS
            mixed = (mixed ^ mixed >> 33) * 0xFF51AFD7ED558CCD & _64_BITS
            numbers.append((mixed ^ mixed >> 33) % max(bins, 1))
    return numbers


def bigram_bins(questions: TokenIds, words: pa.Array, *, bins: int) -> TokenIds:
    """Return the bins of the pairs of neighbouring words of each question, in their order.

    Args:
        questions: ids are places in ``words``.
        words: the distinct words; the hash of a pair is made of theirs, so it does not depend on what else there is.
        bins: number of bins.
    """
    lengths = questions.lengths
    last = np.zeros(len(questions.ids), bool)
    last[questions.offsets[1:][lengths > 0] - 1] = True
    first = np.flatnonzero(~last)
    hashes = hash64_all(words).to_numpy().view(np.uint64)[questions.ids]
    mixed = (hashes[first] * _PRIME) ^ (hashes[first + 1] >> _HALF) ^ hashes[first + 1]
    mixed = (mixed ^ (mixed >> _HALF)) * _MIX
    numbers = ((mixed ^ (mixed >> _HALF)) % np.uint64(bins)).astype(np.int32)
    return TokenIds(numbers, offsets_of(np.maximum(lengths - 1, 0)))


def _hashes(codes: npt.NDArray[np.uint64], starts: npt.NDArray[np.intp], *, size: int) -> npt.NDArray[np.uint64]:
    hashes = np.full(len(starts), _OFFSET)
    for place in range(size):
        hashes = (hashes ^ codes[starts + place]) * _PRIME
    hashes = (hashes ^ (hashes >> _HALF)) * _MIX
    return hashes ^ (hashes >> _HALF)
