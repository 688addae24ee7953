"""Number words of English, units of many languages with their dimensions and sizes, and one spelling of numbers.

numbers.json -> tables, units
folded text -> one_spelling -> text with digits
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Final

from model.guards.lists import read_json
from model.guards.reading import without_marks
from schemas.text import fold


@functools.cache
def tables() -> dict[str, Any]:
    """Return the tables of number words and units."""
    rows: dict[str, Any] = read_json(__package__, "numbers.json")
    return rows


@functools.cache
def units() -> dict[str, tuple[str, float]]:
    """Return the dimension and size of each unit by its name, which also has no marks."""
    return {
        word: (kind, size)
        for kind, size, words in tables()["units"]
        for word in (*fold(words).split(), *without_marks(fold(words)).split())
    }


def value_of_digits(digits: str) -> float:
    """Return the value of digits with thousands commas, a decimal point or a decimal comma."""
    if "," in digits:
        whole = re.fullmatch(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?", digits)
        digits = digits.replace(",", "" if whole else ".")
    if digits.count(".") > 1:
        digits = digits.replace(".", "")
    return float(digits[:40])


def one_spelling(folded: str) -> str:
    """Return a folded text with the numbers of English in one spelling.

    "Half past six" and "noon" are clock times, "an hour and a half" is 1.5 hours, "1 1/2" is 1.5, "a hundred and
    fifty" is 150, "twenty-first" is 21th, "3.5.2024" is 3/5/2024, and "2024/25" is 2024/2025.
    """
    for parts, pattern, rewrite in _rewrites():
        if any(part in folded for part in parts):
            folded = pattern.sub(rewrite, folded)
    return folded


CARDINALS: Final[dict[str, int]] = tables()["cardinals"]
_ORDINALS: Final[dict[str, float]] = tables()["ordinals"]
SCALES: Final[dict[str, int]] = {
    word: tables()["multipliers"][word]
    for word in ("hundred", "thousand", "lakh", "million", "crore", "billion", "trillion")
}
_HOURS: Final = 12
_TENS: Final = 10
_HUNDRED: Final = 100
_NEXT_CENTURY: Final = 40
"""Two digits from which a year is of the last century."""
Rewrite = str | Callable[[re.Match[str]], str]


@functools.cache
def _rewrites() -> tuple[tuple[tuple[str, ...], re.Pattern[str], Rewrite], ...]:
    """Return the spellings: parts of which each text with the spelling has one, its expression, and the number."""
    hour = rf"(\d{{1,2}}|{'|'.join(word for word, value in CARDINALS.items() if 0 < value <= _HOURS)})"
    minutes = r"twenty[ -]five|twenty|ten|five|[1-5]?\d"
    number = "|".join((*CARDINALS, *SCALES))
    scale = "|".join(SCALES)
    counted = "|".join(sorted((re.escape(word) for word in (*units(), *SCALES) if word.isascii()), key=len)[::-1])
    tens = "|".join(word for word, value in CARDINALS.items() if value >= _TENS)
    ones = "|".join(word for word, value in CARDINALS.items() if 0 < value < _TENS)
    dozens = "|".join(word for word, value in CARDINALS.items() if value > _TENS and word.endswith("ty"))
    ordinals = "|".join(word for word, value in _ORDINALS.items() if value < _TENS)
    rows: tuple[tuple[str, str, Rewrite], ...] = (
        (" '", r"(?<=\b(?:in|of|by) )'(\d\d)\b(?!')|(?<=\b(?:since|until) )'(\d\d)\b(?!')", _year),
        (".m", r"(?<=\d) ?([ap])\.m\b\.?", r" \1m"),
        ("km/h", "km/h", "kmh"),
        ("per cent", "per cent", "percent"),
        ("past", rf"\b(?:a )?(half|quarter|{minutes}) past {hour}\b(?![.:]\d)", _past),
        ("at", rf"(?<=\bat )(twenty[ -]five|twenty|ten|five|5|10|20|25) to {hour}\b(?![.:]\d)", _before),
        ("quarter", rf"\b(?:a )?(quarter) to {hour}\b(?![.:]\d)", _before),
        ("o'clock", rf"\b{hour} o'clock\b", lambda match: f"{_value(match[1])}:00"),
        ("noon", r"\b(?:12 )?noon\b", "12:00 pm"),
        ("midnight", r"\b(?:12 )?midnight\b", "12:00 am"),
        (".", r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)(?![\d.])", r"\1/\2/\3"),
        ("20", r"(?<![\d/-])((?:19|20)\d\d)[/–-](\d\d)(?![\d/-])", _season),
        ("\N{FRACTION SLASH}", r"(?:(?<![\d.,])(\d+) ?)?(\d)⁄(\d{1,2})", _mixed),
        ("/", r"(?<![\d.,/])(\d{1,3}) ([1-9])/([2-9]|10|16)(?![\d/])", _mixed),
        ("and a half", rf"(?<![\w.,])(an?|\d+|{'|'.join(CARDINALS)}) ({counted}) and a half\b", _and_a_half),
        ("and a half", r"(?<![\d.,])(\d+) and a half\b", r"\1.5"),
        (
            "teen|twenty",
            rf"\b(seventeen|eighteen|nineteen|twenty)[ -]({tens})(?:[ -]({ones}))?\b(?![ -](?:{scale})\b)",
            lambda match: f"{_HUNDRED * CARDINALS[match[1]] + CARDINALS[match[2]] + CARDINALS.get(match[3], 0)}",
        ),
        (
            "ty",  # not "a twenty second video"
            rf"\b({dozens})[ -](?!second\b(?! (?:century|floor|birthday|anniversary|amendment|of)\b))({ordinals})\b",
            lambda match: f"{CARDINALS[match[1]] + int(_ORDINALS[match[2]])}th",
        ),
        (
            "|".join(SCALES),
            r"(?<!\d )(?<!\w)(?<!half )(?<!half a )(?<!of a )(?<!couple )(?<!couple of )(?<!few )(?<!many )"
            rf"(?:an? (?=(?:{scale})\b))?(?:{number})(?:(?: and |[ -])(?:{number}))*\b",
            _in_words,
        ),
    )
    return tuple((tuple(parts.split("|")), re.compile(pattern), rewrite) for parts, pattern, rewrite in rows)


def _value(word: str) -> int:
    return int(word) if word.isdecimal() else CARDINALS[word]


def _clock(minutes: int) -> str:
    hour = minutes // 60 or _HOURS
    return f"{hour}:{minutes % 60:02}"


def _past(match: re.Match[str]) -> str:
    return _clock(60 * _value(match[2]) + _minutes(match[1]))


def _before(match: re.Match[str]) -> str:
    return _clock(60 * _value(match[2]) - _minutes(match[1]))


def _minutes(words: str) -> int:
    return {"half": 30, "quarter": 15}.get(words) or sum(map(_value, re.split("[ -]", words)))


def _year(match: re.Match[str]) -> str:
    """Return the year of two digits behind an apostrophe: '08 is 2008, '96 is 1996."""
    digits = match[1] or match[2]
    return f"{20 if int(digits) < _NEXT_CENTURY else 19}{digits}"


def _season(match: re.Match[str]) -> str:
    following = int(match[1]) + 1
    return f"{match[1]}/{following}" if following % _HUNDRED == int(match[2]) else match[0]


def _mixed(match: re.Match[str]) -> str:
    """Return the decimal number of a whole number and a fraction."""
    over, under = int(match[2]), int(match[3])
    if not match[1]:
        return f"{over}/{under}"
    return str(int(match[1]) + over / under) if over < under else match[0]


def _and_a_half(match: re.Match[str]) -> str:
    return f"{1 if match[1] in ('a', 'an') else _value(match[1])}.5 {match[2]}"


def _in_words(match: re.Match[str]) -> str:
    """Return the digits of a number in words of several parts, and "1 hundred" for "a hundred" and "hundred"."""
    words = [word for word in re.split("[ -]", match[0]) if word not in ("a", "an", "and")]
    if words[0] in SCALES:
        words.insert(0, "one")
    if SCALES.keys().isdisjoint(words):
        return match[0]
    if all(word in SCALES for word in words[1:]):
        return match[0] if match[0].startswith(words[0]) else " ".join(("1", *words[1:]))
    total, part, smallest = 0, 0, float("inf")
    for word in words:
        size = SCALES.get(word)
        if size is None:
            if part % _HUNDRED and not (part % _TENS == 0 and part % _HUNDRED > _TENS and CARDINALS[word] < _TENS):
                return match[0]
            part += CARDINALS[word]
        elif size == _HUNDRED:
            if not 0 < part < _HUNDRED:
                return match[0]
            part *= _HUNDRED
        elif part == 0 or size >= smallest:
            return match[0]
        else:
            total, part, smallest = total + part * size, 0, size
    return str(total + part)
