"""Opposite words of English, which the guard of negation reads."""

import pytest

from model.guards.lists import listed
from model.guards.negation import negation_differs
from model.guards.opposites import are_listed
from model.guards.reading import Reading
from model.guards.registry import fires


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How do I add a user to a group?", "How do I remove a user from a group?"),
        ("Was my order accepted?", "Was my order rejected?"),
        ("What should I do before an upgrade?", "What should I do after the upgrade?"),
        ("How do I switch the radio on?", "How do I switch the radio off?"),
        ("turn on dark mode", "turn off dark mode"),
        ("How do I sign in to it?", "How do I sign out of it?"),
        ("Where do I turn on sounds on a phone?", "Where do I turn off sounds on a phone?"),
        ("Which bus goes to Upham?", "Which bus goes from Upham?"),
        ("my payment went through, what now", "my payment failed, what now"),
        ("Which is cheaper to run?", "Which is more expensive to run?"),
        ("Is a bus cheaper than a train?", "Is a bus dearer than a train?"),
        ("delete all mails from May", "delete all mails except from May"),
        ("delete mails except from May", "delete only mails from May"),
        ("print all but the even numbers", "print only the even numbers"),
        ("Are you open apart from Sunday?", "Are you open including Sunday?"),
        ("Which goods are exempt from duty?", "Which goods are subject to duty?"),
        ("Which staff are entitled to a bonus?", "Which staff are excluded from a bonus?"),
        ("How do I lend money to a friend?", "How do I borrow money from a friend?"),
        ("What is the maximum deposit?", "What is the minimum deposit?"),
        ("remove column pandas", "add column pandas"),
        ("What was not accepted?", "What was not rejected?"),
        ("Do I switch on a lamp?", "Do I switch off the lamp?"),
        ("What is the easiest exam?", "What is the hardest exam?"),
        ("Is the tap in the kitchen on?", "Is the kitchen tap off?"),
        ("What raises blood pressure?", "What lowers blood pressure?"),
        ("Why are photos overexposed?", "Why are photos underexposed?"),
        ("Is it a prewar house?", "Is it a postwar house?"),
        ("Which mushrooms are harmful?", "Which mushrooms are harmless?"),
        ("Who is the payer?", "Who is the payee?"),
    ],
)
def test_opposite_words_are_another_question(one, two):
    assert negation_differs(Reading(one), Reading(two))
    assert negation_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Why was my card declined?", "Why was my card not accepted?"),
        ("Is Upham cheaper than Rome?", "Is Rome more expensive than Upham?"),
        ("Do I eat before I run?", "Do I run after I eat?"),
        ("Is Rome south of Pisa?", "Is Pisa north of Rome?"),
        ("Can you lend me a bike?", "Can I borrow a bike from you?"),
        ("Do you sell stamps?", "Can I buy stamps?"),
        ("How hard is Latin?", "How easy is Latin?"),
        ("Is it safe to travel?", "Is it dangerous to travel?"),
        ("How do I fill in a form?", "How do I fill out a form?"),
        ("When does the alarm go on?", "When does the alarm go off?"),
        ("How do I turn it on and off?", "How do I turn it off and on?"),
        ("Which drawbacks and advantages are there?", "Which benefits and advantages are there?"),
        ("What is 20 on shoes?", "What is 20 off shoes?"),
        ("How do I get my dad to stop smoking?", "How do I stop my dad from smoking?"),
        ("What would happen to Upham if it did?", "What would happen if it did from Upham?"),
        ("Can I buy it on eBay?", "Can I buy it off of eBay?"),
        ("Which days are you open?", "Which days are you closed in winter?"),
        ("Ist Radio on?", "Ist Radio off?"),
        ("Do you open every day except Monday?", "Do you open every day but Monday?"),
    ],
)
def test_opposites_with_the_same_meaning_are_no_difference(one, two):
    assert not negation_differs(Reading(one), Reading(two))
    assert not negation_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    "pair",
    ["stopped starting", "froze thawed", "lost found", "bigger smallest", "cities towns", "men women", "dried soaked"],
)
def test_words_have_their_forms(pair):
    assert are_listed(set(pair.split())) == (pair != "cities towns")


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("incorrect", "correct"),
        ("impossible", "possible"),
        ("illegal", "legal"),
        ("irregular", "regular"),
        ("disconnected", "connected"),
        ("deactivated", "activated"),
        ("atypical", "typical"),
        ("unpaid", "paid"),
        ("non-toxic", "toxic"),
    ],
)
def test_a_negating_prefix_makes_an_opposite(word, base):
    assert negation_differs(Reading(f"Is it {word}?"), Reading(f"Is it {base}?"))
    assert not negation_differs(Reading(f"Is it {word}?"), Reading(f"Is it not {base}?"))


def test_another_prefix_makes_no_opposite():
    assert are_listed({"unpaid", "paid"})
    assert not are_listed({"repaid", "paid"})


def test_each_group_has_two_sides_and_no_word_on_both():
    kinds = ("verbs", "converses", "adjectives", "scales", "words", "relations")
    for group in (group for kind in kinds for group in listed(f"opposite_{kind}")):
        one, two = (side.split(",") for side in group.split("/"))
        assert set(one).isdisjoint(two), group
        assert all((*one, *two)), group


def test_an_opposite_stops_an_answer():
    assert fires("how do i open an account", "how do i close an account") == "negation"
