import pyarrow as pa
import pytest

from pipelines.privacy.patterns import replace_personal
from pipelines.privacy.scrub import scrub


@pytest.mark.parametrize(
    ("before", "number", "after"),
    [
        ("call ", "eight two zero six zero one eight four four zero", " please"),
        ("my number is ", "oh two oh seven nine four six oh nine five eight", ""),
        ("call ", "Nine, Eight, um, Two, Double Five, Three, One, Seven, Six, Four", "."),
        ("ruf ", "null eins sieben äh eins zwo drei vier fünf sechs", " an"),
        ("llama al ", "seis cero cero uno dos tres cuatro cinco siete", ""),
        ("appelle le ", "zéro six un deux trois quatre cinq sept huit neuf", ""),
        ("call ", "oh seven nine double four one double two three double five", " now"),
        ("dial ", "double oh seven nine four six triple three", ""),
        ("one more thing call ", "five five five oh one two seven three four nine", " or so"),
    ],
)
def test_nine_digits_in_words_are_a_number(before, number, after):
    assert replace_personal(before + number + after) == (f"{before}[number]{after}", ["number"])
    scrubbed = scrub(pa.array([before + number + after, "how do I pay", None]))
    assert scrubbed.texts.to_pylist() == [f"{before}[number]{after}", "how do I pay", None]


@pytest.mark.parametrize(
    "text",
    [
        "one two three four five six seven eight nine",
        "count nine eight seven six five four three two one zero",
        "one zero one one zero zero one zero one one",
        "set a timer for twenty five minutes and three seconds",
        "what is one plus two plus three plus four plus five",
        "eight two zero six zero one eight four",
        "eight two zero double six one eight",
        "one double zero triple one zero one zero",
        "stone two three five six four one two nine",
    ],
)
def test_counting_and_fewer_digits_stay(text):
    assert replace_personal(text) == (text, [])
