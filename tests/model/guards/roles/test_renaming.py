"""Two words that are exchanged wherever they stand."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How much oil if I replace butter with oil?", "How much butter if I replace oil with butter?"),
        ("What can a buyer do if the seller leaves?", "What can a seller do if the buyer leaves?"),
        ("What happens to my car when the van breaks?", "What happens to my van when the car breaks?"),
        ("What percentage of 50 is 20?", "What percentage of 20 is 50?"),
        ("What fraction of an hour is a minute?", "What fraction of a minute is an hour?"),
    ],
)
def test_two_words_that_are_exchanged_everywhere_change_the_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What can the seller do if the buyer leaves?", "If the buyer leaves, what can the seller do?"),
        ("Does oil or butter burn when it is hot?", "Does butter or oil burn when it is hot?"),
        ("Is oil better than butter if I bake?", "Is butter better than oil if I bake?"),
        ("What percentage of 50 is 20?", "20 is what percentage of 50?"),
        ("What can a buyer do if the seller leaves?", "What can a tenant do if the owner leaves?"),
        ("What was the score of Bonn v Ulm?", "What was the score of Ulm v Bonn?"),
    ],
)
def test_moved_clauses_and_symmetric_relations_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
