"""Sets of Unicode characters for regular expressions, from the tables of Python's `unicodedata`.

category or expression -> characters_of, characters_matching -> inside of a character class
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final

LAST_OF_PLANE_0: Final = 0xFFFF
"""Python matches a class with characters above it many times more slowly."""

LAST_LETTER: Final = 0x3FFFF
"""No letter, digit or mark but a variation selector is above."""

_ASSIGNED: Final = (range(LAST_LETTER + 1), range(0xE0000, 0xE1000))
"""All code points but unassigned and private ones: planes 0 to 3, and the tags and variation selectors of plane 14."""


@functools.cache
def characters_of(category: str, *, last: int = sys.maxunicode) -> str:
    """Return the inside of a regular expression class that holds every character of a Unicode category.

    Args:
        category: a category of assigned characters such as ``Cf``, or the first letter of several.
        last: last code point.
    """
    runs = [run for name, run in _runs_of_categories() if name.startswith(category)]
    return _inside((run.start, min(run.stop - 1, last)) for run in runs if run.start <= last)


def characters_matching(expression: str, *, first: int = 0, last: int = LAST_LETTER) -> str:
    """Return the inside of a regular expression class that holds every character that an expression matches.

    Args:
        expression: matches one character.
        first: first code point to test.
        last: last code point to test.
    """
    characters = "".join(map(chr, range(first, last + 1)))
    return _inside(
        (first + match.start(), first + match.end() - 1) for match in re.finditer(f"(?:{expression})+", characters)
    )


def _inside(runs: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in runs)


@functools.cache
def _runs_of_categories() -> list[tuple[str, range]]:
    """Return the runs of neighbouring characters of one category, in order; without a Python call a character."""
    runs = []
    for codes in _ASSIGNED:
        start = codes.start
        for category, run in itertools.groupby(map(unicodedata.category, map(chr, codes))):
            end = start + len(list(run))
            runs.append((category, range(start, end)))
            start = end
    return runs


@functools.cache
def decimal_digits() -> dict[int, str]:
    """Return the ASCII digit of every other decimal digit (category Nd), by code point, for `str.translate`."""
    codes = itertools.chain.from_iterable(run for name, run in _runs_of_categories() if name == "Nd")
    return {code: str(unicodedata.decimal(chr(code))) for code in codes if code >= 128}


@functools.cache
def added_characters() -> dict[str, int]:
    """Return how many characters NFKC adds to each character of which it makes several."""
    decomposed = filter(unicodedata.decomposition, map(chr, range(128, LAST_LETTER + 1)))
    lengths = {character: len(unicodedata.normalize("NFKC", character)) for character in decomposed}
    return {character: length - 1 for character, length in lengths.items() if length > 1}
