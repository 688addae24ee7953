"""Arabic: an article and prepositions that are written as part of a word, and endings for its owner.

plain text -> digits -> roots
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.glossing.lists import Lists
from model.guards.languages.glossing.numerals import with_digits, with_units
from model.guards.languages.glossing.words import cut, joined, number_run

_ARTICLE: Final = re.compile(r"(?:[وف]?(?:ال|[بك]ال)(?=\w{2})|(?P<to>[وف]?لل(?=\w{2})))")
_PREFIX: Final = re.compile(r"[وفبكل]")


def digits(text: str, lists: Lists) -> str:
    """Return a plain text with digits for number words, and English units."""
    text = with_digits(text, number_run(lists, " و| "), lists.numbers, _number_words)
    return with_units(text, lists.units)


def roots(text: str, lists: Lists, words: frozenset[str]) -> str:
    """Return a text as roots and glosses; "ل" before an article is a word, other prefixes are if words has the rest."""
    return joined(text, lists, functools.partial(_root, lists=lists, words=words | lists.names))


def _root(token: str, lists: Lists, words: frozenset[str]) -> list[str]:
    if article := _ARTICLE.match(token):
        root = cut(token[article.end() :], lists)
        return ["ل", root] if article["to"] else [root]
    rest = token[1:]
    if _PREFIX.match(token) and len(rest) > 2 and not words.isdisjoint((rest, f"ال{rest}")):
        return ["ل", cut(rest, lists)] if token[0] == "ل" else [cut(rest, lists)]
    return [cut(token, lists)]


def _number_words(run: str) -> list[str]:
    return re.sub(r" و", " ", run).split()
