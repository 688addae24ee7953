"""Hindi: words with postpositions behind them.

plain text -> digits -> roots
"""

from __future__ import annotations

from model.guards.languages.glossing.lists import Lists
from model.guards.languages.glossing.numerals import with_digits, with_units
from model.guards.languages.glossing.words import cut, joined, number_run


def digits(text: str, lists: Lists) -> str:
    """Return a plain text with digits for number words, and English units."""
    return with_units(with_digits(text, number_run(lists), lists.numbers, str.split), lists.units)


def roots(text: str, lists: Lists, _: frozenset[str]) -> str:
    """Return a text as roots and glosses."""
    return joined(text, lists, lambda word: cut(word, lists).split())
