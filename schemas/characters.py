"""Sets of Unicode characters for regular expressions, from the tables of Python's `unicodedata`.

category or condition -> characters_of, characters_where -> inside of a character class
"""

from __future__ import annotations

import functools
import itertools
import sys
import unicodedata
from collections.abc import Callable

LAST_OF_PLANE_0 = 0xFFFF
"""Python matches a class with characters above it many times more slowly."""

LAST_LETTER = 0x3FFFF
"""No letter, digit or mark but a variation selector is above; ten more planes take most of a second to look through."""


@functools.cache
def characters_of(category: str) -> str:
    """Return the inside of a regular expression class that holds every character of a Unicode category.

    Args:
        category: a category such as ``Cf``, or the first letter of several.
    """
    return characters_where(lambda character: unicodedata.category(character).startswith(category))


def characters_where(belongs: Callable[[str], bool], *, first: int = 0, last: int = sys.maxunicode) -> str:
    """Return the inside of a regular expression class that holds every character that belongs to a set.

    Args:
        belongs: whether a character does.
        first: first code point to test.
        last: last code point to test.
    """
    start, ranges = first, []
    for inside, run in itertools.groupby(map(belongs, map(chr, range(first, last + 1)))):
        end = start + sum(1 for _ in run)
        if inside:
            ranges.append(f"\\U{start:08x}-\\U{end - 1:08x}")
        start = end
    return "".join(ranges)


def is_mark(character: str) -> bool:
    """Return whether a character is a mark: it belongs to the letter before it."""
    return unicodedata.category(character)[0] == "M"


@functools.cache
def decimal_digits() -> dict[int, str]:
    """Return the ASCII digit of every other decimal digit (category Nd), by code point, for `str.translate`."""
    digits = (code for code in range(128, LAST_LETTER) if unicodedata.category(chr(code)) == "Nd")
    return {code: str(unicodedata.decimal(chr(code))) for code in digits}
