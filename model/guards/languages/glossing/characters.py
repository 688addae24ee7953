"""Chinese and Japanese: words of a list, runs of Katakana or Latin letters, else characters.

folded text -> digits -> roots: 三天内不能退货吗 -> "3 days 内 能 退货"
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.glossing.lists import Lists, spellings
from model.guards.languages.glossing.numerals import alternatives, values
from model.guards.languages.glossing.words import MARKS

_RUN: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:th)?|[a-z]+|[ァ-ヺー]+|[,.%:;]|\S")
_ERA: Final = re.compile(r"(令和|平成|昭和|大正)(\d+)年")
"""Eras of the Japanese calendar."""
_LONGEST: Final = 8


def digits(text: str, lists: Lists) -> str:
    """Return a text with digits for numbers before a counter or unit, and English units between spaces."""

    def number(match: re.Match[str]) -> str:
        numbers = [lists.numbers[character] for character in match[0]]
        if max(numbers) < 10 and (len(numbers) > 2 or match[1]):
            return "".join(map(str, numbers))
        found = values(numbers, least_factor=10)
        return match[0] if found == [1] else " ".join(map(str, found))

    def ordinal(match: re.Match[str]) -> str:
        return f"第 {values([lists.numbers[character] for character in match[1]], least_factor=10)[0]} "

    def year(match: re.Match[str]) -> str:
        return f"{lists.eras[match[1]] + int(match[2])}年"

    def unit(match: re.Match[str]) -> str:
        return f" {match[1]} {lists.units.get(match[2], match[2])} "

    ordinals, number_before_counter, counted = _expressions(lists)
    text = number_before_counter.sub(number, ordinals.sub(ordinal, text))
    if lists.eras:
        text = _ERA.sub(year, text.replace("元年", "1年"))
    return counted.sub(unit, text)


@functools.cache
def _expressions(lists: Lists) -> tuple[re.Pattern[str], ...]:
    counter = alternatives((*lists.counters, *lists.units))
    numeral = "".join(lists.numbers)
    return (
        re.compile(rf"第([{numeral}]+)"),
        re.compile(rf"(?<![周曜期拜{numeral}])[{numeral}]+(?=([折年号])|(?:{counter}))"),
        re.compile(rf"(\d+(?:[.,]\d+)*|(?<![周期拜])一) ?({counter})"),
    )


def roots(text: str, lists: Lists, _: frozenset[str]) -> str:
    """Return a text as words and characters with spaces between them, some words as glosses."""
    vocabulary, text = _vocabulary(lists), text.translate(MARKS)
    found, place = [], 0
    while place < len(text):
        for length in range(min(_LONGEST, len(text) - place), 0, -1):
            word = text[place : place + length]
            if word in vocabulary:
                break
        else:
            run = _RUN.match(text, place)
            word = run[0] if run else " "
        place += len(word)
        found.append(lists.glosses.get(word, word))
    return " ".join(" ".join(found).split()).strip(" .")


@functools.cache
def _vocabulary(lists: Lists) -> frozenset[str]:
    """Return the words that stay whole, names among them; Latin and Katakana words are found as runs."""
    language = lists.language
    listed = (
        *lists.glosses, *lists.words, *language.functions, *language.openers, *language.ways, *language.prepositions,
        *language.conjunctions, *language.symmetric, *language.sequence, *language.day_parts,
        *(word for pair in (*language.opposites, *language.particles) for word in pair),
        *(word for rows in spellings().values() for names in rows for word in names),
    )  # fmt: skip
    return frozenset(word for word in listed if not _RUN.fullmatch(word) or len(word) == 1)
