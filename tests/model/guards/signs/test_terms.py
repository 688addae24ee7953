"""Brackets in arithmetic."""

import pytest

from model.guards.reading import Reading
from model.guards.signs.terms import terms_differ
from model.guards.symbols import symbols_differ


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("what is (8-2)*3", "what is 8-(2*3)"),
        ("What is 2(a + b)?", "What is 2a + b?"),
        ("what is (1+2)^2 ?", "what is 1+2^2 ?"),
        ("what is 10 ÷ (5 - 3)", "what is (10 ÷ 5) - 3"),
    ],
)
def test_other_brackets_with_another_value_are_another_term(one, two):
    assert symbols_differ(Reading(one), Reading(two))
    assert symbols_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("what is 3+(4*5)", "what is 3+4*5"),
        ("what is (2+3)+4", "what is 2+(3+4)"),
        ("is it open (9-5)", "is it open 9-5"),
        ("call +44 (0) 20", "call +44 0 20"),
        ("what is 2(3", "what is 2)3"),
        ("what is 9^(9^(9^9))", "what is (9^9)^(9^9)"),
        ("what is 1/(1-1)", "what is (1/1)-1"),
        ("what is (0-8)^(1/3)", "what is 0-(8^(1/3))"),
        ("what is 1+(" + "1+" * 50 + "1)", "what is (1+" + "1+" * 50 + "1)"),
        ("what is (0x1)-1", "what is 0x1-1"),
    ],
)
def test_the_same_value_and_terms_that_are_none_are_no_difference(one, two):
    assert not terms_differ(one, two)
    assert not terms_differ(two, one)
