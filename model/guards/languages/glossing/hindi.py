"""Hindi: words with postpositions behind them.

plain text -> digits -> roots
"""

from __future__ import annotations

from model.guards.languages.glossing.lists import Lists
from model.guards.languages.glossing.numerals import with_digits, with_units
from model.guards.languages.glossing.words import MARKS, TOKEN, cut, number_run


def digits(text: str, lists: Lists) -> str:
    """Return a plain text with digits for number words, and English units."""
    return with_units(with_digits(text, number_run(lists), lists.numbers, str.split), lists.units)


def roots(text: str, lists: Lists, _: frozenset[str]) -> str:
    """Return a text as roots and glosses."""
    found: list[str] = []
    for token in TOKEN.findall(text.translate(MARKS)):
        if gloss := lists.glosses.get(token):
            found += gloss.split()
        elif not token[0].isalpha() or token in lists.language.functions:
            found.append(token)
        else:
            found += cut(token, lists).split()
    return " ".join(found).strip(" .")
