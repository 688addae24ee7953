"""Reader of the quantities of one text from left to right: digits, number words, clock times, multipliers and units.

folded text in one spelling of numbers -> Scanner -> quantities
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from model.guards.lists import listed
from model.guards.reading import stem
from model.guards.units import CARDINALS, tables, units, value_of_digits

_TABLES: Final = tables()
_ORDINAL: Final[dict[str, float]] = _TABLES["ordinals"]
_DECADES: Final[dict[str, float]] = _TABLES["decades"]
_TIMES: Final[dict[str, float]] = _TABLES["times"]
_MULTIPLIERS: Final[dict[str, float]] = _TABLES["multipliers"]
_PARTS: Final[dict[str, float]] = _TABLES["parts"]
_SINGULAR: Final[dict[str, str]] = _TABLES["singulars"]
_UNITS: Final = units()
_BEFORE_VERSIONS = listed("before_versions")
UNITS_AFTER_A: Final = listed("units_after_a")
_AFTER_SECOND = frozenset(("", "or", "and", "of", "ago", "to", "for", "in", "per", "is", "before", "after"))
"""Words behind "a second" that is a time."""
_LIST_TITLES = frozenset(["best", "ways", "way", "tips", "things", "reasons", "steps", "most"])
_DOTS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
"""Three decimal places, or thousands in much of Europe: either reading can be meant."""
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|(?<![\w.,)])\.\d+|[^\W\d_]+|[%/:]")
_HOUR_AND_MINUTES = re.compile(r"\d{1,2}\.[0-5]\d")
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})")
_TWENTY: Final = 20
_YEARS: Final = range(1500, 2100)
_CURRENCIES: Final = frozenset("$€£¥₹")
_BEFORE_DATES: Final = frozenset(("on", "before", "until", "till", "since"))
_HOUR: Final = 3600
_LARGEST_SCALE: Final = 1e100  # not infinity, whose difference to itself is no number: "trillion" 26 times
_DIGITS = re.compile(r"\.?\d")
NUMBER_WORDS: Final = frozenset((*CARDINALS, *_ORDINAL, *_DECADES, *_TIMES, "dozen", "half", "quarter"))
"""Words with which a quantity begins, apart from "a" and "an" before a unit."""
_BEGINNINGS: Final = NUMBER_WORDS | {"a", "an"}
_ADVERBS: Final = frozenset(("once", "twice", "thrice"))


class Quantity(NamedTuple):
    """A number in a text.

    Attributes:
        value: as it is written, with its multipliers.
        scaled: in the base unit of its kind.
        kind: dimension of its unit ("mass", "money"), "count" with a multiplier, "times" ("twice"), "clock"
            (minutes of the day; "clock12" without am and pm), "version", "century", "decade", "year", or "".
        weak: from a word that is often no number ("one", "once", "a" before a unit), so that its place has to agree.
        before: word before it, "" at the start.
        after: stem of the word after it and its unit, "" at the end; that of the unit of money.
    """

    value: float
    scaled: float
    kind: str
    weak: bool
    before: str
    after: str


class Scanner:
    """Reader of the tokens of one text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.matches = list(_TOKEN.finditer(text))
        self.tokens = [match.group() for match in self.matches]
        self.place = self.end = 0

    def read(self) -> list[Quantity]:
        """Return the quantities in order."""
        found: list[Quantity] = []
        while self.place < len(self.tokens):
            begin = self.place
            if not (self.tokens[begin] in _BEGINNINGS or _DIGITS.match(self.tokens[begin])):
                self.place += 1
                continue
            quantity = self._quantity()
            if quantity is None:
                continue
            if found and self._continues(found[-1], quantity, begin):
                found[-1] = _together(found[-1], quantity)
            elif not (
                quantity.before == "top"
                or (quantity.before == "than" and quantity.weak)
                or (quantity.kind == "" and self._peek() in _LIST_TITLES)
            ):
                found.append(quantity)
            self.end = self.place
        return found

    def _continues(self, first: Quantity, second: Quantity, begin: int) -> bool:
        """Return whether two quantities are one duration: "1 hour and 30 minutes"."""
        if not (first.kind == second.kind == "time") or second.weak or first.before == "between":
            return False
        adjoining = (begin == self.end and not first.weak) or (begin == self.end + 1 and self.tokens[self.end] == "and")
        return adjoining and second.scaled * first.value < first.scaled

    def _peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def _joined(self) -> bool:
        """Return whether the token here follows the one before without a space."""
        here = self.place
        return 0 < here < len(self.tokens) and self.matches[here].start() == self.matches[here - 1].end()

    def _quantity(self) -> Quantity | None:
        before = self.tokens[self.place - 1] if self.place else ""
        word = self._peek()
        self.place += 1
        if word[0].isdecimal() or word[0] == ".":
            return self._digits(word, before)
        if word in CARDINALS:
            return self._with_unit(self._cardinal(CARDINALS[word]), before, weak=word == "one")
        is_part = word in ("quarter", "third") and before != "the"  # "the third of June" is a day
        if word == "half" or (is_part and self._peek() in ("of", "a", "an", "the")):
            return self._half(word, before)
        if word in _TIMES:
            return self._made(_TIMES[word], before, weak=True, kind="times" if word in _ADVERBS else "")
        if word in ("a", "an") and self._peek() in UNITS_AFTER_A and not before[:1].isdecimal():
            return self._with_unit(1, before)._replace(weak=True)
        if word in _DECADES:
            return self._made(_DECADES[word], before, kind="decade")
        if word == "dozen":
            return self._made(12, before)
        if word in _ORDINAL and not (word == "second" and self._is_time(before)):
            return self._ordinal(_ORDINAL[word], before, weak=word == "first")
        return None

    def _ordinal(self, value: float, before: str, *, weak: bool = False) -> Quantity:
        if self._peek() in ("century", "centuries"):
            return self._made(value, before, scaled=100 * (value - 1), kind="century")
        return self._made(value, before, weak=weak)

    def _is_time(self, before: str) -> bool:
        return before in ("per", "every", "split", "last") or (before == "a" and self._peek() in _AFTER_SECOND)

    def _half(self, token: str, before: str) -> Quantity:
        self.place += self._peek() == "of"
        self.place += self._peek() in ("a", "an")
        return self._with_unit(1 / _PARTS[token], before)

    def _digits(self, token: str, before: str) -> Quantity:
        value = value_of_digits(token)
        start = self.matches[self.place - 1].start()
        marked = self.text[max(0, start - 2) : start].rstrip()[-1:] in _CURRENCIES
        if self._joined() and (with_suffix := self._with_suffix(value, before)):
            return with_suffix
        if self._peek() in ("am", "pm") and value <= 12:
            minutes = float(token[-2:]) if _HOUR_AND_MINUTES.fullmatch(token) else 0
            return self._clock(60 * int(value) + minutes, before)
        if _DOTS.fullmatch(token):
            return self._made(value, before, scaled=float(token.replace(".", "")))
        if before in _BEFORE_VERSIONS and (version := _VERSION.fullmatch(token)):
            return self._made(value, before, scaled=1000 * int(version[1]) + int(version[2]), kind="version")
        quantity = self._with_unit(value, before)
        return quantity._replace(kind="money") if marked and quantity.kind in ("", "year") else quantity

    def _with_suffix(self, value: float, before: str) -> Quantity | None:
        """Return the quantity of digits with the minutes, part or ending that follows without a space, or None."""
        following, after = self._peek(), self._peek(1)
        if following == ":" and len(after) == 2 and after.isdecimal() and value < 24:
            self.place += 2
            return self._clock(60 * value + float(after), before)
        is_part = following == "/" and self._peek(2) != "/" and before not in _BEFORE_DATES
        if is_part and after.isdecimal() and value < value_of_digits(after) <= 10:
            self.place += 2
            self.place += self._peek() in ("a", "an", "of")
            return self._with_unit(value / value_of_digits(after), before)
        if following in ("st", "nd", "rd", "th"):
            self.place += 1
            return self._ordinal(value, before)
        if following == "s" and value % 10 == 0:
            self.place += 1
            return self._made(value, before, kind="decade")
        if following == "x" and not after[:1].isdecimal():
            self.place += 1
            return self._made(value, before, kind="times")
        return None

    def _clock(self, minutes: float, before: str) -> Quantity:
        half_day = self._peek()
        if half_day in ("am", "pm"):
            self.place += 1
            return self._made(minutes % 720 + 720 * (half_day == "pm"), before, kind="clock")
        return self._made(minutes, before, kind="clock12" if minutes < 780 else "clock")

    def _cardinal(self, value: float) -> float:
        """Return the value of a number in words whose first word is read."""
        following = self._peek()
        if value >= _TWENTY and 0 < CARDINALS.get(following, 0) < 10:
            value += CARDINALS[following]
            self.place += 1
        if self._peek() == "and" and self._peek(1) == "a" and self._peek(2) == "half":
            value += 0.5
            self.place += 3
        elif self._peek() in _PARTS and (self._peek(1) == "of" or self._peek().endswith(("s", "quarter"))):
            value /= _PARTS[self._peek()]
            self.place += 1 + (self._peek(1) == "of")
            self.place += self._peek() in ("a", "an")
        return value

    def _with_unit(self, value: float, before: str, *, weak: bool = False) -> Quantity:
        scale, kind = 1.0, ""
        while (factor := _MULTIPLIERS.get(self._peek())) is not None:
            scale, kind, weak = min(scale * factor, _LARGEST_SCALE), "count", False
            self.place += 1
        value *= scale
        unit = _UNITS.get(self._peek())
        if unit is not None:
            self.place += 1
            dimension, size = unit
            quantity = self._made(value, before, scaled=value * size, kind=dimension)
            if dimension == "money":
                return quantity._replace(after=stem(self.tokens[self.place - 1]))
            return self._with_minutes(quantity) if size == _HOUR else quantity
        if self._peek() == "times" or (value == 1 and self._peek() == "time"):
            following = self._peek(1)
            if not following[:1].isdecimal() and following not in CARDINALS:
                self.place += 1
                kind = "times"
        return self._made(value, before, kind=kind, weak=weak)

    def _with_minutes(self, hours: Quantity) -> Quantity:
        """Return hours with the two digits that follow without a space: "1h30"."""
        if self._joined() and re.fullmatch(r"[0-5]\d", self._peek()):
            self.place += 1
            return hours._replace(scaled=hours.scaled + 60 * float(self.tokens[self.place - 1]))
        return hours

    def _made(
        self, value: float, before: str, *, scaled: float | None = None, kind: str = "", weak: bool = False
    ) -> Quantity:
        if not kind and not weak and value % 1 == 0 and int(value) in _YEARS:  # a float is compared with every year
            kind = "year"
        after = _SINGULAR.get(self._peek(), self._peek())
        return Quantity(value, value if scaled is None else scaled, kind, weak, before, stem(after))


def _together(first: Quantity, second: Quantity) -> Quantity:
    """Return the duration of a longer and a shorter part."""
    scaled = first.scaled + second.scaled
    return first._replace(value=first.value * scaled / first.scaled, scaled=scaled, weak=False, after=second.after)
