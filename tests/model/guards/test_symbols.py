"""The guard of symbols."""

import pytest

from model.guards.reading import Reading
from model.guards.symbols import symbols_differ


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Is C# fast?", "Is C++ fast?"),
        ("How do I solve x/3 = 12?", "How do I solve x*3 = 12?"),
        ("What is 7 // 2?", "What is 7 / 2?"),
        ("how do i escape < in html", "how do i escape & in html"),
        ("What does *args mean?", "What does **args mean?"),
        ("When do I write a : in a text?", "When do I write a ; in a text?"),
        ("why did he re-sign last summer", "why did he resign last summer"),
        ("Is C fast?", "Is C++ fast?"),
        ("Who gets O+ blood?", "Who gets O- blood?"),
        ("Can I send $50?", "Can I send €50?"),
        ("Is it -5 outside?", "Is it 5 outside?"),
        ("Is 30°C warm?", "Is 30°F warm?"),
        ("Is 30 celsius warm?", "Is 30 fahrenheit warm?"),
        ("Is 30 degrees celsius warm?", "Is 30 degrees fahrenheit warm?"),
        ("Is it 500 yen?", "Is it 500 yuan?"),
        ("Is it usd 500?", "Is it eur 500?"),
        ("Is -5 above zero?", "Is 5 above zero?"),
        ("Was ist α?", "Was ist β?"),
        ("What does == do?", "What does === do?"),
        ("What is 3 + 4?", "What is 3 - 4?"),
        ("C# 학습 방법", "C++ 학습 방법"),
        ("What does .header select?", "What does #header select?"),
        ("Do I need an A* at A level?", "Do I need an A at A level?"),
        ("What does x++ do?", "What does x-- do?"),
        ("Which updates does ^1.2 allow?", "Which updates does ~1.2 allow?"),
        ("What does >=1.2 mean?", "What does ==1.2 mean?"),
        ("How many cm is 6'?", 'How many cm is 6"?'),
        ("Bake at 180 C", "Bake at 180 F"),
        ("Is it 500 dollars?", "Is it 500 pounds?"),
        ("Does it cost 5 cents?", "Does it cost 5 dollars?"),
        ("Where is room 12a?", "Where is room 12b?"),
        ("How do I type é?", "How do I type è?"),
        ("What does the & do?", "What does the && do?"),
        ("What does () mean in a regex?", "What does [] mean in a regex?"),
        ("Which notes has the Bb major scale?", "Which notes has the B major scale?"),
        ("What does 7 kW mean?", "What does 7 kWh mean?"),
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
        ("Can I re-sign the form?", "How do I re-sign the form?"),
        ("Is it *really* free?", "Is it really free?"),
        ("Is it **really** free?", "Is it *really* free?"),
        ("Can I send it and/or keep it?", "Can I send it and / or keep it?"),
        ("Is C# fast?", "Is the language C# fast?"),
        ("Can I send $50?", "Can I send 50 dollars?"),
        ("Is it ¥500?", "Is it 500 yen?"),
        ("Is it ≥5?", "Is it >=5?"),
        ("Can I get an A* in maths?", "Can I get an A star in maths?"),
        ("My phone is dead - what now?", "My phone is dead -- what now?"),
        ("Is 30 c warm?", "Is 30 celsius warm?"),
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
        ("What does -v mean in ssh?", "What does the v flag mean in ssh?"),
        ("What does --help do in git?", "What does the help option do in git?"),
        ("Can I open .docx files?", "Can I open docx files?"),
        ("Do I need an A at A level?", "Do I need an A at A-level?"),
        ("Is it over 18?", "Is it >18?"),
        ('Do you sell 15" bags?', "Do you sell 15 inch bags?"),
        ('Is "iPhone 6" good?', "Is 'iPhone 6' good?"),
        ("Is 5' enough as a warm-up?", "Are 5 minutes enough as a warm-up?"),
        ("Can I pay 99c?", "Can I pay 99 cents?"),
        ("Bake at 180 C", "Bake at 180 degrees"),
        ("A fee of USD 25?", "A fee of $25?"),
        ("Is it for men & women?", "Is it for men and women?"),
        ("Where is research & development done?", "Where is research / development done?"),
        ("How do I play a Bb chord?", "How do I play a B flat chord?"),
        ("Is 7 kW a lot?", "Is 7 kilowatts a lot?"),
        ("Is 50 Mb/s fast?", "Is 50 Mbps fast?"),
    ],
)
def test_punctuation_and_symbols_in_words_are_no_difference(one, two):
    assert not symbols_differ(Reading(one), Reading(two))
