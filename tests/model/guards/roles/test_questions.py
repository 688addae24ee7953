"""The side that a question asks for."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("who follows me on instagram", "who do I follow on instagram"),
        ("people who follow me", "people I follow"),
        ("What eats snakes?", "What do snakes eat?"),
        ("Which teams did Real Madrid beat?", "Which teams beat Real Madrid?"),
        ("Which companies has Google bought?", "Which companies have bought Google?"),
        ("How many people follow Messi?", "How many people does Messi follow?"),
        ("who is suing apple", "who is apple suing"),
        ("who was hired by Google", "who hired Google"),
        ("Who does the manager report to?", "Who reports to the manager?"),
        ("Who lent money to my brother?", "Who did my brother lend money to?"),
        ("the doctor who treated my mother", "the doctor my mother treated"),
        ("What snakes eat mice?", "What snakes do mice eat?"),
        ("Who did Real Madrid sell players to?", "Who sold players to Real Madrid?"),
        ("who does a head nurse report to in a hospital", "who reports to a head nurse in a hospital"),
    ],
)
def test_subject_and_object_questions_differ(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What do snakes eat?", "What is eaten by snakes?"),
        ("Which films did Nolan direct?", "Which films were directed by Nolan?"),
        ("Who are you inspired by?", "Who inspires you?"),
        ("What does API mean?", "What is the meaning of API?"),
        ("What can cause white smoke?", "What causes smoke white?"),
        ("Who did she marry?", "Who married her?"),
        ("Which shows are a must watch?", "What are some must watch shows?"),
        ("What motivates you?", "What is your motivation?"),
        ("How do we choose our goals?", "How can I choose what goals suit me?"),
        ("Which paper sizes are stocked by you?", "Do you stock paper sizes?"),
        ("What is the best way to charge my phone?", "How do I charge a phone?"),
    ],
)
def test_one_side_in_other_forms_is_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
