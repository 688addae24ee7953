import itertools

import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage.comparison import word_differences
from pipelines.linkage.comparison.tokenization import wording
from pipelines.linkage.comparison.word_differences import DifferenceWeights, differences_of
from pipelines.questions.token_frequencies import merge

ASKED = ("who founded acme", "who started acme", "when was acme founded", "acme", "", "who founded acme")


def keys(one: str, other: str) -> set[int]:
    """Return the differences of two questions."""
    words = wording(pa.array([one, other]), np.zeros(2, np.int64), merge([]))
    return set(differences_of(words, np.array([0]), np.array([1])).key.tolist())


def test_differences_of_a_pair_do_not_depend_on_the_order_of_its_questions() -> None:
    for one, other in itertools.combinations(ASKED, 2):
        assert keys(one, other) == keys(other, one)


def test_equal_questions_differ_in_nothing() -> None:
    assert keys("who founded acme", "who founded acme") == set()


def test_an_exchanged_word_is_the_same_difference_in_other_questions() -> None:
    acme, other = keys("who founded acme", "who started acme"), keys("who founded globex", "who started globex")
    # "founded", "started", either after and beside "who"
    assert len(acme & other) == 6
    assert len(acme & keys("who founded acme", "who sold acme")) < 6


def test_a_word_of_both_questions_is_no_difference() -> None:
    assert not keys("acme", "") & keys("acme", "acme news")


def test_words_are_compared_beside_shared_ones_only_where_few_differ() -> None:
    most = word_differences.MOST_DIFFERING
    few = " ".join(f"a{n}" for n in range(most))
    assert len(keys("acme", f"acme {few}")) == 3 * most  # alone, after another word, and beside the shared one
    assert len(keys("acme", f"acme {few} more")) == 2 * (most + 1)


def test_scores_are_the_sums_of_the_weights_of_known_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    words = wording(pa.array(ASKED), np.zeros(len(ASKED), np.int64), merge([]))
    left, right = np.array(list(itertools.combinations(range(len(ASKED)), 2))).T
    found = differences_of(words, left, right)
    every = np.unique(found.key)
    known = DifferenceWeights(every[::2], np.arange(len(every[::2]), dtype=np.float32), -0.5)
    weight_of = dict(zip(known.key.tolist(), known.weight.tolist(), strict=True))
    expected = [-0.5 + sum(weight_of.get(key, 0.0) for key in found.key[found.pair == n].tolist()) for n in range(15)]
    assert known.scores(words, left, right) == pytest.approx(expected)
    monkeypatch.setattr(word_differences, "CHUNK", 4)
    assert known.scores(words, left, right) == pytest.approx(expected)


def test_without_weights_each_pair_has_the_bias() -> None:
    words = wording(pa.array(ASKED), np.zeros(len(ASKED), np.int64), merge([]))
    none = DifferenceWeights(np.zeros(0, np.uint64), np.zeros(0, np.float32), 0.25)
    assert none.scores(words, np.array([0, 1]), np.array([1, 2])).tolist() == [0.25, 0.25]
    assert none.scores(words, np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
