"""Quantities in two texts that are compared, Roman numerals among them.

Reading -> text in one spelling of numbers -> quantities
"""

from __future__ import annotations

import re
from typing import Final

from model.guards.languages.numbers import in_digits, number_compounds, number_words
from model.guards.lists import listed
from model.guards.reading import Reading, stem
from model.guards.scanning import NUMBER_WORDS, UNITS_AFTER_A, Quantity, Scanner
from model.guards.units import SCALES, one_spelling, tables

_ROMAN: Final[dict[str, float]] = tables()["roman"]
_SHORT_ROMAN: Final[dict[str, float]] = {"I": 1, "V": 5, "X": 10}
_BEFORE_ROMAN = listed("before_roman_numerals")
_SPACED = re.compile(r"(?<![\d.,])(?:[1-9]\d{0,2}(?: \d{3})+(?![\d.,]?\d)|\d+(?:[ -]\d+)+)")
"""Thousands in much of Europe, several numbers or one of a telephone: "1 500", "iPhone 12 256 GB", "555-1234"."""
_SHORTEST: Final = 4
"""Minimum number of digits of a number with a space or hyphen; "1 1/2" has two."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MOST_QUANTITIES: Final = 64
"""Maximum number of quantities of a text that are compared: each with each, 1,000 would take over a second."""
_ARTICLES: Final = frozenset(("a", "an"))
_DIGIT = re.compile(r"\d")
_NUMBER_WORDS: Final = NUMBER_WORDS.union(SCALES, ("noon", "midnight"), map(str.lower, _ROMAN))
_ROMANS: Final = frozenset(roman.lower() for roman in (*_ROMAN, *_SHORT_ROMAN))
_SMALL_ROMAN: Final = frozenset(("ii", "iii", "vii", "viii", "ix", "xii"))
"""Roman numerals that are no words or abbreviations in small letters, as "vi", "iv" and "xi" are."""
_LETTERS: Final = frozenset(roman.lower() for roman in _SHORT_ROMAN)


def has_numbers(reading: Reading) -> bool:
    """Return whether a text can have a quantity."""
    words = reading.vocabulary
    if not (_NUMBER_WORDS.isdisjoint(words) and number_words().isdisjoint(reading.plain_vocabulary)):
        return True
    if not (_ARTICLES.isdisjoint(words) or UNITS_AFTER_A.isdisjoint(words)):
        return True
    has_one = reading.language is not None and not reading.language.ones.isdisjoint(words)
    if has_one or _DIGIT.search(reading.folded) or number_compounds().search(_plain(reading)):
        return True
    return not _LETTERS.isdisjoint(words) and not _BEFORE_ROMAN.isdisjoint(words)


def _plain(reading: Reading) -> str:
    """Return the plain text, which is the folded one for most texts in ASCII: without the time that it takes."""
    return reading.folded if reading.runs is reading.words else reading.plain


def quantities(one: Reading, two: Reading) -> tuple[list[Quantity], list[Quantity]]:
    """Return the numbers of two texts that are compared, in order, those of list titles ("top 10", "5 best") left out.

    "1 500" and "555-1234" are one number if the other text has it without the space or hyphen or at another place.
    """
    first, second = in_digits(one, two)
    return _quantities(one, _join_thousands(first, second)), _quantities(two, _join_thousands(second, first))


def _quantities(reading: Reading, text: str) -> list[Quantity]:
    """Return the numbers of a text, whose number words are digits."""
    return (Scanner(one_spelling(text)).read() + _romans(reading))[:_MOST_QUANTITIES]


def _join_thousands(folded: str, other: str) -> str:
    """Return a text without the spaces and hyphens in those numbers that the other text has without them."""
    runs = _SPACED.findall(folded)
    if not runs:
        return folded
    numbers = {number.replace(",", "").replace(".", "") for number in _NUMBER.findall(other)}
    numbers.update(map(_joined, _SPACED.findall(other)))
    for number in runs:
        joined = _joined(number)
        if len(joined) >= _SHORTEST and joined in numbers:
            folded = folded.replace(number, joined)
    return folded


def _joined(number: str) -> str:
    return number.replace(" ", "").replace("-", "")


def _romans(reading: Reading) -> list[Quantity]:
    if _ROMANS.isdisjoint(reading.vocabulary) or reading.raw.isupper():
        return []
    words = [word for word, _ in reading.cased]
    found: list[Quantity] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        value = _ROMAN.get(word.upper() if word in _SMALL_ROMAN else word)
        if value is None and before.lower() in _BEFORE_ROMAN:
            value = _SHORT_ROMAN.get(word)
        if value is not None and before:
            after = words[place + 1] if place + 1 < len(words) else ""
            found.append(Quantity(value, value, "", False, before.lower(), stem(after.lower())))
    return found
