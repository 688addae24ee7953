"""The language of two texts by their words, and none for English and languages without rules.

two readings -> common_languages -> the languages that both may be written in
"""

from __future__ import annotations

import functools
from typing import Final

from model.guards.languages.language import Language, languages
from model.guards.lists import listed
from model.guards.reading import Reading

_ENGLISH: Final = frozenset().union(
    *map(listed, ("english", "english_and_others", "unchanged_by_negation", "prepositions", "negations")), ["and"]
)
_HINDI: Final = listed("hindi_in_latin_letters")
"""Words of Hindi in Latin letters, which no rule reads; "ho" and "se" are Italian too."""


def common_languages(one: Reading, two: Reading) -> list[Language]:
    """Return the languages with most function and number words in two texts, none if English has as many.

    In a tie there are several. "Is" and "in" are Dutch too, so a test of each text for English is not enough. Roots and
    glosses are of the language of their reading.
    """
    if one.language is not None:
        return [one.language]
    marked = not (one.folded.isascii() or two.folded.isascii())
    return _common_languages(one.plain_vocabulary, two.plain_vocabulary, marked)


def possible_languages(one: Reading, two: Reading) -> list[Language]:
    """Return the common languages, or all if no word of two texts shows one: "uninstall the app" in many languages.

    A neighbor of a language, English and Hindi in Latin letters are read as none.
    """
    if others := common_languages(one, two):
        return others
    words = one.plain_vocabulary | two.plain_vocabulary
    if one.is_english or two.is_english or not _HINDI.isdisjoint(words):
        return []
    text = " ".join(words)
    return [] if any(language.foreign.search(text) for language in languages()) else list(languages())


@functools.lru_cache(maxsize=16)
def _common_languages(one: frozenset[str], two: frozenset[str], marked: bool) -> list[Language]:
    words = one | two
    english = max(0, len(words & _ENGLISH) - marked)  # a tie is no English with letters as in "cotação"
    if len(words.intersection(_all_typical())) <= english or not _HINDI.isdisjoint(words):
        return []
    counts = [(len(words & typical), language) for typical, language in zip(_typical(), languages(), strict=True)]
    most = max(count for count, _ in counts)
    if most <= english:
        return []
    found = [language for count, language in counts if count == most]
    text = " ".join(words)
    return [] if any(language.foreign.search(text) for language in found) else found


def count_of_typical_words(words: frozenset[str]) -> int:
    """Return the largest number of words by which one language is recognized, English among them."""
    return max(len(words & typical) for typical in (_ENGLISH, *_typical()))


@functools.cache
def _typical() -> tuple[frozenset[str], ...]:
    """Return the words by which each language is recognized."""
    return tuple(language.functions | language.typical | language.cardinals.keys() for language in languages())


@functools.cache
def _all_typical() -> frozenset[str]:
    return frozenset().union(*_typical())
