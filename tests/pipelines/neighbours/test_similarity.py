import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.neighbours.similarity import question_vectors, similarities
from pipelines.questions.aggregation import token_ids
from pipelines.questions.token_frequencies import count_tokens
from schemas.text_arrays import key_all

TEXTS = ["who wrote the red book", "Who is the author of the red book?", "where is the tower", "???", "cat", "วัด ใหญ่"]
some_texts = st.lists(st.text("abc é?ไ", max_size=12), max_size=8)


def weights_of(texts):
    return count_tokens(token_ids(key_all(pa.array(texts, pa.string()))))


WEIGHTS = weights_of(TEXTS)


def rows_of(texts):
    return question_vectors(pa.array(texts, pa.string()), WEIGHTS)


@settings(max_examples=30)
@given(some_texts)
def test_similarities_are_in_the_unit_interval_and_one_with_itself(texts):
    rows = rows_of(texts)
    products = (rows @ rows.T).toarray()
    assert (products >= 0).all()
    assert (products <= 1 + 1e-6).all()
    has_words = np.array([len(tokens) > 0 for tokens in token_ids(key_all(pa.array(texts, pa.string())))], bool)
    assert np.allclose(products.diagonal()[has_words], 1, atol=1e-6)
    assert not products.diagonal()[~has_words].any()


@settings(max_examples=30)
@given(some_texts, some_texts)
def test_a_row_is_the_same_in_any_batch(texts, others):
    alone, together = rows_of(texts), rows_of([*others, *texts])[len(others) :]
    assert np.array_equal(alone.indices, together.indices)
    assert np.array_equal(alone.data, together.data)


def test_the_similarity_of_pairs_is_the_product_of_their_rows_in_any_selection():
    rows = rows_of(TEXTS)
    left, right = (places.ravel() for places in np.indices((len(TEXTS), len(TEXTS))))
    of_pairs = similarities(rows, left, right)
    assert np.allclose(of_pairs.reshape(len(TEXTS), -1), (rows @ rows.T).toarray(), atol=1e-5)
    assert np.array_equal(similarities(rows, right[::-1], left[::-1]), of_pairs[::-1])


def test_shared_rare_words_count_more_than_shared_frequent_ones():
    texts = ["the zebra sleeps", "the zebra", "the sleeps", *(f"the word{n}" for n in range(50))]
    rows = question_vectors(pa.array(texts), weights_of(texts))
    with_zebra, with_the = (rows[[0]] @ rows[[1, 3]].T).toarray()[0]
    assert with_zebra > 5 * with_the > 0


@pytest.mark.parametrize("pair", [("investing money", "invested money"), ("colour", "colours"), ("tower", "towers")])
def test_other_forms_of_a_word_are_similar(pair):
    rows = rows_of(pair)
    assert 0.5 < (rows[[0]] @ rows[[1]].T).toarray()[0, 0] < 1


def test_no_texts_give_no_rows():
    assert rows_of([]).shape[0] == 0
