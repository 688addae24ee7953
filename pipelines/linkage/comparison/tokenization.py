"""Parts of each question of an answer: stems, character n-grams and stem pairs.

texts of MEMBERS, answers -> wording -> Wording
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.linkage.comparison.part_weights import Partition, Parts
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.questions.word_pieces import word_pieces
from schemas.hashing import mix_both
from schemas.ragged import ranges
from schemas.stems import stem
from schemas.text import hash64
from schemas.text_arrays import encode, hash64_all, key_all, tokens_all

QUESTIONS: Final = 20_000
"""Number of questions of which a word is in only one at the maximum weight, 1; rarer words have the same weight.

With one fixed number, features have the same scale in logs of any size."""

AT_ONCE: Final = 1 << 17
"""Number of texts or words that are divided at a time; bounds memory."""

_FOLLOWING: Final = hash64("differences: following")


@dataclasses.dataclass(frozen=True)
class Wording:
    """The parts of the questions of whole answers.

    Attributes:
        stems: stems of the words.
        grams: `word_pieces` of the words; the pieces of a word divide its weight among them.
        bigrams: pairs of consecutive stems.
        numbers: (parts of ``stems``,) 1.0 if the stem contains a digit, else 0.0.
        first: (R,) code of the first stem, -1 if the question has none.
        names: text of each stem, by its code.
        bigram_codes: (codes of ``bigrams``,) int64 of each pair of consecutive stems: code of the first, times the
            number of ``names``, plus code of the second.
        forms: text of each word.
        form: (parts of ``stems``,) place in ``forms`` of the first word of the answer that has the stem.
    """

    stems: Parts
    grams: Parts
    bigrams: Parts
    numbers: np.ndarray
    first: np.ndarray
    names: pa.Array
    bigram_codes: np.ndarray
    forms: pa.Array
    form: np.ndarray

    @functools.cached_property
    def stem_values(self) -> np.ndarray:
        """(parts of ``stems``, 8) float64: `Parts.values`, ``numbers``, weights of repeated stems, 4th powers, 0."""
        last = np.zeros(len(self.numbers))  # compiled loops add four columns at a time
        return np.column_stack([self.stems.values, self.numbers, self._repeated, self.stems.weight**4, last])

    @functools.cached_property
    def stem_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(R,) float64 sums over the stems of each row: of ``numbers``, repeated weights and 4th powers of weights."""
        rows = self.stems.rows
        return rows @ self.numbers, rows @ self._repeated, rows @ self.stems.weight**4

    @functools.cached_property
    def stem_hashes(self) -> np.ndarray:
        """(parts of ``stems``,) int64 hash of the text."""
        hashes: np.ndarray = self._name_hashes[self.stems.code]
        return hashes

    @functools.cached_property
    def bigram_hashes(self) -> np.ndarray:
        """(parts of ``bigrams``,) uint64 hash of both texts, in their order."""
        first, second = (self._name_hashes[code] for code in np.divmod(self.bigram_codes, max(len(self.names), 1)))
        hashes: np.ndarray = mix_both(first, second, _FOLLOWING)[self.bigrams.code]
        return hashes

    @functools.cached_property
    def _name_hashes(self) -> np.ndarray:
        hashes: np.ndarray = hash64_all(self.names).to_numpy()
        return hashes

    @functools.cached_property
    def stem_lengths(self) -> np.ndarray:
        """(R, 3) float32: ``length`` of ``stems``."""
        return self.stems.length.astype(np.float32)

    @property
    def _repeated(self) -> np.ndarray:
        """(parts of ``stems``,) weights of those that several questions of the answer have, else 0."""
        repeated: np.ndarray = self.stems.weight * (self.stems.counts > 1)
        return repeated


class _Words(NamedTuple):
    """The distinct words of each row in order: row, index in ``forms``, index in ``stems`` and weight of each word."""

    row: np.ndarray
    word: np.ndarray
    stem: np.ndarray
    weight: np.ndarray
    forms: pa.Array
    stems: pa.Array


def wording(texts: pa.Array | pa.ChunkedArray, answer_of_row: np.ndarray, weights: TokenWeights) -> Wording:
    """Divide the questions of whole answers into stems, character n-grams and stem pairs.

    Args:
        texts: (R,) texts of the questions.
        answer_of_row: (R,) int64 number of each row's answer, ascending from 0.
        weights: weights of the words of the log.
    """
    words = _words(texts, weights)
    partition = Partition(answer_of_row, QUESTIONS)
    stems = partition.parts(words.row, words.stem, words.weight)
    has_digit = pc.match_substring_regex(words.stems, r"\d").to_numpy(zero_copy_only=False).astype(float)
    first = np.full(len(answer_of_row), -1, np.int64)
    first[words.row[::-1]] = words.stem[::-1]
    bigrams, bigram_codes = _bigrams(words, partition)
    numbers = has_digit[stems.code]
    form, grams = words.word[stems.first], _grams(words, partition)
    return Wording(stems, grams, bigrams, numbers, first, words.stems, bigram_codes, words.forms, form)


def _words(texts: pa.Array | pa.ChunkedArray, weights: TokenWeights) -> _Words:
    coded = encode(texts)
    parts = (coded.dictionary.slice(start, AT_ONCE) for start in range(0, max(len(coded.dictionary), 1), AT_ONCE))
    listed = pa.chunked_array([tokens_all(key_all(part)) for part in parts]).combine_chunks().take(coded.indices)
    flat = pc.list_flatten(listed)
    word = flat.indices.to_numpy()
    of_form = np.minimum(weights.of(hash64_all(flat.dictionary).to_numpy()) / np.log1p(QUESTIONS), 1)
    stems = pa.array(map(stem, flat.dictionary.to_pylist()), pa.string()).dictionary_encode()
    code = stems.indices.to_numpy()
    row = pc.list_parent_indices(listed).to_numpy().astype(np.int32)
    return _Words(row, word, code[word], of_form[word], flat.dictionary, stems.dictionary)


def _grams(words: _Words, partition: Partition) -> Parts:
    pieces = word_pieces(words.forms)
    offsets = pieces.offsets.to_numpy().astype(np.int64)
    code = pieces.values.dictionary_encode().indices.to_numpy()
    counts = np.diff(offsets).astype(np.int32)[words.word]
    return partition.parts(words.row, _of_words(code, offsets, words.word, counts), words.weight, pieces=counts)


def _of_words(code: np.ndarray, offsets: np.ndarray, word: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the codes of the pieces of each word, word after word."""
    codes, filled = np.empty(int(counts.sum()), code.dtype), 0
    for start in range(0, len(word), AT_ONCE):
        run = slice(start, start + AT_ONCE)
        places = ranges(offsets[word[run]], counts[run])
        codes[filled : filled + len(places)] = code[places]
        filled += len(places)
    return codes


def _bigrams(words: _Words, partition: Partition) -> tuple[Parts, np.ndarray]:
    """Return the pairs of consecutive stems and `Wording.bigram_codes`."""
    follows = np.flatnonzero(words.row[1:] == words.row[:-1])
    both = pa.array(words.stem[follows].astype(np.int64) * max(len(words.stems), 1) + words.stem[follows + 1])
    coded = both.dictionary_encode()
    weight = (words.weight[follows] + words.weight[follows + 1]) / 2
    return partition.parts(words.row[follows], coded.indices.to_numpy(), weight), coded.dictionary.to_numpy()
