import itertools

import numpy as np
import pytest

from schemas.statistics.e_processes import excess_evidence
from schemas.statistics.later_excess import later_excess_evidence


def test_each_sample_has_a_part_that_watches_it_and_later_ones():
    of_both, of_second = (float(excess_evidence(*counts, 0.02)) for counts in ((3, 30), (2, 10)))
    first, second = 1 / (1 + np.log(2)), 1 / (1 + np.log(3))
    expected = (1 - first) * of_both + (first - second) * of_second + second
    assert float(later_excess_evidence([1, 2], [20, 10], 0.02)) == pytest.approx(expected)


def test_without_a_sample_and_before_its_first_observation_there_is_no_evidence():
    assert float(later_excess_evidence([], [], 0.02)) == 1
    assert float(later_excess_evidence([0, 0, 0], [0, 0, 0], 0.02)) == pytest.approx(1)


def test_sequences_can_be_given_at_once():
    wrong, sample = np.array([[1, 0], [0, 2]]), np.array([[9, 9], [5, 5]])
    both = later_excess_evidence(wrong, sample, 0.1)
    assert both.tolist() == [float(later_excess_evidence(*of, 0.1)) for of in zip(wrong, sample, strict=True)]


def test_the_expectation_is_one_where_as_many_are_wrong_as_promised_in_any_order_of_the_samples():
    share, samples = 0.3, [0, 1, 0, 2, 1]
    expected = 0.0
    for wrong in itertools.product([0, 1], repeat=len(samples)):
        counts = np.bincount(samples, weights=wrong, minlength=3)
        chance = share ** sum(wrong) * (1 - share) ** (len(wrong) - sum(wrong))
        expected += chance * float(later_excess_evidence(counts, np.bincount(samples), share))
    assert expected == pytest.approx(1)


def test_a_change_after_many_good_samples_is_seen():
    wrong, sample = np.array([0] * 100 + [2] * 12), np.full(112, 20)
    assert later_excess_evidence(wrong, sample, 0.02) > 100
    assert excess_evidence(wrong.sum(), sample.sum(), 0.02) < 1e-6
