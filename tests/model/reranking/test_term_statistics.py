import math

import numpy as np
import pyarrow as pa
import pytest

from model.encoders.loading import load_encoder
from model.reranking.term_statistics import MOST_WORDS, WordCounts, word_table, worded
from schemas.errors import QprError

KEYS = pa.array(["pay my bill", "pay the bill pay", "cancel flight 22", ""])


@pytest.fixture
def encoder(make_model, tmp_path):
    def load(kind):
        make_model(tmp_path / kind, encoder=kind)
        return load_encoder(str(tmp_path / kind))

    return load


def test_a_word_counts_once_a_question_and_words_of_one_question_are_not_kept():
    counts = WordCounts.of(KEYS)
    assert counts.words == ("bill", "pay")
    assert counts.counts.tolist() == [2, 2]
    assert (counts.questions, counts.mean_length) == (4, 2.5)


def test_idf_is_that_of_bm25_and_a_word_not_counted_is_in_one_question():
    found = WordCounts.of(KEYS).idf(["pay", "flight", "never seen"])
    expected = [math.log(1 + (4 - n + 0.5) / (n + 0.5)) for n in (2, 1, 1)]
    assert found == pytest.approx(expected, rel=1e-6)


def test_no_question_has_no_words():
    counts = WordCounts.of(pa.array([], pa.string()))
    assert (counts.words, counts.questions, counts.mean_length) == ((), 0, 1.0)
    assert counts.idf(["pay"]).shape == (1,)


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(QprError, match="do not fit"):
        WordCounts(("a",), np.array([3]), 2, 1.0).checked()
    with pytest.raises(QprError, match="do not fit"):
        WordCounts(("a", "b"), np.array([1]), 2, 1.0).checked()


def test_words_stand_in_their_order_padded_with_the_last_row_and_cut_at_the_most(encoder):
    long = " ".join(f"w{number}" for number in range(MOST_WORDS + 3))
    keys = pa.array(["bill pay bill", "", long])
    rows, table = worded(keys, WordCounts.of(keys), encoder("subword"))
    none = len(table.idf) - 1
    assert rows.shape == (3, MOST_WORDS)
    first, second, third = rows[0, :3]
    assert first == third != second
    assert (rows[0, 3:] == none).all()
    assert (rows[1] == none).all()
    assert (rows[2] != none).all()


def test_vectors_are_those_the_encoder_gives_a_question_of_one_word(encoder):
    bag, words = encoder("subword"), pa.array(["pay", "unheard", "a1"])
    table = word_table(words, WordCounts.of(KEYS), bag)
    assert table.vectors[:3] == pytest.approx(bag.encode(words), abs=1e-6)
    assert not table.vectors[3].any()
    assert table.weights[:3] == pytest.approx(np.linalg.norm(bag.word_sums(words), axis=1))
    assert (table.weights[3], table.idf[3]) == (0, 0)
    assert table.numeric.tolist() == [False, False, True, False]


def test_an_encoder_without_vectors_of_words_weighs_them_by_rareness(encoder):
    table = word_table(pa.array(["pay", "unheard"]), WordCounts.of(KEYS), encoder("cnn"))
    assert table.vectors is None
    assert table.weights is table.idf
