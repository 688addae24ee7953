"""Questions compared by the vectors of an encoder."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.neighbours.embeddings import (
    cosines,
    quantise,
    unit_vectors,
    vector_sketches,
    vectors_in,
    with_vectors,
)
from pipelines.neighbours.sketches import distances
from schemas.errors import QprError


@pytest.fixture
def vectors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(200, 40)).astype(np.float32)


def test_equal_texts_are_encoded_once_and_rows_keep_their_vectors() -> None:
    seen = []

    def encode(texts: pa.ChunkedArray) -> np.ndarray:
        seen.extend(texts.to_pylist())
        return np.array([[len(text), -1.0] for text in texts.to_pylist()], np.float32)

    table = with_vectors(pa.table({"text": ["a", "bb", "a", None]}), encode)
    assert seen == ["a", "bb", ""]
    assert vectors_in(table["vector"]).tolist() == [[127, -127], [127, -64], [127, -127], [0, -127]]
    assert vectors_in(table.slice(1, 2)["vector"]).tolist() == [[127, -64], [127, -127]]


def test_a_table_without_rows_is_not_encoded() -> None:
    table = with_vectors(pa.table({"text": pa.array([], pa.string())}), lambda texts: pytest.fail("nothing to encode"))
    assert vectors_in(table["vector"]).shape[0] == 0


def test_directions_are_nearly_kept(vectors: np.ndarray) -> None:
    exact = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    left, right = np.triu_indices(len(vectors), 1)
    expected = np.clip((exact[left] * exact[right]).sum(axis=1), 0, 1)
    assert np.abs(cosines(quantise(vectors), left, right) - expected).max() < 0.01
    assert np.abs(unit_vectors(quantise(vectors)) - exact).max() < 0.01


@pytest.mark.parametrize("dimension", [3, 384, 4_096])
def test_cosines_are_equal_in_any_selection(dimension: int) -> None:
    rows = quantise(np.random.default_rng(1).random((60, dimension)))
    left, right = np.triu_indices(len(rows), 1)
    whole = cosines(rows, left, right)
    zero, one = np.array([0]), np.array([1])
    alone = np.concatenate([cosines(rows[[i, j]], zero, one) for i, j in zip(left, right, strict=True)])
    assert np.array_equal(whole, alone)
    products = rows[left].astype(np.int64) * rows[right]
    assert np.abs(products).sum(axis=1).max() <= 1 << 24  # float32 adds these up exactly


def test_a_zero_vector_resembles_nothing() -> None:
    rows = quantise(np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0]]))
    assert cosines(rows, np.array([0, 1, 1]), np.array([1, 1, 2])).tolist() == [0, 1, 0]


def test_sketches_of_near_vectors_differ_in_fewer_bits(vectors: np.ndarray) -> None:
    near = quantise(vectors + np.random.default_rng(2).normal(scale=0.2, size=vectors.shape))
    one, other = vector_sketches(quantise(vectors)), vector_sketches(near)
    assert distances(one, other).max() < distances(one, np.roll(one, 1, axis=1)).min()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (np.full((2, 3), np.nan), "infinite or none for 2 of 2 questions"),
        (np.array([[1.0], [np.inf]]), "infinite or none for 1 of 2 questions"),
        (np.ones((1, 3)), r"shape \(1, 3\) for 2 questions"),
        (np.ones(2), r"shape \(2,\) for 2 questions"),
    ],
)
def test_vectors_that_cannot_be_compared_are_refused(found: np.ndarray, message: str) -> None:
    with pytest.raises(QprError, match=message):
        with_vectors(pa.table({"text": ["a", "b"]}), lambda _: found)
