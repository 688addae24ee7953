"""The guard of actions."""

import pytest

from model.guards.action import action_differs
from model.guards.reading import Reading
from model.guards.registry import fires

DIFFERENT = [
    ("How do I track my order?", "How can I cancel my order?"),
    ("how long do you boil an egg", "how long do you fry an egg"),
    ("How do I commit my changes in git?", "How do I push my changes in git?"),
    ("mute a contact on whatsapp", "block a contact on whatsapp"),
    ("merge cells in google sheets", "split cells in google sheets"),
    ("fees for depositing cash", "fees for withdrawing cash"),
    ("When was the Bastille built?", "When was the Bastille stormed?"),
    ("Who founded Rome?", "Who sacked Rome?"),
    ("Why do cats purr?", "Why do cats scratch?"),
    ("What temperature should bread dough rise at?", "What temperature should bread dough bake at?"),
    ("How do I back up my phone?", "How do I unlock my phone?"),
    ("Can you help me rebook my flight?", "Can you help me cancel my flight?"),
    ("How do I silence my phone?", "how do i quickly locate my phone"),
    ("how to tune a guitar", "how to restring a guitar"),
    ("please block my card", "please activate my card"),
    ("Who wrote Emma?", "Who illustrated Emma?"),
    ("Who coached the team?", "Who sponsored the team?"),
    ("How is ethanol produced industrially?", "How is ethanol transported industrially?"),
    ("Can I extend my lease by phone?", "Can I transfer my lease to someone else by phone?"),
    ("When was the probe launched?", "When was the probe first repaired?"),
    ("When can babies drink milk?", "When can babies digest milk?"),
]
SAME = [
    ("Who funded the trip?", "Who sponsored the trip?"),
    ("Why do leaves wilt?", "Why do leaves droop?"),
    ("How do I cancel my booking?", "Can I call off my booking?"),
    ("How can I withdraw cash?", "How can I take out cash?"),
    ("When is my order shipped?", "When is my order dispatched?"),
    ("Who murdered Caesar?", "Who assassinated Caesar?"),
    ("What do I do if the ATM eats my card?", "What do I do if the ATM ate my card?"),
    ("How do I get a refund?", "How do I claim a refund?"),  # a general verb
    ("How do I deal with stress?", "How do I analyze stress?"),  # a general verb with a particle
    ("How do I escape a quote?", "How do I backslash a quote?"),  # verbs that no list has
    ("How do I set up direct debit?", "How do I pay by direct debit?"),  # two structures
    ("How do you ship my order?", "How do I track my order?"),  # two subjects
    ("What does NAFTA regulate?", "Why was NAFTA created?"),  # active and passive
    ("Can rabbits eat lettuce?", "Can plants eat lettuce?"),  # "plants" is no verb here
    ("the best drill for concrete", "the best screw for concrete"),
    ("Does Rouse hire graduates?", "Does Cook hire graduates?"),
    ("How do I keep my account?", "How do I not close my account?"),  # left to the guard of negation
    ("Wie kann ich die Karte check machen", "Wie kann ich die Karte block machen"),
    ("How do I cancel?", "How much is the express delivery of a new card?"),
    ("How do I change my PIN?", "How do I change my PIN"),
]


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_verbs_that_name_different_actions_are_seen(one, two):
    assert action_differs(Reading(one), Reading(two))
    assert action_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(("one", "two"), SAME)
def test_other_pairs_are_none_of_this_guard(one, two):
    assert not action_differs(Reading(one), Reading(two))
    assert not action_differs(Reading(two), Reading(one))


def test_the_guard_is_named():
    assert fires("How do I freeze my account?", "How do I close my account?") == "action"
