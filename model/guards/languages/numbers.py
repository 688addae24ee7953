"""Numbers in words of other languages than English: "zwei", "treinta y cinco", "vigésimo", "ein Dutzend".

two readings -> in_digits -> both texts with digits
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.language import Language, common_languages
from model.guards.languages.names import sure_names
from model.guards.reading import Reading

_WORD: Final = re.compile(r"[^\W\d_]+")
_PERCENT: Final = re.compile(r"\b(?:por ciento|por cento|per cento|pour cent|prozent|procent|процент\w*)\b")
_EIGHTY: Final = re.compile(r"\bquatre[- ]vingts?\b")
_FACTORS: Final = {"1000": " thousand", "1000000": " million"}
_FACTOR: Final = re.compile(rf"(?<=\d) ({'|'.join(_FACTORS)})\b")
"""A power of ten in words behind a number: "zwei Millionen"."""
_DATE: Final = re.compile(r"\b(\d{1,2})[./]\d{1,2}\b(?:[./](?:\d{2}){1,2}\b)?\.?")
_COUNTED: Final = re.compile(r"(?<!\d[.,])\b(?!1 )\d+(?:[.,]\d+)* ([^\W\d_]+)")
"""A number and the word after it, from the beginning of the number: else "1.1.1…" takes the square of its length."""
_TWO_WORDS: Final = re.compile(r"\b([^\W\d_]+) (?=([^\W\d_]+))")


def in_digits(one: Reading, two: Reading) -> tuple[str, str]:
    """Return two folded texts, with digits for the number words of the languages of both.

    "One" is also an article. It becomes a number where the other text has another number before the same word. Of the
    date "14.10." the day is left if the other text names a month.
    """
    languages = common_languages(one, two)
    if not languages:
        return one.folded, two.folded
    first, second = one.plain, two.plain
    for language in languages:
        first, second = _with_digits(first, language), _with_digits(second, language)
    return _beside(first, second, two, languages), _beside(second, first, one, languages)


def names_half_of_day(reading: Reading, other: Reading) -> bool:
    """Return whether one of two texts has a word that makes "four" 16 hours."""
    words = reading.plain_vocabulary | other.plain_vocabulary
    return any(not language.day_parts.isdisjoint(words) for language in common_languages(reading, other))


def _with_digits(plain: str, language: Language) -> str:
    def digits(match: re.Match[str]) -> str:
        word = match[0]
        if ordinal := language.ordinals.get(word):
            return f"{ordinal}th"
        return language.cardinals.get(word, word)

    def added(match: re.Match[str]) -> str:
        return str(int(language.cardinals[match[1]]) + int(language.cardinals.get(match[2], "1")))

    text = _EIGHTY.sub("octante", _PERCENT.sub("%", plain))
    return _FACTOR.sub(lambda match: _FACTORS[match[1]], _WORD.sub(digits, _tens_and_units(language).sub(added, text)))


@functools.cache
def _tens_and_units(language: Language) -> re.Pattern[str]:
    """Return the expression of two words that are one number: "treinta y cinco", in French also "soixante-douze"."""
    numbers = {word: float(value) for word, value in language.cardinals.items()}
    tens = [word for word, value in numbers.items() if value in range(20, 100, 10)]
    most = 20 if language.name == "french" else 10
    units = [*language.ones, *(word for word, value in numbers.items() if value < most and value.is_integer())]
    return re.compile(rf"\b({'|'.join(tens)})[ -](?:(?:y|e|et|i)[ -])?({'|'.join(units)})\b")


def _beside(text: str, other_text: str, other: Reading, languages: list[Language]) -> str:
    """Return a text with digits as the one that it is compared with shows them: ones that count, and days of dates."""
    for language in languages:
        text = _with_ones(text, other_text, language)
    return _DATE.sub(r"\1", text) if "month" in sure_names(other, languages) else text


def _with_ones(text: str, other: str, language: Language) -> str:
    """Return a text with 1 for "one" before a word that has a number before it in the other text."""
    counted = {language.stem(word) for word in _COUNTED.findall(other)}
    if not counted or not language.halves.isdisjoint(_WORD.findall(text)):
        return text

    def one(match: re.Match[str]) -> str:
        return "1 " if match[1] in language.ones and language.stem(match[2]) in counted else match[0]

    return _TWO_WORDS.sub(one, text)
