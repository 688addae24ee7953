"""Vectors of questions whose dot product is the similarity of their words.

texts, TokenWeights -> question_vectors -> (R, COLUMNS) rows -> similarities of pairs
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from pipelines.questions.stems import stem
from pipelines.questions.token_frequencies import TokenWeights
from schemas.hashing import mix
from schemas.ragged import offsets_of, ranges
from schemas.text import hash64
from schemas.text_arrays import encode, hash64_all, key_all, tokens_all

COLUMNS: Final = 2**22
"""Number of columns: stems and their pairs have the first half by hash, character n-grams the second."""

GRAM: Final = 4
"""Number of characters of a piece of a word, whose beginning and end are marked."""

PAIR_WEIGHT: Final = 0.5
"""Weight of a pair of consecutive stems, as a share of the mean weight of the two."""

LEVELS: Final = 2**16
"""Number of different similarities, so that equal ones are equal in spite of rounding errors."""

_PAIRS_AT_A_TIME: Final = 2**17
_GRAM_SALT, _PAIR_SALT, _STEM_SALT = hash64("gram"), hash64("pair"), hash64("stem")


class _Words(NamedTuple):
    """The distinct words of each row in order: row, index in ``forms``, stem's hash and weight of each word."""

    row: np.ndarray
    form: np.ndarray
    stem: np.ndarray
    weight: np.ndarray
    forms: list[str]


def question_vectors(texts: pa.Array | pa.ChunkedArray, weights: TokenWeights) -> sparse.csr_array:
    """Return a row for each text; the dot product of two rows is their similarity in [0, 1].

    Half of the squared length of a row is from its stems and pairs of consecutive stems, half from pieces of `GRAM`
    characters of its words. A stem has the weight of its word, or of the stem where that is a more frequent word; the
    pieces of a word divide its weight. A row depends on its text and on ``weights`` alone, to the last bit. The row of
    a text without a word is empty.

    Args:
        texts: (R,) strings.
        weights: weights of the words of the log.

    Returns:
        (R, `COLUMNS`) float32, columns ascending in each row.
    """
    words = _words(texts, weights)
    whole = _half(len(texts), *_stems(words))
    pieces = _half(len(texts), *_pieces(words))
    return sparse.csr_array(sparse.hstack([whole, pieces], format="csr", dtype=np.float32))


def similarities(vectors: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (P,) float32 similarity of each pair of rows of `question_vectors`, the same in any selection.

    Similarities are rounded to multiples of 1 / `LEVELS`.
    """
    of_pair = np.empty(len(left), np.float32)
    ones = np.ones(vectors.shape[1], np.float32)
    for start in range(0, len(left), _PAIRS_AT_A_TIME):
        pairs = slice(start, start + _PAIRS_AT_A_TIME)
        of_pair[pairs] = vectors[left[pairs]].multiply(vectors[right[pairs]]) @ ones
    return np.minimum(np.round(of_pair * LEVELS) / LEVELS, 1).astype(np.float32)


def _words(texts: pa.Array | pa.ChunkedArray, weights: TokenWeights) -> _Words:
    coded = encode(texts)
    listed = tokens_all(key_all(coded.dictionary)).take(coded.indices)
    flat = pc.list_flatten(listed).dictionary_encode()
    forms = flat.dictionary.to_pylist()
    stems = pa.array(map(stem, forms), pa.string())
    stem_hash = hash64_all(stems).to_numpy()
    weight = np.minimum(weights.of(hash64_all(flat.dictionary).to_numpy()), weights.of(stem_hash))
    form = flat.indices.to_numpy().astype(np.int64)
    row = pc.list_parent_indices(listed).to_numpy().astype(np.int64)
    return _Words(row, form, stem_hash[form], weight[form], forms)


def _stems(words: _Words) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, hash and weight of each stem and of each pair of consecutive stems."""
    first = np.flatnonzero(words.row[1:] == words.row[:-1])
    pair = mix(words.stem[first], _PAIR_SALT).view(np.int64) + words.stem[first + 1]
    of_pair = PAIR_WEIGHT * (words.weight[first] + words.weight[first + 1]) / 2
    return (
        np.concatenate([words.row, words.row[first]]),
        np.concatenate([mix(words.stem, _STEM_SALT), mix(pair, _PAIR_SALT)]),
        np.concatenate([words.weight, of_pair]),
    )


def _pieces(words: _Words) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, hash and weight of each piece of each word."""
    pieces = [[f"^{form}$"[i : i + GRAM] for i in range(max(len(form) + 3 - GRAM, 1))] for form in words.forms]
    counts = np.fromiter(map(len, pieces), np.int64, len(pieces))
    coded = pa.array([piece for of_form in pieces for piece in of_form], pa.string()).dictionary_encode()
    hashes = mix(hash64_all(coded.dictionary).to_numpy()[coded.indices.to_numpy()], _GRAM_SALT)
    repeats = counts[words.form]
    place = ranges(offsets_of(counts)[words.form], repeats)
    return np.repeat(words.row, repeats), hashes[place], np.repeat(words.weight / np.sqrt(repeats), repeats)


def _half(rows: int, row: np.ndarray, part: np.ndarray, weight: np.ndarray) -> sparse.csr_array:
    """Return rows of squared length 1/2; ``part`` are uint64 hashes, and repeats in a row count once each."""
    column = (part % np.uint64(COLUMNS // 2)).astype(np.int32)
    matrix = sparse.csr_array((weight, (row, column)), shape=(rows, COLUMNS // 2))
    matrix.sum_duplicates()
    entries = np.diff(matrix.indptr)
    row_of_entry = np.repeat(np.arange(rows), entries)
    length = np.sqrt(2 * np.bincount(row_of_entry, matrix.data**2, minlength=rows))
    matrix.data /= length[row_of_entry]
    return matrix
