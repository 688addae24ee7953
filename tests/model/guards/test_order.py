"""The guard of the order of arguments."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Trains from Bonn to Ulm", "Trains from Ulm to Bonn"),
        ("Bonn to Ulm by train", "Ulm to Bonn by train"),
        ("How do I convert inches to feet?", "How do I convert feet to inches?"),
        ("Does noise cause pain?", "Does pain cause noise?"),
        ("Was Athens attacked by Sparta?", "Was Sparta attacked by Athens?"),
        ("Should I eat before sport?", "Should I do sport before I eat?"),
        ("Is every cube a box?", "Is every box a cube?"),
        ("Does state law beat federal law?", "Does federal law beat state law?"),
    ],
)
def test_exchanged_roles_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Trains from Bonn to Ulm", "Trains to Ulm from Bonn"),
        ("Is Bonn better than Ulm?", "Is Ulm better than Bonn?"),
        ("Do Bonn and Ulm differ?", "Do Ulm and Bonn differ?"),
        ("Did noise cause the pain?", "Was the pain caused by noise?"),
        ("In Rome, do I need cash?", "Do I need cash in Rome?"),
        ("Are there bots asking questions?", "Are there question asking bots?"),
        ("What is the salary of a clerk in Rome?", "What is the salary of a Rome clerk?"),
        ("Miért fél a kutya a macskától?", "Miért fél a macska a kutyától?"),
    ],
)
def test_symmetric_relations_and_moved_clauses_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
