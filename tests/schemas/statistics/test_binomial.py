import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from schemas.statistics.binomial import lower_tail, smallest_sample, upper_bound

SHARES = st.floats(0.001, 0.999)


def naive_tail(wrong, sample, share):
    return sum(math.comb(sample, k) * share**k * (1 - share) ** (sample - k) for k in range(wrong + 1))


@given(st.integers(0, 60), st.data(), SHARES)
def test_the_tail_is_the_sum_of_the_probabilities(sample, data, share):
    wrong = data.draw(st.integers(0, sample))
    assert lower_tail(wrong, sample, share) == pytest.approx(naive_tail(wrong, sample, share), rel=1e-9, abs=1e-12)


def test_the_tail_of_arrays_is_that_of_each_pair_and_0_below_0():
    wrong, sample = np.array([[-1, 0], [3, 10]]), np.array([10, 10])
    expected = [[0.0, naive_tail(0, 10, 0.2)], [naive_tail(3, 10, 0.2), 1.0]]
    np.testing.assert_allclose(lower_tail(wrong, sample, 0.2), expected)
    assert lower_tail(0, 0, 0.2) == 1


@given(st.integers(1, 400), st.data(), st.sampled_from([0.01, 0.05, 0.2]))
def test_bounds_are_those_of_clopper_and_pearson(sample, data, error):
    wrong = data.draw(st.integers(0, sample))
    interval = binomtest(wrong, sample).proportion_ci(1 - 2 * error, method="exact")
    assert upper_bound(wrong, sample, error) == pytest.approx(1 if wrong == sample else interval.high)
    assert 1 - upper_bound(sample - wrong, sample, error) == pytest.approx(0 if wrong == 0 else interval.low)


@given(st.integers(1, 300), st.data(), st.sampled_from([0.01, 0.05, 0.2]))
def test_a_share_is_excluded_by_the_test_exactly_where_it_exceeds_the_bound(sample, data, error):
    wrong = data.draw(st.integers(0, sample - 1))
    bound = upper_bound(wrong, sample, error)
    assert lower_tail(wrong, sample, bound + 1e-6 * (1 - bound)) <= error
    assert lower_tail(wrong, sample, bound * (1 - 1e-6)) >= error


@pytest.mark.parametrize(("share", "size"), [(0.01, 299), (0.02, 149), (0.05, 59)])
def test_known_sizes_without_a_wrong_one(share, size):
    assert smallest_sample(share, 0.05) == size == math.ceil(math.log(0.05) / math.log(1 - share))


@given(SHARES, st.floats(0.001, 0.5))
def test_one_less_than_the_smallest_sample_shows_nothing(share, error):
    size = smallest_sample(share, error)
    assert lower_tail(0, size, share) <= error
    assert size == 1 or lower_tail(0, size - 1, share) > error
