"""The guard of negation."""

import pytest

from model.guards.negation import negation_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What should I do?", "What should I not do?"),
        ("Can I travel with a visa?", "Can I travel without a visa?"),
        ("How do I lock a file?", "How do I unlock a file?"),
        ("Is parking here legal?", "Is parking here illegal?"),
        ("Why do birds fly?", "Why don't birds fly?"),
        ("Who won a title?", "Who never won a title?"),
        ("How do I enable cookies?", "How do I disable cookies?"),
        ("gluten-free bread", "bread with gluten"),
        ("Why does a page fail to load?", "Why does a page load?"),
        ("Who is able to see it?", "Who is unable to see it?"),
        ("Which foods lack iron?", "Which foods have iron?"),
        ("pizza with ham", "pizza without ham"),
        ("foods that contain iron", "foods that don't contain iron"),
        ("I got no letter, how do I pay?", "I got a letter, how do I pay?"),
        ("I have no ticket, how do I get in?", "How do I get in with a ticket?"),
        ("How can I park if I have no permit?", "How can I park if I have a permit?"),
        ("Why can't I?", "Why can I?"),
        ("opened cream, shelf life?", "unopened cream, shelf life?"),
        ("the app shows only my files, why", "the app shows everything except my files, why"),
        ("How do I get in the car?", "How do I get out of the car?"),
        ("How do I lock files in folders?", "How do I unlock a file in a folder?"),
        ("pancakes with eggs and milk", "pancakes without eggs but with milk"),
        ("Which pills are sold without a prescription?", "Which pills are sold with a prescription only?"),
    ],
)
def test_a_denial_of_the_same_words_is_another_question(one, two):
    assert negation_differs(Reading(one), Reading(two))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Why do birds not fly?", "Why don't birds fly?"),
        ("What is and isn't a cloud?", "What is a cloud?"),
        ("What should I do or not do in Oslo?", "What should I do in Oslo?"),
        ("Don't I need a ticket?", "Do I need a ticket?"),
        ("Is butter good for you?", "Is butter bad for you?"),
        ("Who survived being in a storm?", "Who survived being out of a storm?"),
        ("Is parking not legal here?", "Is parking illegal here?"),
        ("Isn't Rome expensive?", "Is Rome expensive?"),
        ("Is Rome expensive or not?", "Is Rome expensive?"),
        ("My card is broken", "My card does not work"),
        ("Bread without yeast: how?", "Bread with no yeast: how?"),
        ("Is my seat uncomfortable?", "Is my seat small?"),
        ("What is a unit of the army?", "What is it of the army?"),
        ("Can I enter without a ticket?", "Do I need a ticket to enter?"),
        ("My overtime was not paid", "When is my overtime paid?"),
        ("I have no sound, how do I get sound?", "How do I get the sound?"),
        ("I can't activate my card", "I need to activate my card."),
        ("I can't activate my card", "Please activate my card"),
        ("Is there no food on board?", "Is there food on board?"),
        ("I can't log in", "How do I log in?"),
        ("I want to leave the club but I can't leave", "I want to leave the club"),
        ("My order hasn't come, when will it come?", "When will my order come?"),
        ("A book that never fails to please", "A book that will please"),
        ("I am unable to pay", "What can I do to pay?"),
        ("It works in Rome, doesn't it?", "Does it work in Rome?"),
        ("You can eat it raw, can't you", "Can you eat it raw?"),
        ("You don't work on Sunday, do you?", "Do you work on Sunday?"),
        ("Can't I pay in cash?", "Can I pay in cash?"),
        ("bread without sugar", "sugar-free bread"),
        ("The door fails to lock", "The door doesn't lock"),
        ("Is pentane not soluble?", "Is pentane soluble? Why or why not?"),
        ("Varför fungerar inte mitt kort?", "Varför fungerar mitt kort?"),
    ],
)
def test_other_ways_to_deny_and_languages_without_rules_are_no_difference(one, two):
    assert not negation_differs(Reading(one), Reading(two))


@pytest.mark.parametrize(
    ("one", "two", "differs"),
    [
        ("How do I turn on notifications?", "How do I turn off notifications?", True),
        ("How do I turn notifications on?", "How do I turn notifications off?", True),
        ("how to turn on calls on my phone", "how to turn off calls on my phone", True),
        ("How do I turn off notifications?", "How do I turn notifications off?", False),
        ("How much is 20% off on shoes?", "How much is 20% off shoes?", False),
        ("How do I turn on notifications?", "How do I turn the notifications of the app on?", False),
    ],
)
def test_off_in_place_of_on_is_the_opposite(one, two, differs):
    assert negation_differs(Reading(one), Reading(two)) is differs
    assert negation_differs(Reading(two), Reading(one)) is differs
