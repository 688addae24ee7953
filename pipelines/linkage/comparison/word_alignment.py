"""Features from the vectors of the words by which two questions differ.

Wording, encoder of single words, pairs of rows -> alignments -> (P, len(ALIGNED)) float32

The cosine of two whole questions hides their one different word behind all others. So each word that one question alone
has is compared with the words of the other one (monolingual word alignment: Sultan, Bethard and Sumner 2014, "Back to
Basics for Monolingual Alignment").
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Final

import numpy as np
import pyarrow as pa
from scipy import sparse

from pipelines.linkage.comparison.part_weights import Parts, entries_of, rows_of
from pipelines.linkage.comparison.tokenization import Wording
from pipelines.neighbours.embeddings import Encode, quantise
from schemas.compiled import load_loops
from schemas.ragged import starts_of_runs

ALIGNED: Final = (
    "aligned_sum", "aligned_mean", "aligned_rarest", "aligned_worst",
    "left_over_min", "left_over_max", "left_over_most",
)  # fmt: skip
"""Features from words that one question alone has, called different here; 1, or 0 left over, where there are none.

``aligned_sum`` is the cosine of the sums of the different words of both questions, ``aligned_mean`` the weighted mean
over them of the greatest cosine with a different word of the other question; both are 1 where only one question has
any. ``aligned_rarest`` and ``aligned_worst`` are the greatest cosine with any word of the other question, of the word
with the greatest weight and of the one for which it is least. ``left_over`` is the weight of different words times one
minus this cosine: the sums of both questions, as minimum and maximum, and the greatest of a single word. A weight is
that of `Parts.weight`."""

CHUNK: Final = 1 << 20
"""Approximate number of pairs of words compared together; bounds memory."""

BLOCK: Final = 1 << 14
"""Number of pairs of words whose vectors are multiplied together, so that these stay in the cache."""


def alignments(words: Wording, encode: Encode, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Align the different words of pairs of questions.

    Args:
        words: parts of R rows of whole answers. A stem has the vector of the first word of the answer that has it.
        encode: encoder of single words.
        left: (P,) rows.
        right: (P,) other rows of the same answers.

    Returns:
        (P, len(ALIGNED)) float32, column after column in memory.
    """
    features = np.empty((len(ALIGNED), len(left)), np.float32)
    if not len(left):
        return features.T
    cosines = Cosines.of(words, encode, np.union1d(left, right))
    counts = np.diff(words.stems.rows.indptr).astype(np.int64)
    effort = np.cumsum(2 * counts[left] * counts[right] + 1)
    bounds = [*starts_of_runs(effort // CHUNK).tolist(), len(left)]
    for start, stop in itertools.pairwise(bounds):
        features[:, start:stop] = _aligned(words.stems, cosines, left[start:stop], right[start:stop])
    return features.T


@dataclasses.dataclass(frozen=True)
class Cosines:
    """Cosines of words.

    Attributes:
        vectors: (W, D) int8 vectors, whose products are the same in any order of work.
        length: (W,) float32 length of each.
        word: (parts of `Wording.stems`,) row of ``vectors`` of the parts of some questions.
    """

    vectors: np.ndarray
    length: np.ndarray
    word: np.ndarray

    @classmethod
    def of(cls, words: Wording, encode: Encode, rows: np.ndarray) -> Cosines:
        """Return the cosines of the words of some rows."""
        parts = np.unique(words.stems.rows[rows].indices)
        forms, number = np.unique(words.form[parts], return_inverse=True)
        word = np.zeros(len(words.form), np.int64)
        word[parts] = number
        vectors = np.zeros((0, 1), np.int8)
        if len(forms):
            vectors = quantise(encode(pa.chunked_array([words.forms.take(pa.array(forms))])))
        exact = vectors.astype(np.float32)
        return cls(vectors, np.maximum(np.sqrt(np.einsum("wd,wd->w", exact, exact)), 1), word)

    def between(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the (N,) float32 cosines of parts."""
        first, second = self.word[one], self.word[other]
        coded = pa.array(np.minimum(first, second) * len(self.vectors) + np.maximum(first, second)).dictionary_encode()
        smaller, larger = np.divmod(coded.dictionary.to_numpy(), max(len(self.vectors), 1))  # each pair of words once
        dot = np.empty(len(smaller), np.float32)
        for start in range(0, len(smaller), BLOCK):
            some = slice(start, start + BLOCK)
            products = (self.vectors[words[some]].astype(np.float32) for words in (smaller, larger))
            dot[some] = np.einsum("nd,nd->n", *products)
        cosines: np.ndarray = (dot / (self.length[smaller] * self.length[larger]))[coded.indices.to_numpy()]
        return cosines

    def of_sums(self, different: sparse.csr_array) -> np.ndarray:
        """Return the (P,) cosines of the sums of the left and of the right question's words; 0 for a zero sum."""
        if (loops := load_loops("pipelines.linkage.comparison.numba_kernels", different.shape[0])) is None:
            left, right, both = self._products_of_sums(different)
        else:
            left, right, both = products = np.empty((3, different.shape[0]))
            words = (different.indptr, different.indices, different.data > 0)
            loops.multiply_sums(self.vectors, self.word, words, products)
        cosines: np.ndarray = both / np.maximum(np.sqrt(left * right), 1)
        return cosines

    def _products_of_sums(self, different: sparse.csr_array) -> list[np.ndarray]:
        """Return the (P,) products of these sums: left with left, right with right, left with right."""
        words, column = np.unique(self.word[different.indices], return_inverse=True)
        vectors, shape = self.vectors[words].astype(float), (different.shape[0], len(words))
        left, right = (
            sparse.csr_array((side.astype(float), column, different.indptr), shape) @ vectors
            for side in (different.data > 0, different.data < 0)
        )
        return [np.einsum("pd,pd->p", *sums) for sums in ((left, left), (right, right), (left, right))]


def _aligned(stems: Parts, cosines: Cosines, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (len(ALIGNED), P) features of some pairs."""
    features = np.ones((len(ALIGNED), len(left)))
    features[4:] = 0
    different = stems.only_one(left, right)
    some = np.flatnonzero(np.diff(different.indptr))
    if not len(some):
        return features
    words, pair, starts = different.indices, rows_of(different), different.indptr[some]
    of_left, weight = different.data > 0, stems.weight[words]
    near, near_different = _nearest_words(stems.rows, cosines, different, left, right)
    left_over = weight * (1 - near)
    both = some[np.logical_or.reduceat(of_left, starts) & np.logical_or.reduceat(~of_left, starts)]
    weighted, total = (np.bincount(pair, values, len(left)) for values in (weight * near_different, weight))
    sides = [np.bincount(pair[side], left_over[side], len(left)) for side in (of_left, ~of_left)]
    features[0, both] = cosines.of_sums(different)[both]
    features[1, both] = weighted[both] / total[both]
    greatest = np.repeat(np.maximum.reduceat(weight, starts), np.diff(different.indptr)[some])
    features[2, some] = np.minimum.reduceat(np.where(weight == greatest, near, np.inf), starts)
    features[3, some] = np.minimum.reduceat(near, starts)
    features[4], features[5] = np.minimum(*sides), np.maximum(*sides)
    features[6, some] = np.maximum.reduceat(left_over, starts)
    return features


def _nearest_words(
    rows: sparse.csr_array, cosines: Cosines, different: sparse.csr_array, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the greatest cosine of each different word with all, and with the different, words of the other question.

    They are float32; 0 if the other question has no word, -1 if it has no different one.
    """
    words, of_left = different.indices, different.data > 0
    if (loops := load_loops("pipelines.linkage.comparison.numba_kernels", len(left))) is None:
        pair = rows_of(different)
        other = np.where(of_left, right[pair], left[pair])
        return _nearest(cosines, words, rows, other), _nearest(cosines, words, different, pair, side=of_left)
    near, near_different = np.empty((2, len(words)), np.float32)
    of_rows, of_different = (rows.indptr, rows.indices), (different.indptr, words, of_left)
    pairs = (left.astype(np.int64), right.astype(np.int64))
    loops.find_nearest(
        cosines.vectors, cosines.length, cosines.word, of_rows, of_different, pairs, near, near_different
    )
    return near, near_different


def _nearest(
    cosines: Cosines,
    words: np.ndarray,
    others: sparse.csr_array,
    rows: np.ndarray,
    *,
    side: np.ndarray | None = None,
) -> np.ndarray:
    """Return the greatest cosine of each word with the words of a row; 0 if that has none.

    Args:
        cosines: of all words.
        words: (N,) parts.
        others: (rows, parts) words.
        rows: (N,) row of ``others`` for each word.
        side: (N,) bool, whether the word is of the left question; given, it is compared with those of the other
            question alone, which are negative in ``others`` where they are of the right one.
    """
    word, places = entries_of(others, rows)
    cosine = cosines.between(words[word], others.indices[places])
    if side is not None:
        cosine = np.where(side[word] == (others.data[places] > 0), np.float32(-1), cosine)
    nearest, starts = np.zeros(len(words), np.float32), starts_of_runs(word)
    if len(starts):
        nearest[word[starts]] = np.maximum.reduceat(cosine, starts)
    return nearest
