"""Names and kinds of things that exclude each other: Paris is not London, Monday not Friday, Samsung not Apple.

names.json -> classes -> names of a text

The list is small and general. Names that are also common words count only as capitals
within a sentence, or opposite a name of their class.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from importlib import resources
from typing import Final, NamedTuple

from model.guards.lists import listed
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


@functools.cache
def known_names() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return each spelling with its classes and the first spelling of the same name."""
    content = resources.files(__package__).joinpath("names.json").read_text(encoding="utf-8")
    known: dict[str, list[tuple[str, str]]] = {}
    for group, lines in json.loads(content).items():
        for line in lines:
            first, *_ = spellings = line.split("|")
            for spelling in dict.fromkeys((*spellings, *map(without_marks, spellings))):
                known.setdefault(spelling, []).append((group, first))
    return {spelling: tuple(groups) for spelling, groups in known.items()}


@functools.cache
def _lengths() -> dict[str, int]:
    return lengths_of(known_names())


def lengths_of(spellings: Iterable[str]) -> dict[str, int]:
    """Return the number of words of the longest name that begins with a word."""
    lengths: dict[str, int] = {}
    for spelling in spellings:
        first, *others = spelling.split()
        lengths[first] = max(lengths.get(first, 1), 1 + len(others))
    return lengths


@functools.cache
def first_words() -> frozenset[str]:
    """Return the words that begin a name."""
    return frozenset(_lengths())


def names_of(words: list[tuple[str, bool]]) -> list[Name]:
    """Return the names among words with their case, the longest ones first at each word."""
    return find_names(words, [word.casefold() for word, _ in words], known_names(), _lengths(), _AMBIGUOUS)


def find_names(
    words: list[tuple[str, bool]],
    spellings: list[str],
    known: Mapping[str, Sequence[tuple[str, str]]],
    lengths: Mapping[str, int],
    ambiguous: Set[str],
) -> list[Name]:
    """Return the names among words, the longest ones first at each word.

    Args:
        words: of a text, each with whether its capital is that of a name.
        spellings: of the words, as the names are spelled; empty for a word that is no name.
        known: each spelling with its classes and the first spelling of the same name.
        lengths: number of words of the longest name that begins with a word.
        ambiguous: spellings that are common words too, in lower case.
    """
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
