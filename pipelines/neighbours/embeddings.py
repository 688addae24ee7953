"""Questions compared by the vectors of an encoder, which arrives as a function.

texts -> with_vectors -> column ``vector`` -> vectors_in -> (R, D) int8 -> cosines of pairs, sketches

Components are small integers, whose products add up without rounding. So a cosine is the same in any selection of
rows and any order of work, and a vector takes a quarter of the bytes of single precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import VECTOR
from pipelines.neighbours.similarity import LEVELS
from pipelines.neighbours.sketches import WORDS, random_signs, sign_bits
from schemas.errors import QprError
from schemas.quantities import counted

Encode = Callable[[pa.ChunkedArray], np.ndarray]
"""Function from n texts to (n, d) float32 vectors."""

LARGEST: Final = 127
EXACT: Final = 1 << 24
"""Greatest component of a vector, and the number up to which float32 holds all integers; products add up to less."""

_PAIRS_AT_A_TIME: Final = 1 << 14
_BLOCK: Final = 1 << 14
"""Numbers of pairs and of rows whose vectors are float32 at a time, 16 MB each at 256 dimensions."""


def with_vectors(questions: pa.Table, encode: Encode) -> pa.Table:
    """Return a table of questions with the column ``vector``; equal texts are encoded once.

    Args:
        questions: rows with a ``text``; without one, the vector is that of an empty text.
        encode: encoder of the texts.

    Raises:
        QprError: the encoder returned vectors that are not finite or not one a text.
    """
    text = pa.chunked_array([pc.fill_null(questions["text"], "").combine_chunks()])
    coded = text.combine_chunks().dictionary_encode()
    vectors = encode(pa.chunked_array([coded.dictionary])) if len(coded) else np.zeros((0, 1), np.float32)
    if vectors.ndim != 2 or len(vectors) != len(coded.dictionary):
        asked = counted(len(coded.dictionary), "question")
        raise QprError(f"the encoder returned vectors of shape {vectors.shape} for {asked}")
    return questions.append_column(VECTOR, _packed(quantise(vectors)).take(coded.indices))


def vectors_in(column: pa.ChunkedArray) -> np.ndarray:
    """Return the (R, D) int8 vectors of a column ``vector``."""
    packed = column.combine_chunks()
    if not len(packed):
        return np.zeros((0, 1), np.int8)
    offsets = np.frombuffer(packed.buffers()[1], np.int64)[packed.offset : packed.offset + len(packed) + 1]
    values = np.frombuffer(packed.buffers()[2], np.int8)[offsets[0] : offsets[-1]]
    return values.reshape(len(packed), -1)


def vectors_of_questions(table: pa.Table, questions: np.ndarray) -> np.ndarray:
    """Return the (R, D) int8 vectors of R questions; the table has their ids and ``vector``, maybe repeatedly."""
    ids = table["question_id"].to_numpy()
    order = np.argsort(ids, kind="stable")
    return vectors_in(table[VECTOR.name].take(pa.array(order[np.searchsorted(ids[order], questions)])))


def quantise(vectors: np.ndarray) -> np.ndarray:
    """Return (R, D) int8 vectors of almost the same directions; a cosine changes by about .002.

    Raises:
        QprError: a vector is not finite.
    """
    if not np.isfinite(vectors).all():
        wrong = np.count_nonzero(~np.isfinite(vectors).all(axis=1))
        raise QprError(
            f"the encoder returned numbers that are infinite or none for {wrong:,} of "
            f"{counted(len(vectors), 'question')}. Compare with another model"
        )
    largest = min(LARGEST, math.isqrt(EXACT // max(vectors.shape[1], 1)))
    greatest = np.abs(vectors).max(axis=1, initial=0, keepdims=True)
    scaled = vectors / np.where(greatest > 0, greatest, 1) * largest
    return np.rint(scaled).astype(np.int8)


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return the (R, D) float32 vectors of length 1; a zero vector stays one."""
    exact = vectors.astype(np.float32)
    unit: np.ndarray = exact / np.maximum(_lengths(exact), 1)[:, None]
    return unit


def cosines(vectors: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (P,) float32 cosine of each pair of rows, the same in any selection; 0 for negative ones.

    Cosines are rounded to multiples of 1 / `LEVELS`, as the similarities of words are.
    """
    of_pair = np.empty(len(left), np.float32)
    lengths = _lengths(vectors.astype(np.float32)).astype(np.float64)
    for start in range(0, len(left), _PAIRS_AT_A_TIME):
        part = slice(start, start + _PAIRS_AT_A_TIME)
        left_vectors, right_vectors = vectors[left[part]].astype(np.float32), vectors[right[part]].astype(np.float32)
        product = np.einsum("pd,pd->p", left_vectors, right_vectors) / np.maximum(
            lengths[left[part]] * lengths[right[part]], 1
        )
        of_pair[part] = np.clip(np.round(product * LEVELS) / LEVELS, 0, 1)
    return of_pair


def vector_sketches(vectors: np.ndarray) -> np.ndarray:
    """Return the signs of `BITS` random projections of each row, (`WORDS`, R) uint64, as `sketches.sketches` does."""
    projections = random_signs(vectors.shape[1], "vector sketch")
    bits = np.empty((WORDS, len(vectors)), np.uint64)
    for start in range(0, len(vectors), _BLOCK):
        bits[:, start : start + _BLOCK] = sign_bits(vectors[start : start + _BLOCK].astype(np.float32) @ projections)
    return bits


def _packed(vectors: np.ndarray) -> pa.LargeBinaryArray:
    rows, width = vectors.shape
    offsets = np.arange(rows + 1, dtype=np.int64) * width
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(vectors))]
    return pa.LargeBinaryArray.from_buffers(VECTOR.type, rows, buffers)


def _lengths(exact: np.ndarray) -> np.ndarray:
    lengths: np.ndarray = np.sqrt(np.einsum("rd,rd->r", exact, exact))
    return lengths
