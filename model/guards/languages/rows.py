"""Rows of the lists of a language: pairs, prefixes and expressions with the text that replaces them.

lines of languages.json -> pairs, prefixes, rules
"""

from __future__ import annotations

import re
from typing import Final

_DIGITS: Final = r"(\d{1,2})(?:th)?"


def prefixes_of(lines: list[str]) -> list[tuple[str, str, re.Pattern[str]]]:
    """Return the prefixes of "un::(?!kost) wy:w" and the expressions of the rests after them, which may be left out."""
    triples = (prefixes.split(":", 2) for prefixes in " ".join(lines).split())
    return [(one, two, re.compile("".join(rest))) for one, two, *rest in triples]


def rules_of(lines: list[str]) -> list[tuple[re.Pattern[str], str]]:
    """Return the expressions and texts of "halb # => -30", where "#" is a number in digits."""
    parts = (line.partition(" => ") for line in lines)
    return [(re.compile(rf"\b(?:{phrase.replace('#', _DIGITS)})\b"), text) for phrase, _, text in parts]


def pairs_of(lines: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of "un: ent:ver"."""
    return [(one, two) for one, _, two in (pair.partition(":") for pair in " ".join(lines).split())]
