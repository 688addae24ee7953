"""Sides of a verb that are exchanged."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Can I use my wife's card?", "Can my wife use my card?"),
        ("Can I be sued by my bank?", "Can I sue my bank?"),
        ("my car hit by a cyclist", "my car hit a cyclist"),
        ("The seller sent me the wrong size, what can I do?", "I sent the seller the wrong size, what can I do?"),
        ("Why can't I hear them on Zoom?", "Why can't they hear me on Zoom?"),
        ("can I lend my car to my friend", "can my friend lend his car to me"),
        ("how do I move points from my card to my son's", "how do I move points from my son's card to mine"),
        ("May tenants sue landlords", "May landlords sue tenants"),
        ("I scratched a parked car", "a parked car scratched me"),
        ("do dogs like cats", "do cats like dogs"),
        ("What is the oddest thing someone has ever asked you?", "What is the oddest thing you have asked someone?"),
        ("I got my neighbor's parcel by mistake", "My neighbor got my parcel by mistake"),
        ("Is it true I blocked her?", "She blocked me, is it true?"),
        ("Do US citizens need a visa for Chile?", "Do Chilean citizens need a visa for the US?"),
    ],
)
def test_exchanged_sides_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Can the bank sue me?", "Can I be sued by the bank?"),
        ("Was I hacked by my neighbor?", "Did my neighbor hack me?"),
        ("why was I charged twice", "why did you charge me twice"),
        ("I was sold a broken phone by a dealer", "a dealer sold me a broken phone"),
        ("Is it my bank that pays me?", "Does my bank pay me?"),
        ("Can my wife and I open an account?", "Can I and my wife open an account?"),
        ("What can I do if I lost my keys?", "I lost my keys. What can I do?"),
        ("Can I activate my card?", "I have a new card. How do I activate it?"),
        ("I like her, does she like me?", "Does she like me? I like her."),
        ("How do I give you my new address?", "How do I give my new address to you?"),
        ("What is the most flexible Canon lens for macro?", "What is the best macro lens for a Canon?"),
        ("How do I save automatically?", "Can it automatically save my work?"),
        ("My store card was refused, can you explain that?", "You refused my store card."),
        ("Can I top up using cash?", "How do I use cash to top up my account?"),
        ("Is there a room service fee?", "Why did I pay a fee to service the room?"),
        ("What can I do to see him?", "He can see me, what can I do?"),
    ],
)
def test_the_same_roles_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
