"""Content words that have exchanged their prepositions or places."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How long after surgery can I fly?", "How long after flying can I have surgery?"),
        ("Can I use my points without paying a fee?", "Can I pay a fee without using my points?"),
        ("How do I divide column A by column B?", "How do I divide column B by column A?"),
        ("copy cell A into cell B", "copy cell B into cell A"),
        ("What runs in Rome but not in Bonn?", "What runs in Bonn but not in Rome?"),
        ("What does A. Smith think of C. Jones?", "What does C. Jones think of A. Smith?"),
        ("Which are the best games for a laptop?", "Which is the best laptop for games?"),
        ("Do Cubans need a visa for India?", "Do Indians need a visa for Cuba?"),
        ("How many yen do I get for a pound?", "How many pounds do I get for a yen?"),
        ("Can nurses apply for doctor posts?", "Can doctors apply for nurse posts?"),
        ("Can I swap my voucher for a refund?", "Can I swap my refund for a voucher?"),
        ("is every column a list", "is every list a column"),
        ("What if a nurse is threatening a patient?", "What if a patient is threatening a nurse?"),
        ("Can I change my second order into my first one?", "Can I change my first order into my second one?"),
        ("Do you have to register to vote?", "Do you have to vote to register?"),
        ("Can I use hard wax if I have soft skin?", "Can I use soft wax if I have hard skin?"),
        ("Can I pay my card with my loan?", "Can I pay my loan with my card?"),
        ("Which is the mother of the king's aunt?", "Which is the aunt of the king's mother?"),
        ("Is an ape a monkey?", "Is a monkey an ape?"),
        ("Why does it work in Rome but doesn't in Bonn?", "Why does it work in Bonn but doesn't in Rome?"),
        ("Does a dog chasing a cat bark?", "Does a cat chasing a dog bark?"),
        ("Do you sell a red coat with a black belt?", "Do you sell a black coat with a red belt?"),
    ],
)
def test_exchanged_words_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("After surgery, can I fly?", "Can I fly after surgery?"),
        ("What does a blinking light mean?", "What does it mean when the light is blinking?"),
        ("Help! I lost my parcel!", "My parcel is lost! Please help me!"),
        ("The mail has not come, but I have paid", "I have paid, but the mail has not come"),
        ("Is it possible to rent skis?", "Is ski rental possible?"),
        ("How long will delivery to Ireland take?", "How long will it take to deliver to Ireland?"),
        ("I do not recognize the card payment.", "There is a payment on my card that I do not recognize."),
        ("How can an old iron pan be cleaned?", "How do I clean an iron pan that is old?"),
        ("What is the best chess app for phones?", "What is the best phone app for chess?"),
        ("What is the best travel bag for cosmetics?", "What is the best cosmetics bag for travel?"),
        ("steps to cancel a booking", "booking cancellation steps"),
        ("What can I do after 10th grade?", "What can I do after grade 10th?"),
        ("Do I have to call you to change my plan?", "Can I change my plan without having to call you?"),
        ("Are there first aid kits on board?", "Are there aid kits on board first?"),
        ("Is a 50% dose enough?", "Is a dose of 50% enough?"),
        ("Which ways to pay bills are there?", "Which bill pay ways are there?"),
        ("How do I make pasta with tomatoes?", "How do I make tomatoes with pasta?"),
    ],
)
def test_moved_words_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize("word", ["some", "many", "any", "all", "what kind"])
def test_of_behind_words_for_many_is_no_preposition(word):
    one = Reading(f"Do {word} of the dogs chase cats?")
    assert order_differs(one, Reading("Do cats chase dogs?"))
    assert not order_differs(one, Reading("Do dogs chase cats?"))


@pytest.mark.parametrize(
    "words",
    [
        "Do I want", "I wonder how", "Would I like", "Do I need", "Do I try", "Is it a way", "Am I able", "Do I start",
        "Do I begin", "Do I learn", "Am I used", "Is it a place", "Am I going", "Do I know how", "Is it best",
        "Do I have", "he has", "he had",
    ],
)  # fmt: skip
def test_to_before_a_verb_is_no_preposition_of_it(words):
    one = Reading(f"{words} to register to vote?")
    assert order_differs(one, Reading(f"{words} to vote to register?"))
    assert not order_differs(one, Reading(f"To vote, {words.lower()} to register?"))


@pytest.mark.parametrize("article", ["a", "any", "every", "each"])
def test_to_be_another_thing_has_a_direction(article):
    one = Reading(f"Is {article} cube a box?")
    assert order_differs(one, Reading(f"Is {article} box a cube?"))
    assert not order_differs(one, Reading(f"Is {article} cube then a box?"))


@pytest.mark.parametrize("ordinal", ["second", "third", "fourth", "final"])
def test_first_names_one_of_several(ordinal):
    one = Reading(f"Can I change my {ordinal} order into my first one?")
    assert order_differs(one, Reading(f"Can I change my first order into my {ordinal} one?"))
    assert not order_differs(one, Reading(f"Can my {ordinal} order be changed into my first one?"))
