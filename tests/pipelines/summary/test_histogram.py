import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.summary.histogram import FIVE, Distribution

sizes = st.lists(st.integers(0, 50), min_size=1, max_size=60)
scores = st.lists(st.integers(0, 1000).map(lambda n: n / 1000), min_size=1, max_size=60)


def of(values, steps=1):
    return Distribution.of(np.array(values), steps=steps)


@given(sizes)
def test_quantiles_are_those_of_numpy_for_whole_numbers(values):
    for share in FIVE.values():
        assert of(values).quantile(share) == np.quantile(values, share, method="inverted_cdf")


@given(scores)
def test_and_for_scores_up_to_the_rounding(values):
    found = of(values, steps=100).five()
    for name, share in FIVE.items():
        assert abs(found[name] - np.quantile(values, share, method="inverted_cdf")) <= 0.5 / 100 + 1e-9


@given(sizes, sizes)
def test_a_sum_is_the_distribution_of_all_values(one, two):
    both, whole = of(one) + of(two), of(one + two)
    assert both.multiples.tolist() == whole.multiples.tolist()
    assert both.counts.tolist() == whole.counts.tolist()
    assert both.total == len(one) + len(two)


@given(scores)
def test_bins_are_those_of_numpy(values):
    edges = [0, 0.25, 0.3, 0.9, 1]
    assert of(values, steps=1000).bins(edges) == np.histogram(values, edges)[0].tolist()


def test_a_rounded_value_is_the_decimal_number_a_person_reads():
    assert of([0.29999], steps=10_000).quantile(0.5) == 0.3  # not 0.30000000000000004
    assert of([-1e-17, 1.0000000001], steps=10_000).five() == {"min": 0, "q1": 0, "median": 0, "q3": 1, "max": 1}


def test_very_large_counts_do_not_overflow():
    once = of([2, 5])
    many = Distribution(1, once.multiples, once.counts * 2**61)
    assert many.total == 2**62
    assert many.quantile(0.5) == 2
    assert many.bins([2, 3, 5]) == [2**61, 2**61]


def test_no_values_have_no_quantile():
    nothing = of(np.zeros(0))
    assert nothing.five() == {}
    assert nothing.bins([0, 1]) == [0]
    with pytest.raises(ValueError, match="no values"):
        nothing.quantile(0.5)
