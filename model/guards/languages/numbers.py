"""Numbers in words of other languages than English: "zwei", "treinta y cinco", "vigésimo", "ein Dutzend".

two readings -> in_digits -> both texts with digits
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.language import Language, languages
from model.guards.languages.names import sure_names
from model.guards.languages.numerals import with_digits
from model.guards.languages.recognition import common_languages
from model.guards.reading import LETTERS, Reading
from model.guards.units import units

_PERCENT: Final = re.compile(r"\b(?:por ciento|por cento|per cento|pour cent|prozent|procent|процент\w*)\b")
_FACTORS: Final = {"1000": " thousand", "1000000": " million"}
_FACTOR: Final = re.compile(rf"(?<=\d) ({'|'.join(_FACTORS)})\b")
"""A power of ten in words behind a number: "zwei Millionen"."""
_HOURS_AND_MINUTES: Final = re.compile(r"\b(\d{1,2})(?: ?h ?(?=\d\d\b)|\.(?=\d\d ?(?:h|uhr|uur)\b))([0-5]\d)\b")
_DATE: Final = re.compile(r"\b(\d{1,2})[./]\d{1,2}\b(?:[./](?:\d{2}){1,2}\b)?\.?")
_COUNTED: Final = re.compile(r"(?<!\d[.,])\b(?!1 )\d+(?:[.,]\d+)* ([^\W\d_]+)")
"""A number and the word after it, from the beginning of the number: else "1.1.1…" takes the square of its length."""
_PLURAL: Final = 2
"""Maximum number of letters by which the stem of a plural is longer: "kinder" and "kind"."""
_SHORTEST: Final = 4
_TWO_WORDS: Final = re.compile(r"\b([^\W\d_]+)[ '](?=([^\W\d_]+))")


def in_digits(one: Reading, two: Reading) -> tuple[str, str]:
    """Return two folded texts, with digits for the number words of the languages of both.

    "One" is also an article. It becomes a number where the other text has another number before the same word. Of the
    date "14.10." the day is left if the other text names a month.
    """
    common = common_languages(one, two)
    if not common:
        return one.folded, two.folded
    first, second = one.plain, two.plain
    for language in common:
        first, second = _with_digits(first, language), _with_digits(second, language)
    return _beside(first, second, two, common), _beside(second, first, one, common)


@functools.cache
def number_words() -> frozenset[str]:
    """Return the words of numbers in all languages, "one" and "half" among them."""
    return frozenset(
        word
        for language in languages()
        for word in (*language.cardinals, *language.ordinals, *language.ones, *language.halves)
    )


@functools.cache
def number_compounds() -> re.Pattern[str]:
    """Return the expression of a number that begins a word in one of all languages."""
    patterns = (language.number_compounds.pattern for language in languages() if language.number_compounds.groups)
    return re.compile("|".join(patterns))


def names_half_of_day(reading: Reading, other: Reading) -> bool:
    """Return whether one of two texts has a word that makes "four" 16 hours."""
    words = reading.plain_vocabulary | other.plain_vocabulary
    return any(not language.day_parts.isdisjoint(words) for language in common_languages(reading, other))


def _with_digits(plain: str, language: Language) -> str:
    if not language.cardinals:
        return plain
    text = _PERCENT.sub("%", plain)
    for phrase, number in language.number_phrases:
        text = phrase.sub(number, text)
    text = language.number_compounds.sub(r"\g<0> ", text)
    text = _FACTOR.sub(lambda match: _FACTORS[match[1]], with_digits(text, language))
    text = _HOURS_AND_MINUTES.sub(r"\1:\2", text)
    for phrase, minutes in language.clock:
        text = phrase.sub(functools.partial(_clock_time, minutes), text)
    return text


def _clock_time(minutes: int, hour: re.Match[str]) -> str:
    """Return the time some minutes before or after a full hour: 8:30 for "halb neun"."""
    total = (60 * int(hour[1]) + minutes) % 1_440
    return f"{total // 60}:{total % 60:02}"


def _beside(text: str, other_text: str, other: Reading, common: list[Language]) -> str:
    """Return a text with digits as the one that it is compared with shows them: ones that count, and days of dates."""
    for language in common:
        text = _with_ones(text, other_text, language)
    return _DATE.sub(r"\1", text) if _DATE.search(text) and "month" in sure_names(other, common) else text


def _with_ones(text: str, other: str, language: Language) -> str:
    """Return a text with 1 for "one" before a word that has a number before it in the other text."""
    counted = _COUNTED.findall(other)
    if not counted or not language.halves.isdisjoint(LETTERS.findall(text)):
        return text
    stems = {language.stem(word) for word in counted}
    has_time = any(_is_time(word) for word in counted)

    def is_counted(word: str) -> bool:
        return (has_time and _is_time(word)) or any(_same_noun(language.stem(word), stem) for stem in stems)

    def one(match: re.Match[str]) -> str:
        return "1 " if match[1] in language.ones and is_counted(match[2]) else match[0]

    return _TWO_WORDS.sub(one, text)


def _same_noun(one: str, two: str) -> bool:
    """Return whether two stems are those of a singular and a plural: "kind" and "kinder", "dzieck" and "dziec"."""
    short, long = sorted((one, two), key=len)
    return short == long or (len(short) >= _SHORTEST and len(long) <= len(short) + _PLURAL and long.startswith(short))


def _is_time(word: str) -> bool:
    return units().get(word, ("", 0))[0] == "time"
