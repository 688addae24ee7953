from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.encoders import interface as encoding
from model.encoders.subword import inference as subword_inference
from model.encoders.subword.inference import BagEncoder, summed
from model.encoders.subword.row_ids import Subwords
from model.text.vocabulary import TokenIds, Vocabulary
from schemas.ragged import offsets_of

WORDS = ("what", "is", "the", "capital", "of", "france")
SUBWORDS = Subwords(Vocabulary(WORDS[:4], hash_bins=3), (3, 4), 40)


@pytest.fixture(params=[np.float32, np.float16])
def encoder(request) -> BagEncoder:
    table = np.random.default_rng(0).normal(size=(len(SUBWORDS), 5)).astype(request.param)
    return BagEncoder("digest", SUBWORDS, table, 0.5)


@given(st.lists(st.lists(st.integers(0, 6), max_size=9), max_size=12))
def test_sums_agree_with_a_loop(runs):
    table = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    tokens = TokenIds(np.array([*itertools.chain(*runs)], np.int32), offsets_of(np.array([*map(len, runs)], np.int64)))
    expected = np.array([table[run].astype(np.float64).sum(axis=0) for run in runs]).reshape(-1, 3)
    sums = summed(tokens, table)
    assert sums.dtype == np.float32
    np.testing.assert_allclose(sums, expected, atol=1e-5)


def test_vectors_have_length_one_and_a_question_without_a_word_is_zero(encoder):
    vectors = encoder.encode(["What is the capital of France?", "?!", "", "Oslo", " "])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 0, 1, 0], atol=1e-6)
    assert (vectors.dtype, encoder.dimension) == (np.float32, 5)


def test_word_order_and_case_do_not_count(encoder):
    first, second = encoder.encode(["What IS\tthe capital?", "the capital is what"])
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_question_has_exactly_the_same_vector_in_any_company(encoder, monkeypatch):
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice([*WORDS, "paris", "x"], size)) for size in random.integers(0, 12, 130)]
    together = encoder.encode(texts)
    np.testing.assert_array_equal(together, np.vstack([encoder.encode([text]) for text in texts]))
    monkeypatch.setattr(encoding, "CHUNK", 7)
    monkeypatch.setattr(subword_inference, "_BLOCK_ROWS", 5)
    np.testing.assert_array_equal(encoder.encode(texts), together)


@given(
    texts=st.lists(st.text(st.sampled_from("abcé日 ?-3#'"), max_size=30), min_size=1, max_size=8),
    version=st.sampled_from([1, 2]),
)
def test_few_questions_have_the_vectors_of_many(texts, version):
    subwords = dataclasses.replace(SUBWORDS, vocabulary=Vocabulary(("a", "ab"), hash_bins=3, tokenizer=version))
    table = np.random.default_rng(2).normal(size=(len(subwords), 5)).astype(np.float16)
    encoder = BagEncoder("digest", subwords, table, 0.5)
    many = encoder.encode([*texts, *["b"] * encoder.few])[: len(texts)]
    assert encoder.encode(texts).tobytes() == many.tobytes()
    assert encoder.encode(texts).tobytes() == many.tobytes()  # of remembered words


def test_more_words_than_are_remembered_change_no_vector(encoder, monkeypatch):
    monkeypatch.setattr(subword_inference, "_REMEMBERED", 3)
    texts = ["what is the capital", "of france is", "x y z what w v"]
    together = encoder.encode([*texts, *["is"] * encoder.few])[:3]
    for _ in range(2):
        np.testing.assert_array_equal(np.vstack([encoder.encode([text]) for text in texts]), together)
    assert len(encoder._sums) <= 6


def test_very_long_words_are_not_remembered(encoder):
    long = "x" * 65
    texts = [f"what is {long}", long, "x" * 64]
    many = encoder.encode([*texts, *["is"] * encoder.few])[:3]
    for _ in range(2):
        assert encoder.encode(texts).tobytes() == many.tobytes()
    assert encoder._sums.keys() == {"what", "is", "x" * 64}


def test_a_very_long_question_is_not_remembered(encoder):
    words = " ".join(f"w{number}" for number in range(20_000))
    many = encoder.encode([words, *["is"] * encoder.few])
    assert encoder.encode([words]).tobytes() == many[:1].tobytes()
    assert encoder.encode([words, *["is"] * 1_000])[:1].tobytes() == many[:1].tobytes()  # short on average
    assert len(encoder._sums) == 0


def test_word_order_counts_where_pairs_of_words_have_rows():
    paired = Subwords(Vocabulary(WORDS[:4], hash_bins=3), (3, 4), 40, pairs=64)
    table = np.random.default_rng(0).normal(size=(len(paired), 5)).astype(np.float32)
    encoder = BagEncoder("digest", paired, table, 0.5)
    texts = ["what is the capital", "the capital is what", "capital"]
    vectors = encoder.encode(texts)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.05
    np.testing.assert_array_equal(vectors, np.vstack([encoder.encode([text]) for text in texts]))
    words = encoder.word_sums(pa.array(["capital"]))
    np.testing.assert_allclose(words[0] / np.linalg.norm(words), vectors[2], atol=1e-6)


def test_it_travels_to_a_worker(encoder):
    copied = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copied.encode(["what is it"]), encoder.encode(["what is it"]))
    assert copied.digest == "digest"


def test_a_chunked_array_and_nothing_are_read(encoder):
    texts = ["what is it", "paris"]
    np.testing.assert_array_equal(encoder.encode(pa.chunked_array([texts[:1], texts[1:]])), encoder.encode(texts))
    assert encoder.encode([]).shape == (0, 5)
