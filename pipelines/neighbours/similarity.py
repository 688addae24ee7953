"""Vectors of questions whose dot product is the similarity of their words.

texts, TokenWeights -> divide -> Divided -> question_vectors -> (R, COLUMNS) rows -> similarities of pairs
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from pipelines.questions.token_frequencies import MIN_QUESTIONS, TokenWeights
from pipelines.questions.word_pieces import word_pieces
from schemas.compiled import load_loops, unsigned
from schemas.hashing import mix
from schemas.ragged import offsets_of
from schemas.stems import stem
from schemas.text import hash64
from schemas.text_arrays import hash64_all, key_all, tokens_all

COLUMNS: Final = 2**22
"""Number of columns: stems have the first half by hash, character n-grams the second."""

WHOLE_SHARE: Final = 0.01
"""Share of the log's questions from which a word is not divided into pieces.

Without these pieces the rows have a third fewer entries, and on Quora's pairs the similarity ranks as well."""

LEVELS: Final = 2**16
"""Number of different similarities, so that equal ones are equal in spite of rounding errors."""

_PAIRS_AT_A_TIME: Final = 2**14
_ROWS_AT_A_TIME: Final = 2**17
"""Numbers of pairs that are multiplied, and of rows whose columns are added up, at a time; they bound memory."""

_GRAM_SALT, _STEM_SALT = hash64("gram"), hash64("stem")


@dataclasses.dataclass(frozen=True)
class Divided:
    """Questions as weighted words, and the words as weighted parts.

    Attributes:
        words: (R, V) float64 weight of each distinct word of a question, in the order of the question.
        parts: (V, C) float64 share of each part in a word, rows of length 1, columns ascending.
        columns: (C,) column of each part in `question_vectors`, ascending.
        frequency: (V,) float64 number of questions of the log with the word, or with its stem, whichever is more.
        stems: (V,) int64 hash of each word's stem.
    """

    words: sparse.csr_array
    parts: sparse.csr_array
    columns: np.ndarray
    frequency: np.ndarray
    stems: np.ndarray


def question_vectors(texts: pa.Array | pa.ChunkedArray, weights: TokenWeights) -> sparse.csr_array:
    """Return a row for each text; the dot product of two rows is their similarity in [0, 1].

    A row is the sum of its distinct words, each with its inverse document frequency as weight, divided by the length
    of the sum. Half of a word is its stem, half its `word_pieces`; a frequent word is its stem alone. A
    row depends on its text and on ``weights`` alone, to the last bit. The row of a text without a word is empty.

    Args:
        texts: (R,) strings.
        weights: weights of the words of the log.

    Returns:
        (R, `COLUMNS`) float32, columns ascending in each row.
    """
    divided = divide(texts, weights)
    compact = vectors_of(divided)
    columns = divided.columns[compact.indices].astype(np.int32)
    return sparse.csr_array((compact.data, columns, compact.indptr), shape=(compact.shape[0], COLUMNS))


def vectors_of(divided: Divided, selected: np.ndarray | None = None) -> sparse.csr_array:
    """Return the rows of `question_vectors`, or selected ones, with the columns of ``divided.parts``."""
    words = divided.words if selected is None else divided.words[selected]
    starts = range(0, max(words.shape[0], 1), _ROWS_AT_A_TIME)
    blocks = [_vectors(words[start : start + _ROWS_AT_A_TIME], divided.parts) for start in starts]
    return blocks[0] if len(blocks) == 1 else sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _vectors(words: sparse.csr_array, parts: sparse.csr_array) -> sparse.csr_array:
    if (loops := load_loops("pipelines.neighbours.vector_kernels", words.shape[0])) is not None:
        capacity = int(np.diff(parts.indptr)[words.indices].sum())
        columns, values = np.empty(capacity, np.int32), np.empty(capacity, np.float32)
        ends = np.zeros(len(words.indptr), np.int32)
        of_both = (array for matrix in (words, parts) for array in (matrix.indptr, matrix.indices, matrix.data))
        entries = loops.add_parts(*of_both, parts.shape[1], ends, columns, values)
        return sparse.csr_array((values[:entries], columns[:entries], ends), shape=(words.shape[0], parts.shape[1]))
    rows = sparse.csr_array(words @ parts)
    rows.sort_indices()
    row_of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    length = np.sqrt(np.bincount(row_of_entry, rows.data**2, minlength=rows.shape[0]))
    rows.data /= length[row_of_entry]
    return rows.astype(np.float32)


def similarities(vectors: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (P,) float32 similarity of each pair of rows of `question_vectors`, the same in any selection.

    Similarities are rounded to multiples of 1 / `LEVELS`.
    """
    return _rounded(products(vectors, left, right))


def products(rows: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (P,) float32 product of the two rows of each pair, added in the order of the columns.

    Args:
        rows: float32, columns ascending in each row.
        left: (P,) rows; the fewer changes from one to the next, the faster.
        right: (P,) other rows.
    """
    of_pair = np.empty(len(left), np.float32)
    if (loops := load_loops("pipelines.neighbours.numba_kernels", len(left))) is not None:
        loops.add_products(rows.indptr, unsigned(rows.indices), rows.data, rows.shape[1], left, right, of_pair)
        return of_pair
    ones = np.ones(rows.shape[1], np.float32)
    for start in range(0, len(left), _PAIRS_AT_A_TIME):
        pairs = slice(start, start + _PAIRS_AT_A_TIME)
        of_pair[pairs] = rows[left[pairs]].multiply(rows[right[pairs]]) @ ones
    return of_pair


def _rounded(similarity: np.ndarray) -> np.ndarray:
    """Return float32 similarities as multiples of 1 / `LEVELS` up to 1, in place."""
    similarity *= LEVELS
    np.round(similarity, out=similarity)
    similarity /= LEVELS
    np.minimum(similarity, 1, out=similarity)
    return similarity


def divide(texts: pa.Array | pa.ChunkedArray, weights: TokenWeights) -> Divided:
    """Divide texts into words and these into stems and pieces."""
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    listed = tokens_all(key_all(whole))
    flat = pc.list_flatten(listed)
    forms = flat.dictionary
    hashes = hash64_all(forms).to_numpy()
    stems = hash64_all(pa.array(map(stem, forms.to_pylist()), pa.string())).to_numpy()
    frequency = np.maximum(weights.frequency(hashes), weights.frequency(stems))
    questions = max(weights.questions, MIN_QUESTIONS)
    of_word = np.log1p(questions / frequency)
    word = flat.indices.to_numpy()
    ends = offsets_of(pc.list_value_length(listed).to_numpy()).astype(np.int32)
    words = sparse.csr_array((of_word[word], word, ends), shape=(len(listed), len(forms)))
    parts, columns = _parts(forms, stems, frequency > WHOLE_SHARE * questions)
    return Divided(words, parts, columns, frequency, stems)


def _parts(forms: pa.Array, stems: np.ndarray, whole: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the parts of each word and the column of each part."""
    pieces = word_pieces(forms.filter(pa.array(~whole)))
    counts = np.zeros(len(forms), np.int64)
    counts[~whole] = np.diff(pieces.offsets.to_numpy())
    coded = pieces.values.dictionary_encode()
    del pieces
    half = np.uint64(COLUMNS // 2)
    of_piece = (half + mix(hash64_all(coded.dictionary).to_numpy(), _GRAM_SALT) % half).astype(np.int32)
    ends = offsets_of(counts + 1)
    is_stem = np.zeros(ends[-1], bool)
    is_stem[ends[:-1]] = True  # the first part of each word
    column = np.empty(len(is_stem), np.int32)
    column[is_stem] = mix(stems, _STEM_SALT) % half
    column[~is_stem] = of_piece[coded.indices.to_numpy()]
    share = np.empty(len(is_stem))
    share[is_stem] = np.where(whole, 1.0, 0.5)
    share[~is_stem] = np.repeat(0.5 / np.maximum(counts, 1), counts)
    numbered = pa.array(column).dictionary_encode()
    columns, place = np.unique(numbered.dictionary.to_numpy(), return_inverse=True)
    code = place.astype(np.int32)[numbered.indices.to_numpy()]
    parts = sparse.csr_array((np.sqrt(share, out=share), code, ends.astype(np.int32)), shape=(len(forms), len(columns)))
    parts.sum_duplicates()
    return parts, columns.astype(np.int64)
