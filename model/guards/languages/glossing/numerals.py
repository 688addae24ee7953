"""Numbers in words, one after the other: "yirmi beş", خمسة وعشرون, 三百五十.

text -> runs of number words -> digits
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

_HUNDRED: Final = 100
_THOUSAND: Final = 1_000
_COUNTED: Final = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)*)(?:[- ]?)([^\W\d_]+)")


def values(numbers: Iterable[int], *, least_factor: int) -> list[int]:
    """Return the numbers that a run of number words is; "three four days" are two.

    Args:
        numbers: value of each word.
        least_factor: smallest value that multiplies the one before it, 10 in Chinese, else 100.
    """
    found: list[int] = []
    total = section = last = 0
    for number in numbers:
        if number >= _THOUSAND:
            group = section + last
            total = (total + group) * number if 0 < total < number else total + max(1, group) * number
            section = last = 0
        elif number >= least_factor:
            section, last = section + max(1, last) * number, 0
        elif 0 < last < 10 and 20 <= number < 100:  # Arabic has the tens behind
            last += number
        elif last and (last < number or last < 10):
            found.append(total + section + last)
            total, section, last = 0, 0, number
        else:
            last += number
    return [*found, total + section + last]


def alternatives(words: Iterable[str]) -> str:
    """Return the expression of one of some words, the longest that fits."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def expression_of(words: Iterable[str], joint: str = " ") -> re.Pattern[str]:
    """Return the expression of a run of number words.

    Args:
        words: of numbers.
        joint: expression between two of them.
    """
    word = alternatives(words)
    return re.compile(rf"\b(?:{word})(?:(?:{joint})(?:{word}))*\b")


def with_digits(text: str, run: re.Pattern[str], numbers: Mapping[str, int], split: Callable[[str], list[str]]) -> str:
    """Return a text with digits for runs of number words; "one" alone stays, since it is an article too."""

    def multiplied(match: re.Match[str]) -> str:
        return f"{float(match[1].replace(',', '.')) * numbers[match[2]]:.15g}"

    def digits(match: re.Match[str]) -> str:
        found = [numbers[word] for word in split(match[0]) if word in numbers]
        return match[0] if found == [1] else " ".join(map(str, values(found, least_factor=_HUNDRED)))

    return run.sub(digits, _factor(frozenset(numbers.items())).sub(multiplied, text))


@functools.cache
def _factor(numbers: frozenset[tuple[str, int]]) -> re.Pattern[str]:
    """Return the expression of a number in digits before a power of ten in words, "5 bin"."""
    factors = alternatives(word for word, value in numbers if value >= _HUNDRED)
    return re.compile(rf"(?<![\d.,])(\d+(?:[.,]\d{{1,2}})?) ({factors})\b")


def with_units(text: str, units: Mapping[str, str]) -> str:
    """Return a text with English units behind digits."""

    def unit(match: re.Match[str]) -> str:
        return f"{match[1]} {units.get(match[2], match[2])}"

    return _COUNTED.sub(unit, text)
