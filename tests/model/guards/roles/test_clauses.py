"""Clauses and comparisons that are exchanged."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Does the alarm ring if the door opens?", "Does the door open if the alarm rings?"),
        ("Why does my router restart when my laptop sleeps?", "Why does my laptop sleep when my router restarts?"),
        ("Do I peel the potatoes before I boil them?", "Do I boil the potatoes before I peel them?"),
        ("Why is gold more expensive than silver?", "Why is silver more expensive than gold?"),
        ("When is leasing cheaper than buying?", "When is buying cheaper than leasing?"),
        ("I get dizzy when I'm thirsty, is that normal?", "I get thirsty when I'm dizzy, is that normal?"),
        ("Hi, if it snows, does the heating start?", "Hi, if the heating starts, does it snow?"),
        ("when I cough why does my back hurt", "when my back hurts why do I cough"),
    ],
)
def test_exchanged_clauses_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("When I open Excel, why does my laptop freeze?", "Why does my laptop freeze when I open Excel?"),
        ("Do I lose my points if I cancel?", "If I cancel, do I lose my points?"),
        ("Should I eat before I swim?", "Before swimming, should I eat?"),
        ("There is a charge when I use an ATM.", "When I use an ATM there is a charge."),
        ("I'm moving to Spain but want to keep my account", "I want to keep my account but I'm moving to Spain"),
        ("when my card is lost what do I do", "what do I do when my card is lost"),
        ("Is leasing cheaper than buying?", "Is buying cheaper than leasing?"),
        ("How is Go different than Rust?", "How is Rust different than Go?"),
        ("When do I pay before I sign?", "When do I sign after I pay?"),
        ("Is butter as bad as margarine?", "Is margarine as bad as butter?"),
        ("When and how does the war end?", "How and when does the war end?"),
    ],
)
def test_moved_clauses_and_plain_comparisons_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))


CONJUNCTIONS = pytest.mark.parametrize(
    "word", ["when", "if", "because", "before", "after", "once", "until", "whenever", "unless", "although", "though"]
)


@CONJUNCTIONS
def test_each_conjunction_separates_two_clauses(word):
    one = Reading(f"Do I sleep badly {word} I drink coffee?")
    assert order_differs(one, Reading(f"Do I drink coffee {word} I sleep badly?"))
    assert not order_differs(one, Reading(f"{word} I drink coffee, do I sleep badly?"))


@pytest.mark.parametrize("asking", ["why can", "how can", "what can", "where can", "who can", "do", "does", "did"])
def test_a_question_behind_a_clause_needs_no_comma(asking):
    one = Reading(f"when my dog eats {asking} my cat sleep")
    assert order_differs(one, Reading(f"when my cat sleeps {asking} my dog eat"))
    assert not order_differs(one, Reading(f"{asking} my cat sleep when my dog eats"))


@CONJUNCTIONS
def test_a_clause_at_the_start_is_another_one_than_at_the_end(word):
    one = Reading(f"{word} I drink coffee, do I sleep badly?")
    assert order_differs(one, Reading(f"Do I drink coffee {word} I sleep badly?"))
    assert not order_differs(one, Reading(f"Do I sleep badly {word} I drink coffee?"))
