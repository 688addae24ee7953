"""Names and kinds of things that exclude each other: Paris is not London, Monday not Friday, Samsung not Apple.

names.json -> classes -> names of a text

The list is small and general. Names that are also common words count only as capitals
within a sentence, or opposite a name of their class.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from model.guards.lists import listed, read_json
from model.guards.reading import without_marks

_AMBIGUOUS: Final = listed("names_and_common_words")


class Name(NamedTuple):
    """A name in a text.

    Attributes:
        group: class of names that exclude each other.
        name: first spelling in the list.
        sure: a capital within a sentence, or no common word.
    """

    group: str
    name: str
    sure: bool


class Lexicon(NamedTuple):
    """Names that a text is searched for.

    Attributes:
        names: classes and first spelling of the names with each spelling.
        lengths: number of words of the longest name that begins with a word.
        ambiguous: spellings that are common words too, in lower case.
    """

    names: dict[str, tuple[tuple[str, str], ...]]
    lengths: dict[str, int]
    ambiguous: Set[str]


def lexicon_of(found: Iterable[tuple[str, str, str]], ambiguous: Set[str] = _AMBIGUOUS) -> Lexicon:
    """Return names by their class, first spelling and spelling."""
    names: dict[str, list[tuple[str, str]]] = {}
    for group, first, spelling in found:
        names.setdefault(spelling, []).append((group, first))
    lengths: dict[str, int] = {}
    for spelling in names:
        word, *others = spelling.split()
        lengths[word] = max(lengths.get(word, 1), 1 + len(others))
    return Lexicon({spelling: tuple(dict.fromkeys(each)) for spelling, each in names.items()}, lengths, ambiguous)


@functools.cache
def known_names() -> Lexicon:
    """Return the names of `names.json`."""
    return lexicon_of(listed_names())


@functools.cache
def listed_names() -> tuple[tuple[str, str, str], ...]:
    """Return the class, first spelling and spelling of the names of `names.json`."""
    return tuple(
        (group, spellings[0], spelling)
        for group, lines in read_json(__package__, "names.json").items()
        for spellings in (line.split("|") for line in lines)
        for spelling in dict.fromkeys((*spellings, *map(without_marks, spellings)))
    )


def find_names(words: list[tuple[str, bool]], spellings: list[str], lexicon: Lexicon) -> list[Name]:
    """Return the names among words, the longest ones first at each word.

    Args:
        words: of a text, each with whether its capital is that of a name.
        spellings: of the words, as the names are spelled; empty for a word that is no name.
        lexicon: names to look for.
    """
    known, lengths, ambiguous = lexicon
    found, place = [], 0
    while place < len(words):
        step = 1
        for length in range(min(lengths.get(spellings[place], 0), len(words) - place), 0, -1):
            spelling = " ".join(spellings[place : place + length])
            if spelling in known:
                sure = words[place][1] or spelling not in ambiguous
                found += [Name(group, first, sure) for group, first in known[spelling]]
                step = length
                break
        place += step
    return found


def by_group(names: list[Name]) -> dict[str, set[str]]:
    """Return the names of each class."""
    groups: dict[str, set[str]] = {}
    for name in names:
        groups.setdefault(name.group, set()).add(name.name)
    return groups
