import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schemas.statistics.binomial import lower_tail
from schemas.statistics.fixed_sequence import leading_true, number_passed


def naive_number(p_values, level):
    number = 0
    for p_value in p_values:
        if p_value > level:
            break
        number += 1
    return number


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0, 1))
def test_the_first_failure_ends_the_sequence(p_values, level):
    assert number_passed(np.array(p_values), level) == naive_number(p_values, level)


def test_sequences_are_along_the_last_axis():
    shown = np.array([[[True, False, True], [True, True, True]], [[False, True, True], [True, True, False]]])
    np.testing.assert_array_equal(leading_true(shown), [[1, 3], [0, 2]])


def test_a_true_hypothesis_is_rejected_with_a_chance_of_the_level_wherever_it_stands():
    # 0, 1, … hypotheses are false, all others true; tests of one sample depend on each other
    rng = np.random.default_rng(1)
    for false in range(4):
        shares = np.where(np.arange(6) < false, 0.01, 0.05)
        wrong = rng.random((4_000, 1, 400)) < shares[:, None]
        p_values = lower_tail(wrong.sum(-1), 400, 0.05)
        broken = (number_passed(p_values, 0.1) > false).mean()
        assert 0.02 <= broken <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 4_000)
