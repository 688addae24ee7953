import collections
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.questions import token_frequencies as token_weights
from pipelines.questions.token_frequencies import MIN_QUESTIONS, TokenWeights, count_tokens, frequent, merge

questions = st.lists(st.sets(st.integers(-4, 4), max_size=5), max_size=8)


def counted(token_sets):
    return count_tokens(pa.array([sorted(tokens) for tokens in token_sets], pa.list_(pa.int64())))


def as_dict(weights):
    assert (np.diff(weights.tokens) > 0).all()  # ascending and distinct
    return dict(zip(weights.tokens.tolist(), weights.frequencies.tolist(), strict=True)), weights.questions


def naive(token_sets):
    return dict(collections.Counter(t for tokens in token_sets for t in tokens)), len(token_sets)


@given(questions)
def test_a_token_counts_once_in_each_question_that_holds_it(token_sets):
    assert as_dict(counted(token_sets)) == naive(token_sets)


@given(st.lists(questions, max_size=4))
def test_merging_counts_of_parts_counts_the_whole(parts):
    assert as_dict(merge(map(counted, parts))) == naive([tokens for part in parts for tokens in part])


@given(st.lists(questions, max_size=4), st.integers(0, 4))
def test_any_tree_of_merges_gives_the_same_without_tokens_seen_once(parts, cut):
    halves = [merge(map(counted, part)) for part in (parts[:cut], parts[cut:])]
    frequencies, total = naive([tokens for part in parts for tokens in part])
    expected = {t: n for t, n in frequencies.items() if n > 1}
    assert as_dict(frequent(merge(halves))) == (expected, total)


def test_beyond_the_limit_the_rarest_are_left_out_whatever_the_order(monkeypatch):
    monkeypatch.setattr(token_weights, "MAX_TOKENS", 2)
    many = TokenWeights(np.arange(4), np.array([5, 2, 9, 1]), 10)
    assert as_dict(frequent(many)) == ({0: 5, 2: 9}, 10)
    tied = TokenWeights(np.arange(4), np.array([3, 3, 9, 3]), 10)
    assert set(as_dict(frequent(tied))[0]) == {2}  # none of the three equally frequent ones is preferred


def test_a_weight_is_the_logarithm_of_one_plus_questions_over_frequency():
    weights = TokenWeights(np.array([-7, 3]), np.array([4, 2_000]), 4_000)
    expected = [math.log(1 + 4_000 / 4), math.log(1 + 4_000 / 2_000), math.log(1 + 4_000), math.log(1 + 4_000)]
    assert weights.of(np.array([-7, 3, 5, -9])) == pytest.approx(expected)  # unknown tokens count as seen once


def test_on_a_tiny_input_weights_are_about_equal():
    weights = TokenWeights(np.array([1]), np.array([2]), 2)
    assert weights.of(np.array([1, 2])) == pytest.approx([math.log1p(MIN_QUESTIONS / 2), math.log1p(MIN_QUESTIONS)])


def test_without_any_count_every_token_weighs_the_same():
    nothing = TokenWeights(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
    assert nothing.of(np.array([1, 2])) == pytest.approx([math.log1p(MIN_QUESTIONS)] * 2)
    assert len(nothing.of(np.zeros(0, np.int64))) == 0
