from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.encoders.subword.row_ids import Subwords, ngram_bins, ngram_bins_of_one
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import TokenIds, Vocabulary

VOCABULARY = Vocabulary(("pay", "the", "bill"), hash_bins=10)
SUBWORDS = Subwords(VOCABULARY, (3, 4), 1000)
WORD = st.text(st.sampled_from("abcé日😀"), min_size=1, max_size=8)


def naive_bins(word: str, *, sizes, bins) -> list[int]:
    """FNV-1a over code points with Python's own numbers, then the mix."""
    marked, found = f"<{word}>", []
    for size in sizes:
        for start in range(len(marked) - size + 1):
            value = 0xCBF29CE484222325
            for character in marked[start : start + size]:
                value = ((value ^ ord(character)) * 0x100000001B3) % 2**64
            value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) % 2**64
            found.append((value ^ (value >> 33)) % bins)
    return found


@given(st.lists(WORD, max_size=6), st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(1, 2**28))
def test_bins_agree_with_a_loop_over_characters(words, sizes, bins):
    found = ngram_bins(pa.array(words, pa.string()), sizes=tuple(sizes), bins=bins)
    runs = [found.ids[a:b].tolist() for a, b in zip(found.offsets, found.offsets[1:], strict=False)]
    assert runs == [naive_bins(word, sizes=sizes, bins=bins) for word in words]
    assert runs == [ngram_bins_of_one(word, sizes=tuple(sizes), bins=bins) for word in words]


@given(st.lists(WORD, min_size=1, max_size=6))
def test_rows_of_one_word_are_those_of_a_bag(words):
    bags = SUBWORDS.bags_of(TokenIds(np.arange(len(words), dtype=np.int32), np.arange(len(words) + 1)), pa.array(words))
    ngrams = [bags.ngrams.ids[a:b].tolist() for a, b in itertools.pairwise(bags.ngrams.offsets)]
    assert [SUBWORDS.rows_of_one(word) for word in words] == list(zip(bags.words.tolist(), ngrams, strict=True))


def test_bins_are_the_same_in_every_version():
    found = ngram_bins(pa.array(["pay", "a"]), sizes=(3, 4), bins=131_072)
    assert found.offsets.tolist() == [0, 5, 6]  # <pa pay ay> <pay pay>; <a>
    assert found.ids.tolist() == [94478, 95603, 36701, 76423, 80050, 79576]
    assert found.ids.dtype == np.int32


def rows_of(bags) -> list[list[list[int]]]:
    """Return the rows of each word of each question, the word's own first."""
    words = [
        [int(own), *bags.ngrams.ids[a:b].tolist()]
        for own, a, b in zip(bags.words, bags.ngrams.offsets, bags.ngrams.offsets[1:], strict=False)
    ]
    runs = zip(bags.questions.offsets, bags.questions.offsets[1:], strict=False)
    return [[words[word] for word in bags.questions.ids[a:b]] for a, b in runs]


def naive_rows(key: str) -> list[list[int]]:
    known = dict(zip(VOCABULARY.words, range(3), strict=True))
    ids = [known.get(word, VOCABULARY.ids(pa.array([word])).ids[0]) for word in key.split()]
    grams = [[len(VOCABULARY) + b for b in naive_bins(w, sizes=(3, 4), bins=1000)] for w in key.split()]
    return [[int(own), *parts] for own, parts in zip(ids, grams, strict=True)]


def test_a_question_has_the_rows_of_its_words_in_order():
    keys = ["pay the bill", "", "settle the the bill", "x"]
    assert rows_of(SUBWORDS.bags(pa.array(keys))) == [naive_rows(key) for key in keys]
    assert len(SUBWORDS) == 3 + 10 + 1000


@given(st.lists(st.lists(WORD, max_size=4).map(" ".join), min_size=1, max_size=6), st.data())
def test_taking_questions_is_reading_those_alone(keys, data):
    chosen = data.draw(st.lists(st.integers(0, len(keys) - 1), max_size=8))
    bags = SUBWORDS.bags(pa.array(keys))
    taken = bags.take(np.array(chosen, np.int64))
    assert len(taken) == len(chosen)
    assert rows_of(taken) == rows_of(SUBWORDS.bags(pa.array([keys[i] for i in chosen], pa.string())))
    assert len(taken.words) == len(set(taken.questions.ids.tolist()))  # no word that no question has


def test_a_word_that_is_not_listed_needs_a_row():
    with pytest.raises(ValueError, match="hash_bins"):
        Subwords(Vocabulary(("pay",), hash_bins=0), (3,), 10)


def test_the_shape_decides_sizes_and_bins():
    made = Subwords.of(VOCABULARY, SubwordSettings(ngrams=(2,), ngram_bins=7))
    assert (made.sizes, made.bins, len(made)) == ((2,), 7, 3 + 10 + 7)


PAIRED = Subwords(VOCABULARY, (3,), 50, pairs=40)


def test_a_pair_of_neighbours_is_one_more_word_without_parts():
    keys = pa.array(["pay my bill", "my bill", "bill", ""])
    plain, paired = Subwords(VOCABULARY, (3,), 50).bags(keys), PAIRED.bags(keys)
    assert paired.questions.lengths.tolist() == [5, 3, 1, 0]
    assert len(PAIRED) == len(VOCABULARY) + 50 + 40
    rows = [paired.words[ids].tolist() for ids in np.split(paired.questions.ids, paired.questions.offsets[1:-1])]
    assert rows[0][-1] == rows[1][-1]  # "my bill" has one row
    assert rows[0][:3] == plain.words[plain.questions.ids[:3]].tolist()
    first, last = PAIRED.rows_of_pairs.start, PAIRED.rows_of_pairs.stop
    assert all(first <= row < last for row in (*rows[0][3:], rows[1][2]))
    assert (paired.ngrams.lengths[len(plain.words) :] == 0).all()
    assert (paired.ngrams.lengths[: len(plain.words)] == plain.ngrams.lengths).all()


def test_a_pair_does_not_depend_on_other_questions_but_on_its_order():
    def row(keys, question):
        bags = PAIRED.bags(pa.array(keys))
        return bags.words[bags.questions.take(np.array([question])).ids].tolist()

    assert row(["pay my bill", "a b"], 1) == row(["a b"], 0)
    rows = {row([f"w{n} w{n + 1}"], 0)[-1] for n in range(200)} | {row([f"w{n + 1} w{n}"], 0)[-1] for n in range(200)}
    assert len(rows) == 40


def test_questions_of_one_word_have_no_pair():
    bags = PAIRED.bags(pa.array(["pay", "bill", ""]))
    assert bags.questions.lengths.tolist() == [1, 1, 0]
    assert len(bags.words) == 2
