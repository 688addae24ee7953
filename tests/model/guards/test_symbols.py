"""The guard of symbols."""

import pytest

from model.guards.reading import Reading
from model.guards.symbols import symbols_differ


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Is C# fast?", "Is C++ fast?"),
        ("Is C fast?", "Is C++ fast?"),
        ("Who gets O+ blood?", "Who gets O- blood?"),
        ("Can I send $50?", "Can I send €50?"),
        ("Is it -5 outside?", "Is it 5 outside?"),
        ("Is 30°C warm?", "Is 30°F warm?"),
        ("What does == do?", "What does === do?"),
        ("What is 3 + 4?", "What is 3 - 4?"),
        ("C# 학습 방법", "C++ 학습 방법"),
    ],
)
def test_another_symbol_on_the_same_word_or_number_is_another_question(one, two):
    assert symbols_differ(Reading(one), Reading(two))


@pytest.mark.parametrize("price", range(100, 110))
def test_a_sign_in_words_hides_no_other_difference_whatever_the_order_of_the_numbers(price):
    one, two = f"Are -5, -6, -7, -8 and -9 fine for ${price}?", f"Are 5, 6, 7, 8 and 9 below fine for €{price}?"
    assert symbols_differ(Reading(one), Reading(two))
    assert symbols_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Is C# fast?", "Is C sharp fast?"),
        ("Is C# fast?", "Is the language C# fast?"),
        ("Can I send $50?", "Can I send 50 dollars?"),
        ("Can I send $50?", "Can I send 50?"),
        ("Is it -5 outside?", "Is it minus 5 outside?"),
        ("My phone is dead - what now?", "My phone is dead. What now?"),
        ("My phone is dead -what now?", "My phone is dead, what now?"),
        ("Terms & conditions?", "Terms and conditions?"),
        ("Is wi-fi free?!", "is wifi free"),
        ("What is 3+4?", "What is 3 plus 4?"),
        ("Ça va ! Tu viens ?", "Ça va ? Tu viens ?"),
        ("#metoo", "metoo"),
        ("What is x <> y in SQL?", "What is x != y in SQL?"),
        ("x ≠ y", "x != y"),
    ],
)
def test_punctuation_and_symbols_in_words_are_no_difference(one, two):
    assert not symbols_differ(Reading(one), Reading(two))
