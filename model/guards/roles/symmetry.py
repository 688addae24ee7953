"""Words that stay true when their sides are exchanged: "A and B", "A is close to B".

words -> is_symmetric -> bool
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from model.guards.lists import listed

SYMMETRIC: Final = listed("symmetric")
JOINING: Final = frozenset(["and", "or"])
"""Symmetric words that join two parts and concern no other ones."""
_NUMERALS: Final = frozenset(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"])
_NOT_BEFORE: Final = {"and": "then", "trade": "in"}
_IN_SOME_TEXTS: Final = listed("symmetric_in_some_texts")
_BE: Final = frozenset(["am", "is", "are", "was", "were", "be", "been"])
_SENSES: Final = listed("senses")


def is_symmetric(words: Sequence[str], place: int) -> bool:
    """Return whether a word stands for a symmetric relation.

    Args:
        words: the words of a text in order.
        place: index of the word. "Close" is symmetric in "close to" and "how close", "like" in "is A like B", "times"
            in "3 times 4", "add" between numbers, "friend" in "is A a friend of B", "and" not before "then", "trade"
            not before "in".
    """
    word = words[place]
    if word not in SYMMETRIC:
        return False
    if word not in _IN_SOME_TEXTS:
        return True
    previous, following = words[place - 1] if place else "", "".join(words[place + 1 : place + 2])
    if word == "like":
        return previous in _SENSES or not _BE.isdisjoint(words)
    if word in ("friend", "friends"):
        return following in ("of", "with") or (not following and words[0] in _BE)
    if word == "times":
        return _is_number(previous) and _is_number(following)
    if word in _NOT_BEFORE:
        return following != _NOT_BEFORE[word]
    if word == "add":
        return any(map(str.isdecimal, words))
    return following in ("to", "from") or previous == "how"


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in _NUMERALS or (len(word) == 1 and word != "a")
