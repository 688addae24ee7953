"""Words of symmetric relations that have another meaning too."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("how many times did Spain beat Italy", "how many times did Italy beat Spain"),
        ("add acid to water", "add water to acid"),
        ("trade in my Audi for a BMW", "trade in my BMW for an Audi"),
        ("What times do trams pass the stop?", "What times do stops pass the tram?"),
        ("do I whisk the eggs and then add the sugar", "do I add the sugar and then whisk the eggs"),
        ("Can my friend see my posts?", "Can I see my friend's posts?"),
        ("Why does Word open when I close Slack?", "Why does Slack open when I close Word?"),
        ("Has Spain 3 times beaten Italy?", "Has Italy 3 times beaten Spain?"),
    ],
)
def test_another_meaning_has_a_direction(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("what is 3 times 4", "what is 4 times 3"),
        ("what is three times seven", "what is seven times three"),
        ("what is 12 times 30", "what is 30 times 12"),
        ("Can a cat be like a dog?", "Can a dog be like a cat?"),
        ("Can cats and dogs eat rice?", "Can dogs and cats eat rice?"),
        ("Is Bonn like Ulm?", "Is Ulm like Bonn?"),
        ("Does tofu taste like cheese?", "Does cheese taste like tofu?"),
        ("Is Ann a friend of Bob?", "Is Bob a friend of Ann?"),
        ("Is the bank next to the mall?", "Is the mall next to the bank?"),
        ("How close is Mars to Earth?", "How close is Earth to Mars?"),
        ("When did Disney merge with Pixar?", "When did Pixar merge with Disney?"),
        ("Is China to Russia a friend?", "Is Russia to China a friend?"),
    ],
)
def test_symmetric_relations_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
