"""Ways from A to B."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("last bus from Leeds to York", "when does the last bus from York to Leeds leave"),
        ("cheapest flight to the US from India", "cheapest flight to India from the US"),
        ("usd to gbp", "convert gbp to usd"),
        ("next ferry from Dover to Calais", "next ferry from Calais to Dover"),
        ("git rebase main onto feature", "git rebase feature onto main"),
        ("share calendar from outlook to google", "share google calendar to outlook"),
        ("flights from Oslo to Bergen and their prices", "flights from Bergen to Oslo and their prices"),
        ("bus times Leeds to York", "bus times York to Leeds"),
        ("how do I rebase main onto feature in git", "git rebase feature onto main"),
    ],
)
def test_opposite_ways_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("last bus to York from Leeds", "when does the last bus from Leeds to York leave"),
        ("How far is it from Bath to Ulm?", "How far is it from Ulm to Bath?"),
        ("sync my iphone to my mac", "sync my mac to my iphone"),
        ("bus from York to Leeds and from Leeds to York", "bus from Leeds to York and from York to Leeds"),
        ("How do I give my son access to my photos?", "How do I give access to my photos to my son?"),
        ("Are we working to shop or shop to work?", "Do we shop to work or work to shop?"),
        ("What is the best music to listen to?", "Do I have to listen to music?"),
        ("fee of using a card to add money", "do you charge a fee when I add money to my card"),
        ("bus from York to Leeds and back from Leeds to York", "bus from Leeds to York"),
    ],
)
def test_one_way_in_other_words_is_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
