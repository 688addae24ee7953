"""Word stems, so that "invested" equals "investing".

words -> stem -> stems
"""

from __future__ import annotations

import functools
from typing import Final

from schemas.words import LONGEST_REMEMBERED

_ENDINGS: Final = (
    ("ations", "at"), ("ation", "at"), ("ities", "it"), ("ity", "it"), ("ments", "ment"), ("nesses", ""), ("ness", ""),
    ("ings", ""), ("ing", ""), ("iest", "y"), ("ier", "y"), ("ied", "y"), ("ies", "y"), ("edly", ""), ("ed", ""),
    ("ers", ""), ("er", ""), ("ors", ""), ("or", ""), ("ally", "al"), ("ly", ""), ("sses", "ss"), ("xes", "x"),
    ("ches", "ch"), ("shes", "sh"), ("s", ""),
)  # fmt: skip
_CYRILLIC_ENDINGS: Final = (
    "иями", "ями", "ами", "иях", "ого", "его", "ому", "ему", "ыми", "ими", "ией", "иям", "ием", "ая", "яя", "ое", "ее",
    "ые", "ие", "ый", "ий", "ой", "ую", "юю", "ым", "им", "ых", "их", "ом", "ем", "ам", "ям", "ах", "ях", "ов", "ев",
    "ей", "ия", "ию", "ии", "а", "е", "и", "о", "у", "ы", "ь", "ю", "я", "й",
)  # fmt: skip
"""Of Russian nouns and adjectives; longer ones first."""

_SHORTEST: Final = 3
"""Minimum number of letters of a stem; words of at most this length stay whole."""

_FIRST_CYRILLIC, _LAST_CYRILLIC = "а", "ё"
_ALEF: Final = "ا"
_DOUBLED: Final = frozenset(c + c for c in "bdfgkmnprtz")
_KEEP_S: Final = ("ss", "us", "is")


def stem(word: str) -> str:
    """Return ``word`` without a common ending of English, of Russian or of Arabic nouns; others lose a few letters.

    One ending, a doubled consonant and a final e or y are removed, fewer than by Porter's stemmer. In Cyrillic it is
    the ending of a case, as by the light stemmer of Dolamic and Savoy (2009, "Indexing and Searching Strategies for the
    Russian Language"); in Arabic it is the final alef, which an indefinite noun has in the accusative, as by the light
    stemmers of Larkey, Ballesteros and Connell (2002, "Improving Stemming for Arabic Information Retrieval"). A longer
    word keeps at least three letters.
    """
    return _remembered(word) if len(word) <= LONGEST_REMEMBERED else _stem(word)


def _stem(word: str) -> str:
    if len(word) <= _SHORTEST or not word.isalpha():
        return word
    if word.isascii():
        return _finish(_without_ending(word))
    if word[-1] == _ALEF:
        return word[:-1]
    return _without_case(word) if _FIRST_CYRILLIC <= word[-1] <= _LAST_CYRILLIC else word


_remembered = functools.lru_cache(maxsize=2**17)(_stem)  # the words of one shard are those of the next


def _without_ending(word: str) -> str:
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(replacement) >= _SHORTEST:
            return word if ending == "s" and word.endswith(_KEEP_S) else word[: -len(ending)] + replacement
    return word


def _without_case(word: str) -> str:
    for ending in _CYRILLIC_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word


def _finish(word: str) -> str:
    if len(word) > _SHORTEST and word[-2:] in _DOUBLED:
        return word[:-1]
    if len(word) > _SHORTEST and word[-1] in "ey":
        return word[:-1]
    return word
