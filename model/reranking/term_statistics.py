"""Statistics of words: inverse document frequency, and vector by the encoder.

question keys of an index -> WordCounts.of -> WordCounts; keys, WordCounts, Encoder -> worded -> Worded, WordTable
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from model.encoders.interface import Encoder
from schemas.arrays import Bools, Float32s, Int32s, Int64s, Matrix
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.text_arrays import distinct_all, words_all
from schemas.words import VERSION

MOST_WORDS = 24
"""Words of a question that are looked at: of Quora's questions 3 % have more."""


@dataclasses.dataclass(frozen=True)
class WordCounts:
    """Number of questions of an index that contain each word.

    Attributes:
        words: those that two questions or more have, in code point order.
        counts: (len(words),) int64, how many have each.
        questions: how many questions there are.
        mean_length: words a question.
        tokenizer: version of the words, as in `schemas.text_arrays.words_all`.
    """

    words: tuple[str, ...] = dataclasses.field(repr=False)
    counts: Int64s = dataclasses.field(repr=False)
    questions: int
    mean_length: float
    tokenizer: int = VERSION

    @classmethod
    def of(cls, keys: pa.Array) -> WordCounts:
        """Count the words of question keys."""
        listed = words_all(keys)
        value_counts = pc.value_counts(pc.list_flatten(distinct_all(listed)))
        table = pa.table({"word": value_counts.field("values"), "count": value_counts.field("counts")})
        repeated = table.filter(pc.greater(table["count"], 1)).sort_by("word")
        length = float(np.mean(pc.list_value_length(listed).to_numpy())) if len(keys) else 0.0
        return cls(tuple(repeated["word"].to_pylist()), repeated["count"].to_numpy(), len(keys), max(length, 1.0))

    def idf(self, words: Collection[str]) -> Float32s:
        """Return the inverse document frequency of words as BM25 has it; one not counted has that of a single question.

        ``log(1 + (N - n + 0.5) / (n + 0.5))`` (Robertson and Zaragoza 2009, section 3.1, kept above 0).
        """
        return np.array(self.weights(words), np.float32)

    def weights(self, words: Collection[str]) -> list[float]:
        """Return the same as `idf` without numpy, for a few words."""
        weight, of_others = self.weight_of
        return [weight(word, of_others) for word in words]

    @property
    def weight_of(self) -> tuple[Callable[[str, float], float], float]:
        """Return a function from a word and a default to the weight of a counted word, and that default."""
        weights, of_others = self._weights
        return weights.get, of_others

    @functools.cached_property
    def _weights(self) -> tuple[dict[str, float], float]:
        """Return the weight of each counted word, and that of all others."""
        counts = np.append(self.counts, 1)
        *weights, of_others = np.log1p((self.questions - counts + 0.5) / (counts + 0.5)).astype(np.float32).tolist()
        return dict(zip(self.words, weights, strict=True)), of_others

    def most_frequent(self, limit: int) -> WordCounts:
        """Return the counts of the most frequent words, the smaller ones of equally frequent words."""
        places = np.sort(np.argsort(-self.counts, kind="stable")[:limit])
        words = tuple(self.words[place] for place in places.tolist())
        return dataclasses.replace(self, words=words, counts=self.counts[places])

    def checked(self) -> WordCounts:
        """Return these counts after checking that their parts fit together.

        Raises:
            QprError: they do not.
        """
        if len(self.words) != len(self.counts) or (self.counts < 1).any() or (self.counts > self.questions).any():
            raise QprError(
                f"{counted(len(self.words), 'word')} and {counted(len(self.counts), 'count')} of "
                f"{counted(self.questions, 'question')} do not fit"
            )
        return self


class WordTable(NamedTuple):
    """Statistics of V distinct words; the last row is of no word and pads.

    Attributes:
        idf: (V + 1,) inverse document frequencies, 0 at the end.
        weights: (V + 1,) how long the encoder's vector of a word is: what it counts in a question. 0 at the end.
        vectors: (V + 1, D) these vectors at length 1, zeros at the end; None where an encoder has none.
        numeric: (V + 1,) whether it holds a digit.
    """

    idf: Float32s
    weights: Float32s
    vectors: Matrix | None
    numeric: Bools


def worded(keys: pa.Array, counts: WordCounts, encoder: Encoder) -> tuple[Int32s, WordTable]:
    """Return the words of questions, (questions, `MOST_WORDS`) rows of a table, and that table."""
    rows, words = word_rows(keys, version=counts.tokenizer)
    return rows, word_table(words, counts, encoder)


def word_rows(keys: pa.Array, *, version: int) -> tuple[Int32s, pa.Array]:
    """Return the words of questions, (questions, `MOST_WORDS`) numbers of distinct words, and these words.

    The number of no word is their count.
    """
    listed = words_all(keys, version=version)
    encoded = pc.list_flatten(listed).dictionary_encode()
    lengths = pc.list_value_length(listed).to_numpy()
    starts = np.cumsum(lengths) - lengths
    places = np.arange(MOST_WORDS)
    is_word = places < lengths[:, None]
    rows = np.full(is_word.shape, len(encoded.dictionary), np.int32)
    rows[is_word] = encoded.indices.to_numpy()[(starts[:, None] + places)[is_word]]
    return rows, encoded.dictionary


def word_table(words: pa.Array, counts: WordCounts, encoder: Encoder) -> WordTable:
    """Return the statistics of these words; without vectors the weight of a word is its inverse document frequency."""
    listed = words.to_pylist()
    idf = np.append(counts.idf(listed), np.float32(0))
    numeric = np.array([*(any(map(str.isdigit, word)) for word in listed), False])
    vectors = encoder.word_sums(words)
    if vectors is None:
        return WordTable(idf, idf, None, numeric)
    sums: Matrix = np.vstack([vectors, np.zeros((1, encoder.dimension), np.float32)])
    weights = np.linalg.norm(sums, axis=1).astype(np.float32)
    sums /= np.where(weights > 0, weights, 1)[:, None]
    return WordTable(idf, weights, sums, numeric)
