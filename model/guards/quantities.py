"""Quantities in a text: digits, number words, Roman numerals, clock times, multipliers and units.

words -> quantities
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from model.guards.languages.numbers import in_digits, number_compounds, number_words
from model.guards.lists import listed
from model.guards.reading import Reading, stem
from model.guards.units import tables, units

_TABLES: Final = tables()
_CARDINAL: Final[dict[str, float]] = _TABLES["cardinals"]
_ORDINAL: Final[dict[str, float]] = _TABLES["ordinals"]
_DECADES: Final[dict[str, float]] = _TABLES["decades"]
_TIMES: Final[dict[str, float]] = _TABLES["times"]
_MULTIPLIERS: Final[dict[str, float]] = _TABLES["multipliers"]
_PARTS: Final[dict[str, float]] = _TABLES["parts"]
_ROMAN: Final[dict[str, float]] = _TABLES["roman"]
_UNITS: Final = units()
_SHORT_ROMAN: Final[dict[str, float]] = {"I": 1, "V": 5, "X": 10}
_BEFORE_ROMAN = listed("before_roman_numerals")
_AFTER_SECOND = frozenset(("", "or", "and", "of", "ago", "to", "for", "in", "per", "is", "before", "after"))
_LISTS = frozenset(["best", "ways", "way", "tips", "things", "reasons", "steps", "most"])
_DOTS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
"""Three decimal places, or thousands in much of Europe: either reading can be meant."""
_SPACED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})+(?![\d.,]?\d)")
"""Thousands in much of Europe, or several numbers: "1 500", "iPhone 12 256 GB"."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%/⁄:]")
_CARDINAL_TWO_DIGITS: Final = 20
_YEARS: Final = range(1500, 2100)
_DIGIT = re.compile(r"\d")
_NUMBER_WORDS: Final = frozenset(
    (*_CARDINAL, *_ORDINAL, *_DECADES, *_TIMES, "dozen", "half", "quarter", *(roman.lower() for roman in _ROMAN))
)
_ROMANS: Final = frozenset(roman.lower() for roman in (*_ROMAN, *_SHORT_ROMAN))
_LETTERS: Final = frozenset(roman.lower() for roman in _SHORT_ROMAN)


class Quantity(NamedTuple):
    """A number in a text.

    Attributes:
        value: as it is written.
        scaled: in the base unit of its kind.
        kind: dimension of its unit ("mass"), "count" with a multiplier, "clock"
            (minutes of the day; "clock12" without am and pm), "decade", "year", or "".
        weak: from a word that is often no number ("one", "first", "once"), so that its place has to agree.
        before: word before it, "" at the start.
        after: stem of the word after it and its unit, "" at the end.
    """

    value: float
    scaled: float
    kind: str
    weak: bool
    before: str
    after: str


def has_numbers(reading: Reading) -> bool:
    """Return whether a text can have a quantity."""
    words = reading.vocabulary
    if not (_NUMBER_WORDS.isdisjoint(words) and number_words().isdisjoint(reading.plain_vocabulary)):
        return True
    has_one = reading.language is not None and not reading.language.ones.isdisjoint(words)
    if has_one or _DIGIT.search(reading.folded) or number_compounds().search(reading.plain):
        return True
    return not _LETTERS.isdisjoint(words) and not _BEFORE_ROMAN.isdisjoint(words)


def quantities(one: Reading, two: Reading) -> tuple[list[Quantity], list[Quantity]]:
    """Return the numbers of two texts that are compared, in order, those of list titles ("top 10", "5 best") left out.

    "1 500" is one number if the other text has it without the space.
    """
    first, second = in_digits(one, two)
    return _quantities(one, _join_thousands(first, second)), _quantities(two, _join_thousands(second, first))


def _quantities(reading: Reading, text: str) -> list[Quantity]:
    """Return the numbers of a text, whose number words are digits."""
    return _Scanner(list(_TOKEN.finditer(text.replace("per cent", "percent")))).read() + _romans(reading)


def _join_thousands(folded: str, other: str) -> str:
    """Return a text without the spaces in those numbers that the other text has without spaces."""
    numbers = {number.replace(",", "").replace(".", "") for number in _NUMBER.findall(other)}
    for number in _SPACED.findall(folded):
        joined = number.replace(" ", "")
        if joined in numbers:
            folded = folded.replace(number, joined)
    return folded


def _romans(reading: Reading) -> list[Quantity]:
    if _ROMANS.isdisjoint(reading.vocabulary) or reading.raw.isupper():
        return []
    words = [word for word, _ in reading.cased]
    found: list[Quantity] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        value = _ROMAN.get(word)
        if value is None and before.lower() in _BEFORE_ROMAN:
            value = _SHORT_ROMAN.get(word)
        if value is not None and before:
            after = words[place + 1] if place + 1 < len(words) else ""
            found.append(Quantity(value, value, "", False, before.lower(), stem(after.lower())))
    return found


class _Scanner:
    """Reader of the tokens of one text from left to right."""

    def __init__(self, found: list[re.Match[str]]) -> None:
        self.tokens = [match.group() for match in found]
        self.starts, self.ends = [match.start() for match in found], [match.end() for match in found]
        self.place = 0

    def read(self) -> list[Quantity]:
        found = []
        while self.place < len(self.tokens):
            quantity = self._quantity()
            if quantity is not None and not (
                quantity.before == "top"
                or (quantity.before == "than" and quantity.weak)
                or (quantity.kind == "" and self._peek() in _LISTS)
            ):
                found.append(quantity)
        return found

    def _peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def _joined(self) -> bool:
        """Return whether the token here follows the one before without a space."""
        return 0 < self.place < len(self.tokens) and self.starts[self.place] == self.ends[self.place - 1]

    def _quantity(self) -> Quantity | None:
        before = self.tokens[self.place - 1] if self.place else ""
        word = self._peek()
        self.place += 1
        if word[0].isdecimal():
            return self._digits(word, before)
        if word in _CARDINAL:
            return self._with_unit(self._cardinal(_CARDINAL[word]), before, weak=word == "one")
        if word in ("half", "quarter", "third") and (word == "half" or self._peek() in ("of", "a", "an", "the")):
            return self._half(word, before)
        if word in _TIMES:
            return self._made(_TIMES[word], before, weak=True)
        if word in _DECADES:
            return self._made(_DECADES[word], before, kind="decade")
        if word == "dozen":
            return self._made(12, before)
        if word in _ORDINAL and not (word == "second" and self._is_time(before)):
            return self._made(_ORDINAL[word], before, weak=word == "first")
        return None

    def _is_time(self, before: str) -> bool:
        return before in ("per", "every", "split", "last") or (before == "a" and self._peek() in _AFTER_SECOND)

    def _half(self, token: str, before: str) -> Quantity:
        if self._peek() in ("of", "a", "an"):
            self.place += 1
        return self._with_unit(1 / _PARTS[token], before)

    def _digits(self, token: str, before: str) -> Quantity:
        value = _value(token)
        following = self._peek()
        if self._joined():
            if following == ":" and re.fullmatch(r"\d\d", self._peek(1)) and value < 24:
                self.place += 2
                return self._clock(60 * value + float(self.tokens[self.place - 1]), before)
            if following in ("/", "⁄") and self._peek(1).isdecimal() and value < _value(self._peek(1)) <= 10:
                self.place += 2
                return self._with_unit(value / _value(self.tokens[self.place - 1]), before)
            if following in ("st", "nd", "rd", "th"):
                self.place += 1
                return self._made(value, before)
            if following == "s" and value % 10 == 0:
                self.place += 1
                return self._made(value, before, kind="decade")
        if following in ("am", "pm") and value <= 12:
            return self._clock(60 * value, before)
        if _DOTS.fullmatch(token):
            return self._made(value, before, scaled=float(token.replace(".", "")))
        return self._with_unit(value, before)

    def _clock(self, minutes: float, before: str) -> Quantity:
        half_day = self._peek()
        if half_day in ("am", "pm"):
            self.place += 1
            return self._made(minutes % 720 + 720 * (half_day == "pm"), before, kind="clock")
        return self._made(minutes, before, kind="clock12" if minutes < 780 else "clock")

    def _cardinal(self, value: float) -> float:
        """Return the value of a number in words whose first word is read."""
        following = self._peek()
        if value >= _CARDINAL_TWO_DIGITS and 0 < _CARDINAL.get(following, 0) < 10:
            value += _CARDINAL[following]
            self.place += 1
        if self._peek() == "and" and self._peek(1) == "a" and self._peek(2) == "half":
            value += 0.5
            self.place += 3
        elif self._peek() in _PARTS and (self._peek(1) == "of" or self._peek() in ("thirds", "quarters", "fifths")):
            value /= _PARTS[self._peek()]
            self.place += 1 + (self._peek(1) == "of")
        return value

    def _with_unit(self, value: float, before: str, *, weak: bool = False) -> Quantity:
        scale, kind = 1.0, ""
        while (factor := _MULTIPLIERS.get(self._peek())) is not None:
            scale, kind, weak = scale * factor, "count", False
            self.place += 1
        unit = _UNITS.get(self._peek())
        if unit is not None:
            self.place += 1
            dimension, size = unit
            return self._made(value * scale, before, scaled=value * scale * size, kind=dimension)
        return self._made(value, before, scaled=value * scale, kind=kind, weak=weak)

    def _made(
        self, value: float, before: str, *, scaled: float | None = None, kind: str = "", weak: bool = False
    ) -> Quantity:
        if not kind and not weak and value % 1 == 0 and int(value) in _YEARS:  # a float is compared with every year
            kind = "year"
        return Quantity(value, value if scaled is None else scaled, kind, weak, before, stem(self._peek()))


def _value(digits: str) -> float:
    """Return the value of digits with thousands commas, a decimal point or a decimal comma."""
    if "," in digits:
        whole = re.fullmatch(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?", digits)
        digits = digits.replace(",", "" if whole else ".")
    if digits.count(".") > 1:
        digits = digits.replace(".", "")
    return float(digits[:40])
