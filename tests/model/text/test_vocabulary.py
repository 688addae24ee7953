from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.text.vocabulary import TokenIds, Vocabulary
from schemas import text
from schemas.errors import QprError
from schemas.text_arrays import key_all

TEXTS = st.lists(st.text(st.sampled_from("ab é日🙂.'\n"), max_size=12), max_size=20)


def runs(tokens: TokenIds) -> list[list[int]]:
    return [tokens.ids[a:b].tolist() for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


def naive_id(word: str, words: list[str], bins: int) -> int | None:
    if word in words:
        return words.index(word)
    return len(words) + text.hash64(word) % bins if bins else None


def test_the_most_frequent_words_come_first_and_ties_in_alphabetical_order():
    keys = pa.array(["b a c", "c b", "d c d"])  # c 3, b 2, d 2, a 1
    assert Vocabulary.learn(keys, words=3).words == ("c", "b", "d")
    assert Vocabulary.learn(keys, words=9).words == ("c", "b", "d", "a")
    assert Vocabulary.learn(keys, words=0).words == ()


def test_the_text_of_a_vocabulary_has_none_of_its_words():
    assert "bill" not in repr(Vocabulary(("pay", "bill")))


def test_a_repeated_word_counts_every_time():
    assert Vocabulary.learn(pa.array(["a b b"]), words=1).words == ("b",)


def test_known_words_get_their_rank_and_others_a_bin_after_them():
    vocabulary = Vocabulary(("pay", "bill"), hash_bins=7)
    assert len(vocabulary) == 9
    bin_of_zebra = 2 + text.hash64("zebra") % 7
    assert runs(vocabulary.ids(pa.array(["bill pay bill", "", "zebra pay", None]))) == [
        [1, 0, 1],
        [],
        [bin_of_zebra, 0],
        [],
    ]


def test_without_bins_unknown_words_are_dropped():
    vocabulary = Vocabulary(("pay",), hash_bins=0)
    assert runs(vocabulary.ids(pa.array(["pay x pay", "x y", "pay"]))) == [[0, 0], [], [0]]


@given(TEXTS, st.integers(0, 4), st.integers(0, 3))
def test_ids_agree_with_a_loop_over_the_scalar_definition(texts, size, bins):
    keys = key_all(pa.array(texts, pa.string()))
    vocabulary = Vocabulary.learn(keys, words=size, hash_bins=bins)
    lists = [text.words(text.key(t)) for t in texts]
    counts = Counter(word for words in lists for word in words)
    expected = sorted(counts, key=lambda word: (-counts[word], word))[:size]
    assert list(vocabulary.words) == expected
    naive = [[i for w in words if (i := naive_id(w, expected, bins)) is not None] for words in lists]
    tokens = vocabulary.ids(keys)
    assert runs(tokens) == naive
    assert tokens.ids.dtype == np.int32
    assert tokens.offsets.dtype == np.int64


@given(TEXTS)
def test_a_saved_vocabulary_reads_back_the_same(texts):
    vocabulary = Vocabulary.learn(key_all(pa.array(texts, pa.string())), words=5, hash_bins=2)
    assert Vocabulary.from_text(vocabulary.to_text(), hash_bins=2) == vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


@pytest.mark.parametrize("damaged", ["a\n\nb\n", "a\nb\na\n", "\n"])
def test_a_damaged_file_is_an_error(damaged):
    with pytest.raises(QprError, match="occurs twice"):
        Vocabulary.from_text(damaged, hash_bins=1)


def test_negative_bins_are_refused():
    with pytest.raises(ValueError, match="hash_bins"):
        Vocabulary((), hash_bins=-1)


def test_take_returns_runs_in_any_order_with_repeats():
    tokens = TokenIds(np.array([5, 6, 7], np.int32), np.array([0, 2, 2, 3]))
    assert tokens.lengths.tolist() == [2, 0, 1]
    assert runs(tokens.take(np.array([2, 1, 0, 2]))) == [[7], [], [5, 6], [7]]
    assert runs(tokens.take(np.array([], np.int64))) == []


def test_a_slice_holds_the_questions_of_its_place():
    tokens = TokenIds(np.array([1, 2, 3, 4], np.int32), np.array([0, 2, 2, 4], np.int64))
    part = tokens.slice(1, 5)
    assert (part.ids.tolist(), part.offsets.tolist()) == ([3, 4], [0, 0, 2])
    assert len(tokens.slice(0, 1)) == 1
