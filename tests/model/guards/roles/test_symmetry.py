"""Words of symmetric relations that have another meaning too."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("how many times did Spain beat Italy", "how many times did Italy beat Spain"),
        ("add acid to water", "add water to acid"),
        ("Can my friend see my posts?", "Can I see my friend's posts?"),
        ("Why does Word open when I close Slack?", "Why does Slack open when I close Word?"),
    ],
)
def test_another_meaning_has_a_direction(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("what is 3 times 4", "what is 4 times 3"),
        ("Is Bonn like Ulm?", "Is Ulm like Bonn?"),
        ("Does tofu taste like cheese?", "Does cheese taste like tofu?"),
        ("Is Ann a friend of Bob?", "Is Bob a friend of Ann?"),
        ("Is the bank next to the mall?", "Is the mall next to the bank?"),
        ("How close is Mars to Earth?", "How close is Earth to Mars?"),
        ("When did Disney merge with Pixar?", "When did Pixar merge with Disney?"),
    ],
)
def test_symmetric_relations_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
