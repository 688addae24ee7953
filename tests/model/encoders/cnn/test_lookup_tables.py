from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from model.encoders.cnn import lookup_tables as projected
from model.encoders.cnn.lookup_tables import Projected
from model.text.vocabulary import TokenIds
from schemas.ragged import offsets_of

RANDOM = np.random.default_rng(5)
EMBEDDINGS = RANDOM.normal(size=(100, 6)).astype(np.float32)
KERNEL = RANDOM.normal(size=(6, 3 * 4)).astype(np.float32)


def one_question(*ids: int) -> TokenIds:
    return TokenIds(np.array(ids, np.int32), offsets_of(np.array([len(ids)])))


def test_a_row_is_the_embedding_times_the_kernel_of_each_place():
    tables = Projected(EMBEDDINGS, KERNEL, width=3)
    tables.pool(one_question(*range(100)))
    for place in range(3):
        expected = EMBEDDINGS.astype(np.float64) @ KERNEL[:, 4 * place : 4 * place + 4]
        np.testing.assert_allclose(tables.rows[:-1, place], expected, atol=1e-5)
    assert not tables.rows[-1].any()


def test_only_blocks_of_tokens_that_occurred_are_made(monkeypatch):
    monkeypatch.setattr(projected, "_TOKENS", 10)
    tables = Projected(EMBEDDINGS, KERNEL, width=3)
    tables.pool(one_question(5, 99))
    made = tables.rows.any(axis=(1, 2))
    np.testing.assert_array_equal(np.flatnonzero(made), [*range(10), *range(90, 100)])


def test_a_row_does_not_depend_on_what_was_asked_before():
    one, other = Projected(EMBEDDINGS, KERNEL, width=3), Projected(EMBEDDINGS, KERNEL, width=3)
    one.pool(one_question(*range(100)))
    for token in reversed(range(100)):
        other.pool(one_question(token))
    assert one.rows.tobytes() == other.rows.tobytes()


def test_half_precision_is_close_and_half_as_large():
    single, half = Projected(EMBEDDINGS, KERNEL, width=3), Projected(EMBEDDINGS, KERNEL, width=3, half=True)
    question = one_question(*range(0, 100, 7))
    np.testing.assert_allclose(half.pool(question), single.pool(question), atol=2e-2, rtol=1e-3)
    assert not np.array_equal(half.pool(question), single.pool(question))
    assert half.rows.nbytes * 2 == single.rows.nbytes


@pytest.mark.parametrize("width", [1, 2, 6])
def test_nothing_and_an_empty_question_are_a_window_of_nothing(width):
    tables = Projected(EMBEDDINGS, RANDOM.normal(size=(6, width * 4)).astype(np.float32), width=width)
    np.testing.assert_array_equal(tables.pool(one_question()), np.zeros((1, 4)))
    assert tables.pool(TokenIds(np.zeros(0, np.int32), np.zeros(1, np.int64))).shape == (0, 4)


def test_threads_share_the_rows():
    tables, alone = Projected(EMBEDDINGS, KERNEL, width=3), Projected(EMBEDDINGS, KERNEL, width=3)
    questions = [one_question(*RANDOM.integers(0, 100, 7)) for _ in range(60)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(tables.pool, questions))
    np.testing.assert_array_equal(np.vstack(found), np.vstack([alone.pool(question) for question in questions]))
