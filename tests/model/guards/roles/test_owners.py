"""Owners that are exchanged with what they own."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Can my boss's friend call?", "Can my friend's boss call?"),
        ("What is the name of my wife's brother's boss?", "What is the name of my wife's boss's brother?"),
        ("the sister's teacher of Ann", "the teacher's sister of Ann"),
        ("Is the owner of the company liable?", "Is the owner's company liable?"),
    ],
)
def test_exchanged_owners_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What is my neighbor's dog called?", "What is the dog of my neighbor called?"),
        ("Where are my parents' keys?", "Where are the keys of my parents?"),
        ("How do I get a good night's sleep?", "How do I get a good night of sleep?"),
        ("What's the name of the dog's owner?", "What is the dog's owner's name?"),
    ],
)
def test_the_same_owners_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
